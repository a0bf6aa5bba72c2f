#!/usr/bin/env bash
# lighttpd as a proxy states the length of half an answer, also if the source broke it off.
#
# Version: lighttpd 1.4.69 (Debian 12: 1.4.69-1), mod_proxy.
#
# Expected: A proxy passes a broken answer on as broken: without a last chunk, or with a reset.
#
# Behaviour: By default lighttpd collects the answer first. When the source closes or resets the connection in the middle of chunks,
# lighttpd sends what it has under status 200, with a Content-Length of exactly that, and neither Via nor Age.
#
# Why it matters: A Content-Length seems to be the strongest proof that a table is whole. Behind this proxy it proves nothing: whoever
# deletes the jobs that are missing from such an answer deletes half of them.
#
# Seen:
#   without a length, closed: Content-Length of 249 bytes, a proper end
#   without a length, reset: Content-Length of 249 bytes, a proper end
#   in chunks without the last, closed: Content-Length of 249 bytes, a proper end
#   in chunks without the last, reset: Content-Length of 249 bytes, a proper end

source "$(dirname "$0")/support/prepare.sh"
debian lighttpd=1.4.69-1
cat >program.mjs <<PROGRAM
import { freePort, get, openConnection, startOrigin, startServer } from "$support/http.mjs";
import { writeFileSync } from "node:fs";
const whole = 'id,title\n' + Array.from({ length: 40 }, (_, at) => \`j\${at},Nurse \${at}\n\`).join('');
const half = whole.slice(0, whole.indexOf('j20'));
const SHOWN = ['without a length, closed', 'without a length, reset', 'in chunks without the last, closed', 'in chunks without the last, reset'];
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
writeFileSync('conf', \`server.document-root = "/"
server.bind = "127.0.0.1"
server.port = \${port}
server.modules = ("mod_proxy")
proxy.server = ("" => (("host" => "127.0.0.1", "port" => \${origin})))
\`);
await startServer(port, 'lighttpd', '-D', '-m', process.cwd() + '/root/usr/lib/lighttpd', '-f', 'conf');
await show(port);
process.exit();
PROGRAM
node program.mjs | expect_seen
