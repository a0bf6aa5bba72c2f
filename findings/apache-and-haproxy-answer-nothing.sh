#!/usr/bin/env bash
# Apache and HAProxy answer 502 to a first request, and nothing to the same request on a kept connection.
#
# Version: Apache 2.4.71 (Debian 12: apache2-bin 2.4.71-1~deb12u1) and HAProxy 2.6.12 (2.6.12-1+deb12u4).
#
# Expected: A gateway that gets no answer from the site sends 502, whichever request of a connection it was.
#
# Behaviour: If the connections to the client and to the site had been used before, both close the connection of the client without any
# answer, also after a POST that the site did: the client is expected to repeat it.
#
# Why it matters: Libraries that repeat requests on connections "that the server had closed while idle" then send a create twice. A mirror
# has to look for the job first, and needs no 502 to be in doubt.
#
# Seen:
#   Apache, POST, first request: the site did 1, the client got 502
#   Apache, POST, kept connection: the site did 1, the client got no answer
#   HAProxy, POST, first request: the site did 1, the client got 502
#   HAProxy, POST, kept connection: the site did 1, the client got no answer

source "$(dirname "$0")/support/prepare.sh"
debian apache2-bin=2.4.71-1~deb12u1 haproxy=2.6.12-1+deb12u4
cat >program.mjs <<PROGRAM
import { freePort, get, openConnection, startOrigin, startServer } from "$support/http.mjs";
import { writeFileSync } from "node:fs";
const whole = 'id,title\n' + Array.from({ length: 40 }, (_, at) => \`j\${at},Nurse \${at}\n\`).join('');
const half = whole.slice(0, whole.indexOf('j20'));

let done = [];
let how;
const origin = await startOrigin(({ method, path }, socket) => {
  const isWarm = path === '/warm';
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
  if (reused) await connection.send(request('GET', '/warm'));
  const { status } = await connection.send(request(method, '/jobs', body));
  connection.close();
  return \`the site did \${done.length}, the client got \${status === 'none' ? 'no answer' : status}\`;
}

how = 'close';
const root = process.cwd() + '/root';
const apache = await freePort();
writeFileSync('apache', \`ServerRoot \${process.cwd()}
PidFile \${process.cwd()}/pid
ErrorLog /dev/null
Listen 127.0.0.1:\${apache}
ServerName localhost
User www-data
Mutex file:\${process.cwd()}
\${['mpm_event', 'authz_core', 'proxy', 'proxy_http'].map((name) => \`LoadModule \${name}_module \${root}/usr/lib/apache2/modules/mod_\${name}.so\`).join('\n')}
ProxyPass / http://127.0.0.1:\${origin}/
\`);
await startServer(apache, 'apache2', '-X', '-f', process.cwd() + '/apache');
const haproxy = await freePort();
writeFileSync('haproxy', \`defaults
  mode http
  timeout connect 5s
  timeout client 20s
  timeout server 20s
listen all
  bind 127.0.0.1:\${haproxy}
  server one 127.0.0.1:\${origin}
\`);
await startServer(haproxy, 'haproxy', '-f', 'haproxy');
for (const [name, port] of [['Apache', apache], ['HAProxy', haproxy]]) for (const reused of [false, true])
  console.log(\`\${name}, POST, \${reused ? 'kept connection' : 'first request'}: \${await ask(port, 'POST', '<job/>', reused)}\`);
process.exit();
PROGRAM
node program.mjs | expect_seen
