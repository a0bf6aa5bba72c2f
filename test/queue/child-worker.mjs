// A worker process for tests to kill: takes queued postings, prints them to standard output, and never finishes them.
// Arguments: queue, database URL, site. Runs the compiled code, as Node 20 cannot run TypeScript.
import { openQueueBackend } from '../../dist/src/queue/backend.js';
import { openSiteQueue, startApplyWorker } from '../../dist/src/queue/site-queue.js';

const [queue, databaseUrl, site] = process.argv.slice(2);
const backend = await openQueueBackend({ queue, databaseUrl, installation: 'test', onError: console.error });
await startApplyWorker(backend, {
  site,
  queue: await openSiteQueue(backend, site),
  concurrency: 2,
  requestsPerSecond: Number.POSITIVE_INFINITY,
  process: ({ key }) => {
    console.log(`took ${key}`);
    return new Promise(() => undefined);
  },
  onPoisoned: async () => undefined,
});
