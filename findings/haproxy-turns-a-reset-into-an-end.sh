#!/usr/bin/env bash
# HAProxy closes properly where the source reset the connection.
#
# Version: HAProxy 2.6.12 (Debian 12: 2.6.12-1+deb12u4).
#
# Expected: A reset of the connection to the source, in the middle of an answer without a length, becomes a reset for the client.
#
# Behaviour: The client gets all bytes and an orderly close, the same as after a whole answer. nginx, Apache, Varnish and Squid leave such
# an answer broken.
#
# Why it matters: For an answer that ends with its connection, the orderly close is the only end there is: half a table looks like a whole
# one.
#
# Seen:
#   without a length, closed: close of the connection, a proper end
#   without a length, reset: close of the connection, a proper end
#   in chunks without the last, reset: chunks, cut

source "$(dirname "$0")/support/prepare.sh"
debian haproxy=2.6.12-1+deb12u4
cat >program.mjs <<PROGRAM
import { freePort, get, openConnection, startOrigin, startServer } from "$support/http.mjs";
import { writeFileSync } from "node:fs";
const whole = 'id,title\n' + Array.from({ length: 40 }, (_, at) => \`j\${at},Nurse \${at}\n\`).join('');
const half = whole.slice(0, whole.indexOf('j20'));
const SHOWN = ['without a length, closed', 'without a length, reset', 'in chunks without the last, reset'];
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
writeFileSync('conf', \`defaults
  mode http
  timeout connect 5s
  timeout client 20s
  timeout server 20s
listen all
  bind 127.0.0.1:\${port}
  server one 127.0.0.1:\${origin}
\`);
await startServer(port, 'haproxy', '-f', 'conf');
await show(port);
process.exit();
PROGRAM
node program.mjs | expect_seen
