#!/usr/bin/env bash
# Varnish answers a POST that the site has done with 503 and Retry-After.
#
# Version: Varnish 7.1.1 (Debian 12: 7.1.1-2+deb12u1), its built-in configuration.
#
# Expected: A gateway that sent a request and got no answer says 502 or 504. 503 with Retry-After means that the request was not done, and
# is to be repeated later.
#
# Behaviour: Where the site reads the whole POST and closes the connection without an answer, Varnish answers "503 Backend fetch failed"
# with `Retry-After: 5`. nginx, Apache, HAProxy, Caddy, Squid, h2o and nghttpx answer 502, lighttpd 500, none with Retry-After.
#
# Why it matters: Whoever follows the header sends the create again, and the site has the job twice. Only the line `Server: Varnish` and
# the page tell this 503 from that of a site in maintenance.
#
# Seen:
#   the site did 1, the client got 503, Server: Varnish, Retry-After: 5

source "$(dirname "$0")/support/prepare.sh"
debian varnish=7.1.1-2+deb12u1
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

const port = await freePort();
writeFileSync('conf', \`vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "\${origin}"; }
\`);
await startServer(port, 'varnishd', '-F', '-f', process.cwd() + '/conf', '-a', \`127.0.0.1:\${port}\`, '-n', process.cwd() + '/work', '-s', 'malloc,16m');

how = 'close';
const connection = openConnection(port);
const answer = await connection.send(request('POST', '/jobs', '<job/>'));
console.log(\`the site did \${done.length}, the client got \${answer.status}, Server: \${answer.field('server')}, Retry-After: \${answer.field('retry-after')}\`);
process.exit();
PROGRAM
node program.mjs | expect_seen
