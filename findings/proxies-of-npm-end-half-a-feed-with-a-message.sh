#!/usr/bin/env bash
# http-proxy-middleware, fast-proxy and koa-proxies end half a feed properly, with a message or "OK" as its last row.
#
# Version: npm: http-proxy-middleware 3.0.11 with express 5.3.0, fast-proxy 2.2.0, koa-proxies 0.12.4 with koa 3.3.0, @fastify/http-proxy 11.6.3 with
# fastify 5.12.8, httpxy 0.5.6; Node 20.
#
# Expected: An answer that the source broke off, in chunks, is broken off for the client as well, as @fastify/http-proxy and httpxy do it.
#
# Behaviour: The source resets the connection after two rows. The error handlers of three proxies write an answer of their own, though the head and
# half the body were sent: their text becomes the end of the body, and a last chunk says that it is whole. The status stays 200.
#
# Why it matters: No client can see that jobs are missing. A CSV reader that fills or ignores short rows has a job "OK", or a last address that
# ends in OK, and no error. Refuse a feed with a short row, and send a table with its number of rows.
#
# Seen:
#   http-proxy-middleware: 200, whole: ref,title | 1,Nurse | 2,Cook | Error occurred while trying to proxy: localhost/jobs.csv
#   fast-proxy: 200, whole: ref,title | 1,Nurse | 2,Cook | read ECONNRESET
#   koa-proxies: 200, whole: ref,title | 1,Nurse | 2,Cook | OK
#   @fastify/http-proxy: 200, broken off: ref,title | 1,Nurse | 2,Cook
#   httpxy: 200, broken off: ref,title | 1,Nurse | 2,Cook

source "$(dirname "$0")/support/prepare.sh"
npm_packages http-proxy-middleware@3.0.11 express@5.3.0 fast-proxy@2.2.0 koa-proxies@0.12.4 koa@3.3.0 @fastify/http-proxy@11.6.3 fastify@5.12.8 httpxy@0.5.6
cat >program.mjs <<PROGRAM
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import fastifyProxy from '@fastify/http-proxy';
import express from 'express';
import fastProxy from 'fast-proxy';
import Fastify from 'fastify';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { createProxyServer } from 'httpxy';
import Koa from 'koa';
import koaProxies from 'koa-proxies';
import { get, openConnection, startOrigin } from "$support/http.mjs";
const rows = 'ref,title\n1,Nurse\n2,Cook\n';
const origin = await startOrigin(async (request, socket) => {
  const chunk = \`\${rows.length.toString(16)}\r\n\${rows}\r\n\`;
  socket.write(\`HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n\${chunk}\`);
  await pause(300);
  socket.resetAndDestroy();
});
const target = \`http://127.0.0.1:\${origin}\`;
async function listen(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}
const fastify = Fastify();
fastify.register(fastifyProxy, { upstream: target });
const { proxy } = fastProxy({ base: target });
const httpxy = createProxyServer({ target });
httpxy.on('error', () => undefined);
const koa = new Koa().use(koaProxies('/', { target }));
koa.silent = true;
const proxies = {
  'http-proxy-middleware': await listen(createServer(express().use(createProxyMiddleware({ target })))),
  'fast-proxy': await listen(createServer((request, response) => proxy(request, response, request.url, {}))),
  'koa-proxies': await listen(createServer(koa.callback())),
  '@fastify/http-proxy': await fastify.listen({ port: 0, host: '127.0.0.1' }).then(() => fastify.server.address().port),
  httpxy: await listen(createServer((request, response) => httpxy.web(request, response))),
};
for (const [name, port] of Object.entries(proxies)) {
  const connection = openConnection(port);
  const { status, whole, body } = await connection.send(get('/jobs.csv'));
  connection.close();
  const text = body.replace(/(?:^|\r\n)[0-9a-f]+\r\n/g, '').replace(/\r\n\$/, '').trimEnd();
  console.log(\`\${name}: \${status}, \${whole ? 'whole' : 'broken off'}: \${text.replaceAll('\n', ' | ')}\`);
}
process.exit();
PROGRAM
node program.mjs 2>log | expect_seen
