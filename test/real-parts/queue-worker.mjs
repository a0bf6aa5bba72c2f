// A worker in a process of its own, to be killed, stopped or given another clock. Prints what it takes and ends; its argument is JSON.
import { setTimeout as pause } from 'node:timers/promises';
import { openQueueBackend } from '../../dist/src/queue/backend.js';
import { openSiteQueue, startApplyWorker } from '../../dist/src/queue/site-queue.js';

const { queue, databaseUrl, site, takesMs, requestsPerSecond, timing } = JSON.parse(process.argv[2]);
const say = (text) => process.stdout.write(`${text}\n`);
const onError = ({ message }) => say(`error ${message}`);
const backend = await openQueueBackend({ queue, databaseUrl, installation: 'test', onError });
await startApplyWorker(backend, {
  site,
  queue: await openSiteQueue(backend, site),
  concurrency: 4,
  requestsPerSecond: requestsPerSecond ?? Number.POSITIVE_INFINITY,
  timing,
  process: async ({ key }) => {
    say(`took ${key}`);
    await pause(takesMs);
    say(`ended ${key}`);
  },
  onPoisoned: async ({ key }) => say(`poisoned ${key}`),
});
say('works');
