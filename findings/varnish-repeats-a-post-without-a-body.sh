#!/usr/bin/env bash
# Varnish repeats a POST without a body, if the connection to the site had been used before.
#
# Version: Varnish 7.1.1 (Debian 12: 7.1.1-2+deb12u1), its built-in configuration.
#
# Expected: A POST is never repeated by a proxy, as it may have been done (RFC 9110, 9.2.2). nginx, Apache, HAProxy, Caddy and Squid keep
# to that.
#
# Behaviour: On a reused connection that the site closes after it did the request, Varnish sends the request again: GET, DELETE, and also
# a POST whose body is empty. Only a body makes it give up.
#
# Why it matters: Interfaces of sites have POST without a body for actions: publish, renew, copy. Behind Varnish these may happen twice,
# and the client sees one 200.
#
# Seen:
#   POST without a body: the site did 2, the client got 200
#   POST with a body: the site did 1, the client got 503
#   DELETE: the site did 2, the client got 200

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
writeFileSync('conf', \`vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "\${origin}"; }
\`);
await startServer(port, 'varnishd', '-F', '-f', process.cwd() + '/conf', '-a', \`127.0.0.1:\${port}\`, '-n', process.cwd() + '/work', '-s', 'malloc,16m');

how = 'close';
console.log(\`POST without a body: \${await ask(port, 'POST', '', true)}\`);
console.log(\`POST with a body: \${await ask(port, 'POST', '<job/>', true)}\`);
console.log(\`DELETE: \${await ask(port, 'DELETE', '', true)}\`);
process.exit();
PROGRAM
node program.mjs | expect_seen
