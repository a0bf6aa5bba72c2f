#!/usr/bin/env bash
# Caddy adds the last chunk to an answer whose source broke off.
#
# Version: Caddy 2.6.2 (Debian 12: 2.6.2-5), reverse_proxy.
#
# Expected: Chunks exist so that a broken answer can be told from a whole one; a proxy leaves out the last chunk if it got none.
#
# Behaviour: The client gets the last chunk, and so a proper end, after a close or even a reset in the middle of chunks. With a
# Content-Length the answer stays cut.
#
# Why it matters: The last chunk proves only that the proxy has ended. A mirror that takes it for the end of the feed sees a feed with
# fewer jobs.
#
# Seen:
#   in chunks without the last, closed: chunks, a proper end
#   in chunks without the last, reset: chunks, a proper end
#   with the length of the whole, closed: Content-Length of 509 bytes, cut

source "$(dirname "$0")/support/prepare.sh"
debian caddy=2.6.2-5
cat >program.mjs <<PROGRAM
import { freePort, get, openConnection, startOrigin, startServer } from "$support/http.mjs";
import { writeFileSync } from "node:fs";
const whole = 'id,title\n' + Array.from({ length: 40 }, (_, at) => \`j\${at},Nurse \${at}\n\`).join('');
const half = whole.slice(0, whole.indexOf('j20'));
const SHOWN = Object.keys({ 'in chunks without the last, closed': 1, 'in chunks without the last, reset': 1, 'with the length of the whole, closed': 1 });
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
  reverse_proxy 127.0.0.1:\${origin}
}
\`);
await startServer(port, 'caddy', 'run', '--adapter', 'caddyfile', '--config', 'conf');
await show(port);
process.exit();
PROGRAM
node program.mjs | expect_seen
