// What waits to be sent to each site: in the backlog, and in the queue.
import { z } from 'zod';
import { endsWithin } from '../flow/pause.ts';
import { countWorkers } from '../store/locks/processes.ts';
import { readGauges } from '../store/status/gauges.ts';
import { operation } from './operation.ts';
import { count, feedNameOutput, siteNameOutput } from './scalars.ts';

/** A queue that cannot be reached may never answer. */
const ANSWER_MS = 2_000;

export const showQueues = operation({
  id: 'showQueues',
  path: '/queues',
  summary: 'What waits to be sent to each site: in the backlog, and in the queue',
  scope: 'read',
  input: z.strictObject({}),
  output: z
    .strictObject({
      queue: z.enum(['database', 'redis']).describe('Where the queue is.'),
      workers: count.describe('Processes that send.'),
      sites: z
        .array(
          z.strictObject({
            site: siteNameOutput,
            waiting: count.describe('Not yet taken by a worker.'),
            active: count.describe('With a worker.'),
          }),
        )
        .nullable()
        .describe('What the queue of each site has, if this process sends; `null`: the queue does not answer.'),
      backlog: z
        .array(
          z.strictObject({
            feed: feedNameOutput,
            site: siteNameOutput,
            state: z.enum(['ready', 'sending']),
            changes: count,
            oldest_age_seconds: count,
          }),
        )
        .describe('What has to be sent, of which the queue holds only the beginning.'),
    })
    .meta({ title: 'Queues' }),
  async run(_input, { app: { config, db }, control }) {
    const counting = control.queueCounts().catch(() => undefined);
    const counts = (await endsWithin(counting, ANSWER_MS)) ? await counting : undefined;
    const { changes } = await readGauges(db);
    return {
      queue: config.queue.kind,
      workers: await countWorkers(db),
      sites: counts === undefined ? null : [...counts].map(([site, of]) => ({ site, ...of })),
      backlog: changes.flatMap(({ feed, site, state, n, age }) =>
        state === 'ready' || state === 'sending'
          ? [{ feed, site, state, changes: n, oldest_age_seconds: Math.floor(age) }]
          : [],
      ),
    };
  },
});

export type Queues = z.output<(typeof showQueues)['output']>;
