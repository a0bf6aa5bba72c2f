#!/usr/bin/env bash
# nginx answers from its cache with the present Date and no Age, also to a request that says no-cache.
#
# Version: Debian 12: nginx 1.22.1-9+deb12u11, HAProxy 2.6.12, Varnish 7.1.1, Apache 2.4.71 (mod_cache_disk), Squid 5.7.
#
# Expected: A cache says how old its copy is: Age, and the Date of the source (RFC 9111, 5.1: it MUST). no-cache in a request leads to the
# source (5.2.1.4).
#
# Behaviour: nginx drops the Date of the source, adds its own, and never Age. nginx and Varnish answer from the copy although the request says
# no-cache, but Varnish states its age. HAProxy, Apache and Squid ask the source.
#
# Why it matters: A client that asks for the list of jobs after an answer was lost cannot tell that it is from before its POST, and posts again.
# Add a query that no cache has seen, or have the site exclude the list from caching.
#
# Seen:
#   nginx: list from before the POST, Age none, Date now
#   HAProxy: list from after it
#   Varnish: list from before the POST, Age 2 or more, Date before
#   Apache: list from after it
#   Squid: list from after it
#   each, with another query: list from after it

source "$(dirname "$0")/support/prepare.sh"
debian nginx=1.22.1-9+deb12u11 haproxy=2.6.12-1+deb12u4 varnish=7.1.1-2+deb12u1 apache2-bin=2.4.71-1~deb12u1 squid=5.7-2+deb12u6
chmod 777 "$work"
cat >program.mjs <<PROGRAM
import { mkdirSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { freePort, openConnection, startOrigin, startServer } from "$support/http.mjs";
let jobs = 'Nurse';
const origin = await startOrigin(({ head }, socket) => {
  socket.end(\`HTTP/1.1 200 OK\r\nDate: \${new Date().toUTCString()}\r\nCache-Control: public, max-age=60\r\nContent-Type: text/plain\r\nContent-Length: \${jobs.length}\r\nConnection: close\r\n\r\n\${jobs}\`);
});
const modules = ['mpm_event', 'authz_core', 'proxy', 'proxy_http', 'cache', 'cache_disk'].map((name) => \`LoadModule \${name}_module $root/usr/lib/apache2/modules/mod_\${name}.so\`);
const CACHES = {
  nginx: (port) => [\`daemon off; master_process off; pid $work/nginx.pid; error_log $work/log;
events {}
http {
  access_log off;
  \${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => \`\${kind}_temp_path $work/\${kind};\`).join(' ')}
  proxy_cache_path $work/kept keys_zone=kept:1m;
  server { listen 127.0.0.1:\${port}; proxy_cache kept; location / { proxy_pass http://127.0.0.1:\${origin}; } }
}\`, 'nginx', '-e', '$work/log', '-c', '$work/conf-nginx'],
  HAProxy: (port) => [\`defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
cache kept
  total-max-size 4
  max-age 60
frontend in
  bind 127.0.0.1:\${port}
  http-request cache-use kept
  http-response cache-store kept
  default_backend out
backend out
  server one 127.0.0.1:\${origin}
\`, 'haproxy', '-f', '$work/conf-HAProxy'],
  Varnish: (port) => [\`vcl 4.1;
backend default { .host = "127.0.0.1"; .port = "\${origin}"; }
\`, 'varnishd', '-F', '-f', '$work/conf-Varnish', '-a', \`127.0.0.1:\${port}\`, '-n', '$work/varnish', '-s', 'malloc,16m'],
  Apache: (port) => [['ServerRoot $work', 'PidFile $work/apache.pid', 'ErrorLog $work/log', \`Listen 127.0.0.1:\${port}\`, 'ServerName localhost', 'User www-data',
    'Mutex file:$work', ...modules, \`ProxyPass / http://127.0.0.1:\${origin}/\`, 'CacheRoot $work/apache', 'CacheEnable disk /', 'CacheIgnoreNoLastMod On', ''].join('\n'),
    'apache2', '-X', '-f', '$work/conf-Apache'],
  Squid: (port) => [\`http_port 127.0.0.1:\${port} accel defaultsite=localhost no-vhost
cache_peer 127.0.0.1 parent \${origin} 0 no-query no-digest no-netdb-exchange originserver
http_access allow all
pid_filename $work/squid.pid
access_log none
cache_log $work/log
coredump_dir $work
netdb_filename none
pinger_enable off
unlinkd_program /bin/true
icon_directory $root/usr/share/squid/icons
mime_table $root/usr/share/squid/mime.conf
error_directory $root/usr/share/squid-langpack/en
shutdown_lifetime 0 seconds
\`, 'squid', '-N', '-f', '$work/conf-Squid'],
};
mkdirSync('apache', { mode: 0o777 });
const ports = {};
async function ask(name, query, ...fields) {
  const connection = openConnection(ports[name]);
  const answer = await connection.send([\`GET /jobs.xml\${query} HTTP/1.1\`, 'Host: localhost', ...fields, 'Connection: close', '', ''].join('\r\n'));
  connection.close();
  return answer;
}
for (const [name, make] of Object.entries(CACHES)) {
  const port = (ports[name] = await freePort());
  const [conf, ...command] = make(port);
  writeFileSync(\`conf-\${name}\`, conf);
  await startServer(port, ...command);
  while ((await ask(name, '')).status !== '200');
}
await pause(3_000);
jobs = 'Nurse, Cook';
for (const name of Object.keys(CACHES)) {
  const { body, field } = await ask(name, '', 'Cache-Control: no-cache');
  const age = field('age') ?? 'none';
  const date = Date.now() - Date.parse(field('date')) < 2_000 ? 'now' : 'before';
  console.log(\`\${name}: \${body === jobs ? 'list from after it' : \`list from before the POST, Age \${Number(age) >= 2 ? '2 or more' : age}, Date \${date}\`}\`);
}
const others = await Promise.all(Object.keys(CACHES).map((name) => ask(name, '?fresh=1')));
console.log('each, with another query:', others.every(({ body }) => body === jobs) ? 'list from after it' : others.map(({ body }) => body));
process.exit();
PROGRAM
node program.mjs | expect_seen
