// Actions on many entries: all of them, the newest first, and one with its progress and what it left alone.
import type { z } from 'zod';
import type { bulkOutput } from '../../../operations/bulk-actions.ts';
import { describeDecision } from '../../../operations/rules.ts';
import { plural } from '../../../plan/plural.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { excerpt } from '../../../posting/xml-characters.ts';
import { pageAddress } from '../addresses.ts';
import { Csrf, Layout, mayReview, type Visit } from '../layout.tsx';
import { When } from '../when.tsx';

const STATES = { open: 'running', stopped: 'stopped', done: 'done' } as const;
type Bulk = z.output<typeof bulkOutput>;

const stateOf = ({ state, waits_for }: Bulk): string => (waits_for === null ? STATES[state] : 'waiting');

export const BulkActions = ({ visit, actions }: { visit: Visit; actions: readonly Bulk[] }) => (
  <Layout title="Actions on many entries" visit={visit} section="review">
    <p>
      <a href={visit.prefix + pageAddress.review()}>All groups</a>
    </p>
    {actions.length === 0 ? (
      <p>There are none yet.</p>
    ) : (
      <section class="scroll" tabindex={0} aria-label="Actions, the newest first">
        <table>
          <caption class="hint">The newest first</caption>
          <thead>
            <tr>
              <th scope="col" class="number">
                Action
              </th>
              <th scope="col">What</th>
              <th scope="col">By</th>
              <th scope="col">Started</th>
              <th scope="col">State</th>
              <th scope="col" class="number">
                Entries
              </th>
              <th scope="col" class="number">
                Done
              </th>
              <th scope="col" class="number">
                Left alone
              </th>
            </tr>
          </thead>
          <tbody>
            {actions.map((bulk) => (
              <tr>
                <th scope="row" class="number">
                  <a href={visit.prefix + pageAddress.bulkAction(bulk.bulk)}>{bulk.bulk}</a>
                </th>
                <td>{excerpt(describeDecision(bulk), 300)}</td>
                <td>{bulk.rule === null ? bulk.actor : `${bulk.actor}, by rule ${bulk.rule}`}</td>
                <td>
                  <When at={bulk.started_at} />
                </td>
                <td>{stateOf(bulk)}</td>
                <td class="number">{bulk.total}</td>
                <td class="number">{bulk.done}</td>
                <td class="number">{bulk.left_alone}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    )}
  </Layout>
);

export interface BulkProps {
  readonly visit: Visit;
  readonly bulk: Bulk;
  readonly leftAlone: readonly { readonly entry: number; readonly feed: FeedName; readonly why: string }[];
  /** Why it was not stopped or continued. */
  readonly refused?: string | undefined;
}

export const BulkProgress = ({ visit, bulk, leftAlone, refused }: BulkProps) => {
  const { prefix } = visit;
  const handled = bulk.done + bulk.left_alone;
  return (
    <Layout title={`Action ${bulk.bulk}: ${excerpt(describeDecision(bulk))}`} visit={visit} section="review">
      <p class="row">
        <a href={prefix + pageAddress.review()}>All groups</a>
        <a href={prefix + pageAddress.bulkActions()}>Actions on many entries</a>
      </p>
      {refused !== undefined && (
        <p role="alert" class="notice bad">
          {refused}
        </p>
      )}
      <section id="progress" data-live={bulk.state === 'open' ? 'true' : undefined} aria-labelledby="progress-heading">
        <h2 id="progress-heading">Progress</h2>
        <p class={bulk.state === 'done' ? 'notice good' : 'notice'}>
          <label for="handled">{`${stateOf(bulk)}: ${handled} of ${plural(bulk.total, 'entry', 'entries')}`}</label>
          <progress id="handled" value={String(handled)} max={String(Math.max(1, bulk.total))} />
        </p>
        {bulk.waits_for !== null && (
          <p class="notice">
            {`Waiting: ${excerpt(bulk.waits_for, 500)}`}
            <br />
            {bulk.unattended ? 'It continues by itself.' : 'It does not continue by itself.'}
          </p>
        )}
        <dl class="facts">
          <dt>Done</dt>
          <dd>{bulk.done}</dd>
          {bulk.still_rejected > 0 && (
            <>
              <dt>Of them still rejected</dt>
              <dd>
                {bulk.still_rejected}{' '}
                <a href={prefix + pageAddress.review({ kind: 'rejected' })}>Show what is rejected</a>
              </dd>
            </>
          )}
          <dt>Left alone</dt>
          <dd>{bulk.left_alone}</dd>
          <dt>Still to do</dt>
          <dd>{bulk.to_do}</dd>
          <dt>By</dt>
          <dd>
            {bulk.actor}
            {bulk.rule !== null && (
              <>
                {', by '}
                <a href={prefix + pageAddress.rules()}>{`rule ${bulk.rule}`}</a>
              </>
            )}
          </dd>
          <dt>Started</dt>
          <dd>
            <When at={bulk.started_at} />
          </dd>
          <dt>Last progress</dt>
          <dd>
            <When at={bulk.touched_at} />
          </dd>
        </dl>
        {bulk.reasons.length > 0 && (
          <>
            <h2 id="why">Why entries were left alone</h2>
            <ul>
              {bulk.reasons.map(({ message, count }) => (
                <li>{`${count}: ${excerpt(message, 300)}`}</li>
              ))}
            </ul>
            <h3 id="left-alone">{leftAlone.length < bulk.left_alone ? `${leftAlone.length} of them` : 'Which ones'}</h3>
            <ul>
              {leftAlone.map(({ entry, feed, why }) => (
                <li>
                  <a href={prefix + pageAddress.entry(entry)}>{`entry ${entry}`}</a>
                  {` of feed ${feed}: ${excerpt(why, 200)}`}
                </li>
              ))}
            </ul>
          </>
        )}
      </section>
      <div id="control" class="row" data-live={bulk.state === 'open' ? 'true' : undefined}>
        {mayReview(visit) && <Control visit={visit} bulk={bulk} />}
      </div>
    </Layout>
  );
};

/** An action that waits is continued at once by whichever process the visitor asks, unless another one carries it out by then. */
const Control = ({ visit, bulk }: Pick<BulkProps, 'visit' | 'bulk'>) => (
  <>
    {(bulk.state === 'stopped' || bulk.waits_for !== null) && (
      <form method="post" action={visit.prefix + pageAddress.continueBulkAction(bulk.bulk)}>
        <Csrf visit={visit} />
        <p>
          <button type="submit">Continue</button>
        </p>
      </form>
    )}
    {bulk.state === 'open' && (
      <form method="post" action={visit.prefix + pageAddress.stopBulkAction(bulk.bulk)}>
        <Csrf visit={visit} />
        <p>
          <button type="submit">Stop after the present batch</button>
        </p>
      </form>
    )}
  </>
);
