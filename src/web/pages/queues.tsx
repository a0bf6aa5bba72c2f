// The page of what waits to be sent to each site: in the backlog, and in the queue. Only to read, as the queue fills itself from the backlog.

import type { Hono } from 'hono';
import { type Queues, showQueues } from '../../operations/queues.ts';
import { plural } from '../../plan/message.ts';
import type { SiteName } from '../../posting/identifiers.ts';
import { formatSpan } from '../../telemetry/times.ts';
import type { WebEnv } from '../web-env.ts';
import { linkTo, pageAddress } from './parts/addresses.ts';
import { Layout } from './parts/layout.tsx';
import { askedBy, type PageContext, showPage } from './parts/page.tsx';
import { StackedTable } from './parts/parts.tsx';

export function queuePages(pages: Hono<WebEnv>, context: PageContext): void {
  pages.get(
    '/queues',
    showPage(async ({ actor }) => (
      <QueuesPage
        sites={[...context.app.config.sites.keys()]}
        queues={await showQueues.run({}, askedBy(context, actor))}
      />
    )),
  );
}

interface QueuesPageProps {
  /** As the configuration has them. */
  readonly sites: readonly SiteName[];
  readonly queues: Queues;
}

const QueuesPage = ({ sites, queues: { queue, workers, sites: counted, backlog } }: QueuesPageProps) => {
  const countsOf = (site: SiteName) => counted?.find((each) => each.site === site);
  return (
    <Layout title="Queues" section="queues" about="all">
      <div id="queues" data-live="true">
        <p>
          {
            'What has to be sent is the backlog in Postgres. A process takes a bounded part of it at a time to the queue, '
          }
          {queue === 'redis' ? 'which is in Redis' : 'which is in the same Postgres'}
          {': an emptied queue is filled again, and nothing is lost with it.'}
        </p>
        <p>
          {workers === 0 ? (
            <span class="status bad">No process sends.</span>
          ) : (
            <span class="status good">{workers === 1 ? '1 process sends.' : `${workers} processes send.`}</span>
          )}
        </p>
        <h2 id="of-sites">Queues</h2>
        {counted === null && <p class="notice bad">The queue does not answer. Sending goes on once it does.</p>}
        {counted?.length === 0 && <p>This process does not send yet, so it has no queue open.</p>}
        {counted !== null && counted.length > 0 && (
          <StackedTable
            label={{ heading: 'of-sites' }}
            columns={[
              {
                head: 'Site',
                namesRow: true,
                cell: (site) => <a href={linkTo(pageAddress.site(site))}>{site}</a>,
              },
              { head: 'Waiting', number: true, inline: true, cell: (site) => countsOf(site)?.waiting ?? '–' },
              { head: 'With a worker', number: true, inline: true, cell: (site) => countsOf(site)?.active ?? '–' },
            ]}
            rows={sites}
          />
        )}
        <h2 id="backlog">Backlog</h2>
        <StackedTable
          label={{ heading: 'backlog' }}
          columns={[
            {
              head: 'Feed',
              namesRow: true,
              cell: ({ feed }) => <a href={linkTo(pageAddress.feed(feed))}>{feed}</a>,
            },
            {
              head: 'Site',
              inline: true,
              cell: ({ site }) => <a href={linkTo(pageAddress.site(site))}>{site}</a>,
            },
            {
              head: 'State',
              inline: true,
              cell: ({ state }) => (state === 'ready' ? 'to be sent' : 'in flight'),
            },
            { head: 'Changes', number: true, inline: true, cell: ({ changes }) => changes },
            { head: 'Oldest', inline: true, cell: (each) => formatSpan(each.oldest_age_seconds * 1000) },
          ]}
          rows={backlog}
          none={<p>Nothing waits to be sent.</p>}
        />
        <p class="hint">
          {`${plural(
            backlog.reduce((sum, { changes }) => sum + changes, 0),
            'change',
          )} in all. Changes that wait for a person are in `}
          <a href={linkTo(pageAddress.review())}>Review</a>.
        </p>
      </div>
    </Layout>
  );
};
