#!/usr/bin/env bash
# Redis with a volatile-* policy removes only the locks of a full queue, so that BullMQ runs a job twice at a time.
#
# Version: BullMQ 6.7.0 with ioredis 6.0.0 (npm), Redis 7.0.15 (Debian 12: redis-server 5:7.0.15-1~deb12u10).
#
# Expected: A volatile-* policy removes only keys with a time to live, as those of a cache, so that a queue, whose jobs have none, is safe
# and further commands are refused, as with noeviction.
#
# Behaviour: The only keys of BullMQ with a time to live are the locks of the jobs that run, and of the check for stalled ones. When
# another program fills the memory, they are removed first. Another worker takes the job for stalled and begins it while the first one
# still runs; the one that ends first then fails to end it. With noeviction the same writes are refused, and the job runs once.
#
# Why it matters: A worker that sends a posting to a job site sends it a second time, though no process died and no lock had expired.
#
# Seen:
#   keys with a time to live: 1:lock, stalled-check
#   volatile-lru: the lock was removed; the job ran 2 times, 2 at a time
#   noeviction: the lock is there; the job ran 1 time, 1 at a time

source "$(dirname "$0")/support/prepare.sh"
debian redis-server=5:7.0.15-1~deb12u10 redis-tools=5:7.0.15-1~deb12u10
npm_packages bullmq@6.7.0 ioredis@6.0.0
cat >program.mjs <<PROGRAM
import { freePort, startServer } from "$support/http.mjs";
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { setTimeout as pause } from "node:timers/promises";
// BullMQ warns about the policy on each connection.
console.warn = () => undefined;
const port = await freePort();
await startServer(port, 'redis-server', '--port', String(port), '--bind', '127.0.0.1', '--save', '');
const redis = new Redis(port, '127.0.0.1');
const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null };
const used = async () => Number(/used_memory:(\\d+)/.exec(await redis.info('memory'))[1]);

for (const policy of ['volatile-lru', 'noeviction']) {
  await redis.config('SET', 'maxmemory-policy', policy);
  let [runs, running, most] = [0, 0, 0];
  const process = async () => {
    runs++;
    most = Math.max(most, ++running);
    await pause(4_000);
    running--;
  };
  const queue = new Queue(policy, { connection });
  const workers = [1, 2].map(() => new Worker(policy, process, { connection, stalledInterval: 1_000, lockDuration: 30_000 }));
  for (const each of workers) each.on('error', () => undefined);
  await queue.add('posting', {});
  while (running === 0) await pause(50);
  if (policy === 'volatile-lru') {
    const names = [];
    for (const key of await redis.keys('*')) if ((await redis.pttl(key)) > 0) names.push(key.replace(\`bull:\${policy}:\`, ''));
    console.log(\`keys with a time to live: \${names.sort().join(', ')}\`);
  }
  // Another program's data, without a time to live.
  await redis.config('SET', 'maxmemory', String((await used()) + 300_000));
  for (let at = 0; at < 100; at++) await redis.set(\`other:\${policy}:\${at}\`, 'x'.repeat(10_000)).catch(() => undefined);
  const lock = (await redis.exists(\`bull:\${policy}:1:lock\`)) === 1 ? 'is there' : 'was removed';
  await redis.config('SET', 'maxmemory', '0');
  await pause(8_000);
  console.log(\`\${policy}: the lock \${lock}; the job ran \${runs} time\${runs === 1 ? '' : 's'}, \${most} at a time\`);
  await Promise.all(workers.map((each) => each.close(true)));
  await queue.close();
}
globalThis.process.exit();
PROGRAM
node program.mjs | expect_seen
