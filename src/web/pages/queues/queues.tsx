// What waits to be sent to each site: in the backlog, and in the queue. Only to read, as the queue fills itself from the backlog.
import { plural } from '../../../plan/plural.ts';
import type { SiteName } from '../../../posting/identifiers.ts';
import type { QueueCounts } from '../../../queue/site-queue.ts';
import type { ChangeGauge } from '../../../store/status/gauges.ts';
import { formatSpan } from '../../../telemetry/times.ts';
import { pageAddress } from '../addresses.ts';
import { Layout, type Visit } from '../layout.tsx';

export interface QueuesPageProps {
  readonly visit: Visit;
  readonly kind: 'database' | 'redis';
  readonly sites: readonly SiteName[];
  /** `undefined`: the queue did not answer. */
  readonly counts: ReadonlyMap<SiteName, QueueCounts> | undefined;
  readonly changes: readonly ChangeGauge[];
  readonly workers: number;
}

const WAITING: readonly ChangeGauge['state'][] = ['ready', 'sending'];

export const QueuesPage = ({ visit, kind, sites, counts, changes, workers }: QueuesPageProps) => {
  const { prefix } = visit;
  const waiting = changes.filter(({ state }) => WAITING.includes(state));
  return (
    <Layout title="Queues" visit={visit} section="queues">
      <div id="queues" data-live="true">
        <p>
          {
            'What has to be sent is the backlog in Postgres. A process takes a bounded part of it at a time to the queue, '
          }
          {kind === 'redis' ? 'which is in Redis' : 'which is in the same Postgres'}
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
        {counts === undefined && <p class="notice bad">The queue does not answer. Sending goes on once it does.</p>}
        {counts?.size === 0 && <p>This process does not send yet, so it has no queue open.</p>}
        {counts !== undefined && counts.size > 0 && (
          <table aria-labelledby="of-sites">
            <thead>
              <tr>
                <th scope="col">Site</th>
                <th scope="col" class="number">
                  Waiting
                </th>
                <th scope="col" class="number">
                  With a worker
                </th>
              </tr>
            </thead>
            <tbody>
              {sites.map((site) => (
                <tr>
                  <th scope="row">
                    <a href={prefix + pageAddress.site(site)}>{site}</a>
                  </th>
                  <td class="number">{counts.get(site)?.waiting ?? '–'}</td>
                  <td class="number">{counts.get(site)?.active ?? '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
        <h2 id="backlog">Backlog</h2>
        {waiting.length === 0 ? (
          <p>Nothing waits to be sent.</p>
        ) : (
          <section class="scroll" tabindex={0} aria-labelledby="backlog">
            <table>
              <thead>
                <tr>
                  <th scope="col">Feed</th>
                  <th scope="col">Site</th>
                  <th scope="col">State</th>
                  <th scope="col" class="number">
                    Changes
                  </th>
                  <th scope="col">Oldest</th>
                </tr>
              </thead>
              <tbody>
                {waiting.map(({ feed, site, state, n, age }) => (
                  <tr>
                    <th scope="row">
                      <a href={prefix + pageAddress.feed(feed)}>{feed}</a>
                    </th>
                    <td>
                      <a href={prefix + pageAddress.site(site)}>{site}</a>
                    </td>
                    <td>{state === 'ready' ? 'to be sent' : 'in flight'}</td>
                    <td class="number">{n}</td>
                    <td>{formatSpan(age * 1000)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        )}
        <p class="hint">
          {`${plural(
            waiting.reduce((sum, { n }) => sum + n, 0),
            'change',
          )} in all. Changes that wait for a person are in `}
          <a href={prefix + pageAddress.review()}>Review</a>.
        </p>
      </div>
    </Layout>
  );
};
