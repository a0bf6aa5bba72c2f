#!/usr/bin/env bash
# Apache, Caddy and Python answer "not modified" about a feed that was replaced by an older file; nginx does not.
#
# Version: nginx 1.22.1, Apache 2.4.71, Caddy 2.6.2 (Debian 12: nginx-light 1.22.1-9+deb12u11, apache2-bin 2.4.71-1~deb12u1, caddy 2.6.2-5),
# Python 3.11.
#
# Expected: A client that says when its copy was changed gets the file if that has another time, as with an ETag.
#
# Behaviour: If-Modified-Since is compared: what is not newer is not modified (RFC 9110, 13.1.3). nginx alone sends the file unless its time is
# exactly that one. With If-None-Match, all of them send it.
#
# Why it matters: A feed that is restored from a backup, by rsync -t or cp -p, has an older time than the wrong one before. wget -N,
# and every mirror that knows times only, keeps the wrong version until the next export. "nginx does it right" is no help behind another one.
#
# Seen:
#   nginx: of the time 200, of the ETag 200
#   Apache: of the time 304, of the ETag 200
#   Caddy: of the time 304, of the ETag 200
#   Python: of the time 304, no ETag
#   wget -N from Apache keeps the wrong feed

source "$(dirname "$0")/support/prepare.sh"
debian nginx-light=1.22.1-9+deb12u11 apache2-bin=2.4.71-1~deb12u1 caddy=2.6.2-5 wget=1.21.3-1+deb12u1
mkdir www && chmod 755 www
for folder in body proxy fastcgi uwsgi scgi; do temporary="${temporary:-} ${folder/body/client_body}_temp_path $work/$folder;"; done
chmod 777 "$work"
cat >program.mjs <<PROGRAM
import { execFile } from "node:child_process";
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { freePort, startServer } from "$support/http.mjs";
const [wrong, right] = ['<jobs>wrong</jobs>', '<jobs>right again</jobs>'];
function put(text, at) {
  writeFileSync('www/feed.xml', text);
  utimesSync('www/feed.xml', new Date(at), new Date(at));
}
put(wrong, '2026-11-01T10:00:00Z');
const ports = { nginx: await freePort(), Apache: await freePort(), Caddy: await freePort(), Python: await freePort() };
writeFileSync('nginx', \`daemon off; master_process off; pid $work/pid; error_log $work/log; events {}
http { access_log off; $temporary server { listen 127.0.0.1:\${ports.nginx}; root $work/www; } }\n\`);
writeFileSync('apache', \`ServerRoot $work\nPidFile $work/apache-pid\nErrorLog $work/apache-log\nListen 127.0.0.1:\${ports.Apache}\nServerName localhost
User www-data\nMutex file:$work\nDocumentRoot $work/www
LoadModule mpm_event_module $root/usr/lib/apache2/modules/mod_mpm_event.so\nLoadModule authz_core_module $root/usr/lib/apache2/modules/mod_authz_core.so\n\`);
writeFileSync('caddy', \`{\nadmin off\nauto_https off\n}\nhttp://:\${ports.Caddy} {\nbind 127.0.0.1\nroot * $work/www\nfile_server\n}\n\`);
await startServer(ports.nginx, 'nginx', '-e', '$work/log', '-c', '$work/nginx');
await startServer(ports.Apache, 'apache2', '-X', '-f', '$work/apache');
await startServer(ports.Caddy, 'caddy', 'run', '--adapter', 'caddyfile', '--config', '$work/caddy');
await startServer(ports.Python, 'python3.11', '-m', 'http.server', String(ports.Python), '--bind', '127.0.0.1', '-d', 'www');
const known = {};
for (const [name, port] of Object.entries(ports)) {
  const { headers } = await fetch(\`http://127.0.0.1:\${port}/feed.xml\`);
  known[name] = { time: headers.get('last-modified'), etag: headers.get('etag') };
}
put(right, '2026-10-01T10:00:00Z');
for (const [name, port] of Object.entries(ports)) {
  const ask = async (headers) => (await fetch(\`http://127.0.0.1:\${port}/feed.xml\`, { headers })).status;
  const { time, etag } = known[name];
  const ofEtag = etag === null ? 'no ETag' : \`of the ETag \${await ask({ 'if-none-match': etag })}\`;
  console.log(\`\${name}: of the time \${await ask({ 'if-modified-since': time })}, \${ofEtag}\`);
}
writeFileSync('feed.xml', wrong);
utimesSync('feed.xml', new Date('2026-11-01T10:00:00Z'), new Date('2026-11-01T10:00:00Z'));
await new Promise((resolve) => execFile('wget', ['-q', '-N', \`http://127.0.0.1:\${ports.Apache}/feed.xml\`], resolve));
console.log(\`wget -N from Apache \${readFileSync('feed.xml', 'utf8') === wrong ? 'keeps the wrong feed' : 'gets the right feed'}\`);
process.exit();
PROGRAM
node program.mjs | expect_seen
