#!/usr/bin/env bash
# BullMQ adds a job twice on Redis if the reply to add is lost, without an error; on Postgres it adds it once, with one.
#
# Version: BullMQ 6.7.0 with ioredis 6.0.0 and pg 8.23.1 (npm), Redis 7.0.15, Postgres 15.20 (Debian 12: redis-server 5:7.0.15-1~deb12u10,
# postgresql-15 15.20-0+deb12u1).
#
# Expected: add that resolves has added one job, and add that rejects none; a queue on Redis and one on Postgres do the same.
#
# Behaviour: The connection breaks after the server has added the job and before its reply has arrived. ioredis connects again and sends
# the command again: add resolves with the ID of the second job, and the first one runs as well. On Postgres nothing is sent again: add
# rejects, and the job is there. Only a deduplication ID or a job ID of one's own makes one job on both.
#
# Why it matters: A posting is sent twice after a connection broke once; where the caller repeats what was rejected, on Postgres as well.
#
# Seen:
#   Redis: add resolves, 2 jobs
#   Redis, with a deduplication ID: add resolves, 1 job
#   Postgres: add rejects, 1 job
#   Postgres, with a deduplication ID: add rejects, 1 job

source "$(dirname "$0")/support/prepare.sh"
debian redis-server=5:7.0.15-1~deb12u10 redis-tools=5:7.0.15-1~deb12u10 postgresql-15=15.20-0+deb12u1
npm_packages bullmq@6.7.0 ioredis@6.0.0 pg@8.23.1
mkdir data && chown nobody data
as_nobody() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }
postgres="$root/usr/lib/postgresql/15/bin"
as_nobody "$postgres/initdb" -D "$work/data" -U jobs --auth=trust --no-sync >log
cat >program.mjs <<PROGRAM
import { freePort, startServer } from "$support/http.mjs";
import { createPostgresBackend, Queue } from "bullmq";
import { once } from "node:events";
import { connect, createServer } from "node:net";
const [redisPort, postgresPort] = [await freePort(), await freePort()];
await startServer(redisPort, 'redis-server', '--port', String(redisPort), '--bind', '127.0.0.1', '--save', '', '--maxmemory-policy', 'noeviction');
await startServer(postgresPort, 'setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups', '$postgres/postgres', '-D', '$work/data',
  '-p', String(postgresPort), '-c', 'unix_socket_directories=', '-c', 'listen_addresses=127.0.0.1');

/** Passes bytes on; once told so, it closes the connection in place of the next reply. */
async function startProxy(port) {
  const proxy = { loses: false };
  const server = createServer((client) => {
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [[client, far], [far, client]]) from.on('error', () => undefined).on('close', () => to.destroy());
    client.on('data', (bytes) => far.write(bytes));
    far.on('data', (bytes) => {
      if (!proxy.loses) return client.write(bytes);
      proxy.loses = false;
      client.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(proxy, { port: server.address().port });
}
const servers = {
  Redis: async (name) => {
    const proxy = await startProxy(redisPort);
    return { proxy, queue: new Queue(name, { connection: { host: '127.0.0.1', port: proxy.port } }) };
  },
  Postgres: async (name) => {
    const proxy = await startProxy(postgresPort);
    const connection = { connectionString: \`postgres://jobs@127.0.0.1:\${proxy.port}/postgres\`, migrate: true };
    return { proxy, queue: new Queue(name, { connection }, createPostgresBackend) };
  },
};
for (const [name, open] of Object.entries(servers))
  for (const options of [{}, { deduplication: { id: 'posting' } }]) {
    const { proxy, queue } = await open(Object.keys(options).length === 0 ? 'plain' : 'deduplicated');
    queue.on('error', () => undefined);
    await queue.waitUntilReady();
    await queue.count();
    proxy.loses = true;
    const end = await queue.add('posting', {}, options).then(() => 'resolves', () => 'rejects');
    const jobs = await queue.count();
    console.log(\`\${name}\${options.deduplication ? ', with a deduplication ID' : ''}: add \${end}, \${jobs} job\${jobs === 1 ? '' : 's'}\`);
    await queue.close();
  }
process.exit();
PROGRAM
node program.mjs | expect_seen
