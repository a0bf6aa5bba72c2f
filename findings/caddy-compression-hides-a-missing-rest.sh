#!/usr/bin/env bash
# With compression, Caddy makes a whole gzip answer of a part, though the source announced a length.
#
# Version: Caddy 2.6.2 (Debian 12: 2.6.2-5), encode and reverse_proxy.
#
# Expected: An announced length that is not met breaks the answer with and without compression: nginx, Apache, HAProxy and h2o break it,
# and Varnish answers 503.
#
# Behaviour: Without compression Caddy passes the length on, and the answer is cut. With `encode gzip` the same source leads to a complete
# gzip stream, checksum included, with a Content-Length of its own.
#
# Why it matters: Whether a broken feed is noticed depends on the Accept-Encoding of whoever asks. A gzip trailer that a proxy has written
# says nothing about the source.
#
# Seen:
#   identity: 20 of 40 rows, cut
#   gzip: 20 of 40 rows, a proper end

source "$(dirname "$0")/support/prepare.sh"
debian caddy=2.6.2-5
cat >program.mjs <<PROGRAM
import { freePort, get, openConnection, startOrigin, startServer } from "$support/http.mjs";
import { writeFileSync } from "node:fs";
const whole = 'id,title\n' + Array.from({ length: 40 }, (_, at) => \`j\${at},Nurse \${at}\n\`).join('');
const half = whole.slice(0, whole.indexOf('j20'));
const SHOWN = ['with the length of the whole, closed'];
const head = (more) => \`HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\n\${more}\r\n\r\n\`;
const chunk = \`\${half.length.toString(16)}\r\n\${half}\r\n\`;
const ANSWERS = {
  'without a length, closed': [head('Connection: close') + half, false],
  'without a length, reset': [head('Connection: close') + half, true],
  'in chunks without the last, closed': [head('Transfer-Encoding: chunked') + chunk, false],
  'in chunks without the last, reset': [head('Transfer-Encoding: chunked') + chunk, true],
  'with the length of the whole, closed': [head(\`Content-Length: \${whole.length}\`) + half, false],
};
const origin = await startOrigin(({ path }, socket) => {
  const [bytes, reset] = ANSWERS[decodeURIComponent(path.slice(1))];
  if (!reset) return socket.end(bytes);
  socket.write(bytes);
  setTimeout(() => socket.resetAndDestroy(), 200);
});
const show = async (port, ask = get) => {
  for (const name of SHOWN) {
    const answer = await openConnection(port).send(ask(\`/\${encodeURIComponent(name)}\`));
    const length = answer.field('content-length');
    console.log(\`\${name}: \${answer.how}\${length === undefined ? '' : \` of \${length} bytes\`}, \${answer.whole ? 'a proper end' : 'cut'}\`);
  }
};

const port = await freePort();
writeFileSync('conf', \`{
  admin off
  auto_https off
}
http://:\${port} {
  bind 127.0.0.1
  encode {
    gzip
    minimum_length 1
    match {
      header Content-Type text/*
    }
  }
  reverse_proxy 127.0.0.1:\${origin}
}
\`);
await startServer(port, 'caddy', 'run', '--adapter', 'caddyfile', '--config', 'conf');
const { gunzipSync } = await import('node:zlib');
for (const accept of ['identity', 'gzip']) {
  const answer = await openConnection(port).send(get(\`/\${encodeURIComponent(SHOWN[0])}\`).replace('\r\n\r\n', \`\r\nAccept-Encoding: \${accept}\r\n\r\n\`));
  const bytes = Buffer.from(answer.body, 'latin1');
  const rows = (accept === 'gzip' ? gunzipSync(bytes) : bytes).toString().split('\n').length - 2;
  console.log(\`\${accept}: \${rows} of 40 rows, \${answer.whole ? 'a proper end' : 'cut'}\`);
}
process.exit();
PROGRAM
node program.mjs | expect_seen
