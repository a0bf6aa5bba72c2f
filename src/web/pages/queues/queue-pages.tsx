// The page of the queues: what waits to be sent, and how much of it the queue has.
import { Hono } from 'hono';
import { endsWithin } from '../../../flow/pause.ts';
import { countWorkers } from '../../../store/locks/processes.ts';
import { readGauges } from '../../../store/status/gauges.ts';
import type { WebEnv } from '../../web-env.ts';
import { type PageContext, showPage } from '../page.tsx';
import { QueuesPage } from './queues.tsx';

/** A queue that cannot be reached may never answer. */
const ANSWER_MS = 2_000;

export function queuePages({ app, control }: PageContext): Hono<WebEnv> {
  const pages = new Hono<WebEnv>();
  pages.get(
    '/queues',
    showPage(async ({ visit }) => {
      const counting = control.queueCounts().catch(() => undefined);
      const counts = (await endsWithin(counting, ANSWER_MS)) ? await counting : undefined;
      return (
        <QueuesPage
          visit={visit}
          kind={app.config.queue.kind}
          sites={[...app.config.sites.keys()]}
          counts={counts}
          changes={(await readGauges(app.db)).changes}
          workers={await countWorkers(app.db)}
        />
      );
    }),
  );
  return pages;
}
