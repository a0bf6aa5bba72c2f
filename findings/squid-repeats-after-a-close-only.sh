#!/usr/bin/env bash
# Squid repeats a DELETE if the site closed the connection, and not if it reset it.
#
# Version: Squid 5.7 (Debian 12: 5.7-2+deb12u6) as an accelerator.
#
# Expected: Whether a request is repeated depends on its method, as in nginx, which repeats a DELETE in both cases.
#
# Behaviour: On a reused connection, a DELETE is sent again after a close without an answer, and the client sees the second answer. After
# a reset the client gets 502. A POST gets 502 in both cases.
#
# Why it matters: The same fault of a site leads to 200, to 404 (the job is gone since the first try) or to 502, depending on how the site
# ends the connection. A mirror has to take each for what it is.
#
# Seen:
#   DELETE, close: the site did 2, the client got 200
#   POST, close: the site did 1, the client got 502
#   DELETE, reset: the site did 1, the client got 502
#   POST, reset: the site did 1, the client got 502

source "$(dirname "$0")/support/prepare.sh"
debian squid=5.7-2+deb12u6
cat >program.mjs <<PROGRAM
import { freePort, get, openConnection, startOrigin, startServer } from "$support/http.mjs";
import { writeFileSync } from "node:fs";
const whole = 'id,title\n' + Array.from({ length: 40 }, (_, at) => \`j\${at},Nurse \${at}\n\`).join('');
const half = whole.slice(0, whole.indexOf('j20'));

let done = [];
let how;
const origin = await startOrigin(({ method, path }, socket) => {
  const isWarm = path.startsWith('/warm');
  if (!isWarm) done.push(method);
  // It does the first request, and breaks off instead of an answer.
  if (isWarm || done.length > 1) return socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  if (how === 'reset') socket.resetAndDestroy();
  else socket.end();
});
const request = (method, path, body = '') =>
  \`\${method} \${path} HTTP/1.1\r\nHost: localhost\r\n\${method === 'GET' ? '' : \`Content-Length: \${body.length}\r\n\`}\r\n\${body}\`;
async function ask(port, method, body, reused) {
  done = [];
  const connection = openConnection(port);
  if (reused) await connection.send(request('GET', \`/warm/\${Math.random()}\`));
  const { status } = await connection.send(request(method, '/jobs', body));
  connection.close();
  return \`the site did \${done.length}, the client got \${status === 'none' ? 'no answer' : status}\`;
}

const port = await freePort();
const root = process.cwd() + '/root';
writeFileSync('conf', \`http_port 127.0.0.1:\${port} accel defaultsite=localhost no-vhost
cache_peer 127.0.0.1 parent \${origin} 0 no-query originserver
http_access allow all
never_direct allow all
cache deny all
pid_filename none
access_log none
cache_log /dev/null
netdb_filename none
pinger_enable off
unlinkd_program /bin/true
icon_directory \${root}/usr/share/squid/icons
mime_table \${root}/usr/share/squid/mime.conf
error_directory \${root}/usr/share/squid-langpack/en
shutdown_lifetime 0 seconds
\`);
await startServer(port, 'squid', '-N', '-f', process.cwd() + '/conf');
for (how of ['close', 'reset']) for (const method of ['DELETE', 'POST'])
  console.log(\`\${method}, \${how}: \${await ask(port, method, '', true)}\`);
process.exit();
PROGRAM
node program.mjs | expect_seen
