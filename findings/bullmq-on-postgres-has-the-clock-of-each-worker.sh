#!/usr/bin/env bash
# BullMQ on Postgres goes by the clock of each worker: one that is ahead takes jobs that run elsewhere.
#
# Version: BullMQ 6.7.0 with ioredis 6.0.0 and pg 8.23.1 (npm), Redis 7.0.15, Postgres 15.20, libfaketime 0.9.10 (Debian 12:
# redis-server 5:7.0.15-1~deb12u10, postgresql-15 15.20-0+deb12u1, libfaketime 0.9.10-2.1).
#
# Expected: Locks and rate limits go by the server's clock, as on Redis, so that a machine with a wrong clock does no harm.
#
# Behaviour: On Postgres, what a lock or a rate limit lasts until is computed from the clock of the worker that has it, and compared with
# the clock of the one that asks. A worker that is an hour ahead takes a job whose lock the other one renews every second: it runs twice at
# a time. A rate limit of one in a second that it began lasts for an hour and a second for the others.
#
# Why it matters: One machine without NTP, or one that has just woken up, makes all others send twice, and after it nothing for an hour.
#
# Seen:
#   Redis: the job ran 1 time; the rate limit lasts for a second
#   Postgres: the job ran 2 times; the rate limit lasts for an hour

source "$(dirname "$0")/support/prepare.sh"
debian redis-server=5:7.0.15-1~deb12u10 redis-tools=5:7.0.15-1~deb12u10 postgresql-15=15.20-0+deb12u1 libfaketime=0.9.10-2.1
npm_packages bullmq@6.7.0 ioredis@6.0.0 pg@8.23.1
mkdir data && chown nobody data
as_nobody() { setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"; }
postgres="$root/usr/lib/postgresql/15/bin"
as_nobody "$postgres/initdb" -D "$work/data" -U jobs --auth=trust --no-sync >log
cat >server.mjs <<'PROGRAM'
import { createPostgresBackend, createRedisBackend } from "bullmq";
export const serverOf = (name, port) =>
  name === 'Redis'
    ? { connection: { host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null }, backend: createRedisBackend }
    : { connection: { connectionString: `postgres://jobs@127.0.0.1:${port}/postgres`, migrate: true }, backend: createPostgresBackend };
PROGRAM
cat >worker.mjs <<'PROGRAM'
import { Worker } from "bullmq";
import { setTimeout as pause } from "node:timers/promises";
import { serverOf } from "./server.mjs";
const [name, port, queue, takesMs] = process.argv.slice(2);
const { connection, backend } = serverOf(name, port);
const options = { connection, lockDuration: 2_000, stalledInterval: 300, maxStalledCount: 5, limiter: { max: 1, duration: 1_000 } };
const worker = new Worker(queue, async () => {
  console.log('runs');
  await pause(Number(takesMs));
}, options, backend);
worker.on('error', () => undefined);
await worker.waitUntilReady();
console.log('ready');
PROGRAM
cat >program.mjs <<PROGRAM
import { freePort, startServer } from "$support/http.mjs";
import { Queue } from "bullmq";
import { spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { serverOf } from "./server.mjs";
const ports = { Redis: await freePort(), Postgres: await freePort() };
await startServer(ports.Redis, 'redis-server', '--port', String(ports.Redis), '--bind', '127.0.0.1', '--save', '', '--maxmemory-policy', 'noeviction');
await startServer(ports.Postgres, 'setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups', '$postgres/postgres', '-D', '$work/data',
  '-p', String(ports.Postgres), '-c', 'unix_socket_directories=', '-c', 'listen_addresses=127.0.0.1');
async function startWorker(name, queue, takesMs, hoursAhead) {
  const clock = { LD_PRELOAD: '$root/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1', FAKETIME: \`+\${hoursAhead}h\`, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
  const child = spawn('node', ['worker.mjs', name, String(ports[name]), queue, String(takesMs)], {
    env: { ...process.env, ...(hoursAhead === 0 ? {} : clock) },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  process.on('exit', () => child.kill('SIGKILL'));
  const seen = { text: '', end: () => child.kill('SIGKILL'), until: async (part) => { while (!seen.text.includes(part)) await pause(20); } };
  child.stdout.on('data', (text) => (seen.text += text));
  await seen.until('ready');
  return seen;
}
for (const name of ['Redis', 'Postgres']) {
  const { connection, backend } = serverOf(name, ports[name]);
  const runs = new Queue('runs', { connection }, backend);
  await runs.waitUntilReady();
  const right = await startWorker(name, 'runs', 4_000, 0);
  await runs.add('posting', {});
  await right.until('runs');
  const ahead = await startWorker(name, 'runs', 4_000, 1);
  await pause(3_000);
  const times = (right.text + ahead.text).split('runs').length - 1;
  right.end();
  ahead.end();
  const limited = new Queue('limited', { connection }, backend);
  await limited.waitUntilReady();
  await limited.add('posting', {});
  const gone = await startWorker(name, 'limited', 0, 1);
  await gone.until('runs');
  gone.end();
  const ttl = await limited.getRateLimitTtl(1);
  console.log(\`\${name}: the job ran \${times} time\${times === 1 ? '' : 's'}; the rate limit lasts for \${ttl <= 1_000 ? 'a second' : ttl > 3_500_000 ? 'an hour' : ttl}\`);
}
process.exit();
PROGRAM
node program.mjs | expect_seen
