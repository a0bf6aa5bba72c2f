#!/usr/bin/env bash
# BullMQ's keepLastIfActive drops a newer job that is added while the older one waits for its retry.
#
# Version: BullMQ 6.7.0 with ioredis 6.0.0 (npm), Redis 7.0.15 (Debian 12: redis-server 5:7.0.15-1~deb12u10).
#
# Expected: With deduplication: { id, keepLastIfActive: true } the newest version that was added is processed in the end.
#
# Behaviour: A version that is added while the job runs is processed afterwards. One that is added after the first try failed, while
# the job waits for its retry, is dropped: the retry runs with the older data, and nothing is left of the newer. BullMQ's backend on
# Postgres does the same.
#
# Why it matters: The last change of a posting is lost just when the site had refused the one before: the retry sends the old salary.
# Queue what is to be looked at, not what is to be sent, or do not let the queue retry.
#
# Seen:
#   added while the first version runs: 1 2
#   added while it runs, and it fails and is retried: 1 1 2
#   added while it waits for its retry: 1 1, and 0 jobs are left

source "$(dirname "$0")/support/prepare.sh"
debian redis-server=5:7.0.15-1~deb12u10 redis-tools=5:7.0.15-1~deb12u10
npm_packages bullmq@6.7.0 ioredis@6.0.0
cat >program.mjs <<PROGRAM
import { freePort, startServer } from "$support/http.mjs";
import { Queue, Worker } from "bullmq";
import { setTimeout as pause } from "node:timers/promises";
const port = await freePort();
await startServer(port, 'redis-server', '--port', String(port), '--bind', '127.0.0.1', '--save', '', '--maxmemory-policy', 'noeviction');
const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null };
const options = {
  deduplication: { id: 'posting', keepLastIfActive: true },
  attempts: 2,
  backoff: { type: 'fixed', delay: 1_500 },
  removeOnComplete: true,
};
async function run(name, fails, when) {
  const queue = new Queue(name, { connection });
  const add = (version) => queue.add('posting', { version }, options);
  const seen = [];
  let failed = !fails;
  const worker = new Worker(name, async ({ data }) => {
    seen.push(data.version);
    if (data.version === 1 && seen.length === 1 && when === 'running') await add(2);
    if (!failed) {
      failed = true;
      throw new Error('refused');
    }
  }, { connection });
  await add(1);
  if (when === 'waiting') {
    while ((await queue.getDelayedCount()) === 0) await pause(50);
    await add(2);
  }
  await pause(4_000);
  const left = await queue.count();
  await worker.close();
  await queue.close();
  return { seen: seen.join(' '), left };
}
console.log(\`added while the first version runs: \${(await run('one', false, 'running')).seen}\`);
console.log(\`added while it runs, and it fails and is retried: \${(await run('two', true, 'running')).seen}\`);
const { seen, left } = await run('three', true, 'waiting');
console.log(\`added while it waits for its retry: \${seen}, and \${left} jobs are left\`);
process.exit();
PROGRAM
node program.mjs | expect_seen
