// The thread that splits feeds belongs to one version of the program.
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import type { SplittingWorkerData } from '../../src/feed/batch/splitting-thread.ts';

it('refuses to work for a process that was started before another version was installed', async () => {
  const script = join(packageRoot, 'dist/bundled/splitting-thread.js');
  const workerData: SplittingWorkerData = {
    version: 'former',
    options: { format: 'json', recordPath: 'jobs', totalPaths: [], maxRecordBytes: 1_000 },
    prefetchMapping: undefined,
  };
  const [error] = await once(new Worker(script, { workerData }), 'error');
  expect(error).toMatchObject({ message: expect.stringContaining('another version of jobmirror was installed') });
});
