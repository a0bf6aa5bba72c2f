#!/usr/bin/env bash
# nginx, Caddy, h2o and six npm servers answer the old jobs.xml.gz beside a new jobs.xml; Caddy with the new file's date.
#
# Version: Debian 12: nginx 1.22.1 (gzip_static), Caddy 2.6.2 (precompressed), h2o 2.2.5 (file.send-compressed); npm: sirv 3.0.2,
# express-static-gzip 3.0.2, @fastify/static 10.1.11, http-server 14.1.1, koa-send 5.0.1, @hono/node-server 2.1.9.
#
# Expected: A compressed file that is older than the file it was made of is not sent in its place.
#
# Behaviour: None of them compares the times. Clients that accept gzip get the old feed, the others the new one. Last-Modified is
# that of the .gz, but Caddy's that of the new file: a client that asks by date is told "not modified" once the .gz is right.
#
# Why it matters: An export writes jobs.xml, and the step that compresses it fails. Whoever looks with curl sees the new jobs, while mirrors,
# which accept gzip, get yesterday's for ever. Compare the two answers before you suspect the mirror.
#
# Seen:
#                       to curl    to a client that accepts gzip
#   nginx               tuesday    monday, Last-Modified of monday
#   Caddy               tuesday    monday, Last-Modified of tuesday
#   h2o                 tuesday    monday, Last-Modified of monday
#   sirv                tuesday    monday, Last-Modified of monday
#   express-static-gzip tuesday    monday, Last-Modified of monday
#   @fastify/static     tuesday    monday, Last-Modified of monday
#   http-server         tuesday    monday, Last-Modified of monday
#   koa-send            tuesday    monday, Last-Modified of monday
#   @hono/node-server   tuesday    monday, Last-Modified of monday

source "$(dirname "$0")/support/prepare.sh"
debian nginx=1.22.1-9+deb12u11 caddy=2.6.2-5 h2o=2.2.5+dfsg2-7
npm_packages sirv@3.0.2 express-static-gzip@3.0.2 express@5.3.0 @fastify/static@10.1.11 fastify@5.12.8 http-server@14.1.1 koa-send@5.0.1 koa@3.3.0 \
  @hono/node-server@2.1.9 hono@4.13.19
chmod 777 "$work"
cat >program.mjs <<PROGRAM
import { once } from 'node:events';
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { gunzipSync, gzipSync } from 'node:zlib';
import fastifyStatic from '@fastify/static';
import { serve } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import express from 'express';
import staticGzip from 'express-static-gzip';
import Fastify from 'fastify';
import { Hono } from 'hono';
import httpServer from 'http-server';
import Koa from 'koa';
import send from 'koa-send';
import sirv from 'sirv';
import { freePort, startServer } from "$support/http.mjs";
const folder = '$work/www';
const days = { monday: new Date('2026-10-05T06:00:00Z'), tuesday: new Date('2026-10-06T06:00:00Z') };
mkdirSync(folder);
function write(name, day, bytes) {
  writeFileSync(\`\${folder}/\${name}\`, bytes);
  utimesSync(\`\${folder}/\${name}\`, days[day], days[day]);
}
write('jobs.xml', 'tuesday', 'tuesday');
write('jobs.xml.gz', 'monday', gzipSync('monday'));

async function program(port, text, command, ...args) {
  writeFileSync(\`\${command}.conf\`, text);
  await startServer(port, command, ...args);
  return port;
}
const nginx = async (port) => program(port, \`daemon off; user root; pid $work/nginx.pid; error_log $work/log; events {}
http { access_log off; gzip_static on; \${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) => \`\${each}_temp_path $work/\${each};\`).join(' ')}
server { listen 127.0.0.1:\${port}; root \${folder}; } }\`, 'nginx', '-p', '$work', '-c', '$work/nginx.conf');
const caddy = async (port) => program(port, \`{
  admin off
}
http://127.0.0.1:\${port} {
  root * \${folder}
  file_server {
    precompressed gzip
  }
}
\`, 'caddy', 'run', '--adapter', 'caddyfile', '--config', 'caddy.conf');
const h2o = async (port) => program(port, \`listen: { host: 127.0.0.1, port: \${port} }
user: root
pid-file: $work/h2o.pid
file.send-compressed: ON
hosts: { localhost: { paths: { /: { file.dir: \${folder} } } } }
\`, 'h2o', '-c', 'h2o.conf');
async function listen(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}
const fastify = Fastify();
fastify.register(fastifyStatic, { root: folder, preCompressed: true });
const app = new Hono();
app.use('*', serveStatic({ root: './www', precompressed: true }));
const servers = {
  nginx: await nginx(await freePort()),
  Caddy: await caddy(await freePort()),
  h2o: await h2o(await freePort()),
  sirv: await listen(createServer(sirv(folder, { gzip: true }))),
  'express-static-gzip': await listen(createServer(express().use(staticGzip(folder)))),
  '@fastify/static': await fastify.listen({ port: 0, host: '127.0.0.1' }).then(() => fastify.server.address().port),
  'http-server': await listen(httpServer.createServer({ root: folder, gzip: true }).server),
  'koa-send': await listen(createServer(new Koa().use((context) => send(context, context.path, { root: folder })).callback())),
  '@hono/node-server': await new Promise((resolve) => serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port))),
};
async function ask(port, headers) {
  const [answer] = await once(get({ host: '127.0.0.1', port, path: '/jobs.xml', headers, agent: false }), 'response');
  const bytes = Buffer.concat(await answer.toArray());
  const text = (answer.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
  return { text, modified: answer.headers['last-modified'] };
}
console.log(\`\${''.padEnd(19)} to curl    to a client that accepts gzip\`);
for (const [name, port] of Object.entries(servers)) {
  const plain = await ask(port, {});
  const zipped = await ask(port, { 'Accept-Encoding': 'gzip' });
  const [day] = Object.entries(days).find(([, date]) => date.toUTCString() === zipped.modified);
  console.log(\`\${name.padEnd(19)} \${plain.text}    \${zipped.text}, Last-Modified of \${day}\`);
}
process.exit();
PROGRAM
node program.mjs | expect_seen
