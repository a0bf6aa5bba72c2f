// Held deletes: which jobs would go, why they are held, and the decisions about them.
import { type DeleteGuard, GUARD_WINDOW_HOURS } from '../../../plan/delete-guard.ts';
import { textOf } from '../../../plan/message.ts';
import { plural } from '../../../plan/plural.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import type { HeldPage } from '../../../review/held-deletes.ts';
import { tokenOfOne } from '../../../review/seen.ts';
import type { HeldDelete, HeldFor } from '../../../store/review/held-deletes.ts';
import type { HeldGroup } from '../../../store/review/review-entries.ts';
import { pageAddress } from '../addresses.ts';
import { Csrf, Layout, mayReview, type Visit } from '../layout.tsx';
import { AnswerFirst } from '../rekey/rekey.tsx';
import { writeChosen } from '../review/read-decision.ts';
import { When } from '../when.tsx';

export const HeldFeeds = ({ visit, groups }: { visit: Visit; groups: readonly HeldGroup[] }) => (
  <Layout title="Held deletes" visit={visit} section="review">
    {groups.length === 0 ? (
      <p class="notice good">No delete is held.</p>
    ) : (
      <section class="scroll" tabindex={0} aria-label="Feeds with held deletes">
        <table>
          <caption class="quiet">Feeds with held deletes</caption>
          <thead>
            <tr>
              <th scope="col">Feed</th>
              <th scope="col" class="number">
                Held
              </th>
              <th scope="col">Since</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            {groups.map(({ feed, count, since, reason }) => (
              <tr>
                <th scope="row">
                  <a href={visit.prefix + pageAddress.held(feed)}>{feed}</a>
                </th>
                <td class="number">{count}</td>
                <td>
                  <When at={since} />
                </td>
                <td>{textOf(reason)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    )}
  </Layout>
);

export interface HeldProps extends Omit<HeldPage, 'next'> {
  readonly visit: Visit;
  readonly feed: FeedName;
  /** `undefined`: the feed is no longer configured. */
  readonly guard: DeleteGuard | undefined;
  /** Where the page begins; `undefined`: it is the first one. */
  readonly cursor: string | undefined;
  /** Whether all of the page are chosen. */
  readonly isChosen: boolean;
  readonly next: string | undefined;
}

export const Held = (props: HeldProps) => {
  const { visit, feed, count, deletes, inQuestion, barred } = props;
  const { prefix } = visit;
  return (
    <Layout title={`Held deletes of feed ${feed}`} visit={visit} section="review">
      <p class="row">
        <a href={prefix + pageAddress.held()}>All feeds</a>
        <a href={prefix + pageAddress.entries({ feed, kind: 'held', discarded: 'true' })}>Jobs that were kept</a>
      </p>
      {count === 0 && deletes.length === 0 ? (
        <p class="notice good">No delete of this feed is held.</p>
      ) : (
        <>
          {inQuestion && <AnswerFirst visit={visit} feed={feed} />}
          <p>
            <strong>{count === 1 ? '1 job would be deleted' : `${count} jobs would be deleted`}</strong>: their postings
            are no longer in the feed. Nothing is deleted until a person approves it.
          </p>
          {!inQuestion &&
            barred.map((why) => (
              <p class="notice">{`${props.approvable === 0 ? "They can't" : 'Not all of them can'} be approved now: ${why}.`}</p>
            ))}
          {props.reasons.map((reason) => (
            <Why {...props} {...reason} />
          ))}
          <h2 id="deletes">What would be deleted</h2>
          {mayReview(visit) && !inQuestion ? (
            <>
              <form method="post" action={prefix + pageAddress.held()} id="decide">
                <Csrf visit={visit} />
                <input type="hidden" name="feed" value={feed} />
                <Decisions {...props} />
                <Deletes {...props} checkable />
                <p class="row">
                  <DecideChosen approvable={props.approvable} />
                </p>
              </form>
              <ApproveAll {...props} />
            </>
          ) : (
            <Deletes {...props} checkable={false} />
          )}
          <Pages {...props} />
        </>
      )}
    </Layout>
  );
};

const TITLES = {
  guard: 'Held by the delete guard',
  unreadable: 'Held because records could not be read',
  rekey: 'Held because the keys of the feed seem to have changed',
  restored: 'Held until the next complete pull of the feed',
} as const;

const Why = ({ visit, feed, guard, hold, count, reason }: HeldProps & HeldFor) => (
  <section class="panel" aria-label={TITLES[hold]}>
    <p>
      <strong>{`${TITLES[hold]}: ${plural(count, 'delete')}.`}</strong>
    </p>
    <p>{textOf(reason)}</p>
    {hold === 'guard' && (
      <p>
        {guard !== undefined &&
          `The limit of this feed: more than ${plural(guard.count, 'delete')} and more than ${guard.percent} % of its live jobs within ${GUARD_WINDOW_HOURS} hours. `}
        They stay held until a person decides, or the posting comes back.
      </p>
    )}
    {hold === 'unreadable' && (
      <p>
        {'Each of these records may be one of the postings below. '}
        <a href={visit.prefix + pageAddress.entries({ feed, kind: 'unreadable' })}>
          Look at the records that could not be read
        </a>
        {' and have them fixed at the source: then the next pull checks these deletes again.'}
      </p>
    )}
    {hold === 'restored' && (
      <p>The next complete pull of the feed decides again: start one, rather than approve them.</p>
    )}
  </section>
);

const Deletes = ({
  visit,
  feed,
  deletes,
  reasons,
  isChosen,
  checkable,
}: HeldProps & { readonly checkable: boolean }) => (
  <section class="scroll" tabindex={0} aria-labelledby="deletes">
    <table aria-labelledby="deletes">
      <thead>
        <tr>
          {checkable && <th scope="col">Choose</th>}
          <th scope="col">Posting</th>
          <th scope="col">Title</th>
          <th scope="col">Job</th>
          {reasons.length > 1 && <th scope="col">Held for</th>}
          <th scope="col">Since</th>
        </tr>
      </thead>
      <tbody>
        {deletes.map((held) => (
          <tr>
            {checkable && (
              <td>
                <input
                  type="checkbox"
                  name="entry"
                  value={writeChosen(held.id, tokenOfOne(held))}
                  aria-label={`Choose ${held.key}`}
                  checked={isChosen}
                  autocomplete="off"
                />
              </td>
            )}
            <th scope="row">
              <a href={visit.prefix + pageAddress.posting(feed, held.key)}>{held.key}</a>
            </th>
            <td>{held.title ?? <span class="quiet">not known</span>}</td>
            <td>
              <Job {...held} />
            </td>
            {reasons.length > 1 && <td>{HOLD_WORDS[held.hold]}</td>}
            <td>
              <When at={held.since} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);

const HOLD_WORDS = {
  guard: 'delete guard',
  unreadable: 'unreadable records',
  rekey: 'changed keys',
  restored: 'restored database',
} as const;

/** Only web addresses become links: they come from the site. */
const Job = ({ siteJobId, url }: Pick<HeldDelete, 'siteJobId' | 'url'>) => {
  if (siteJobId === null) return <span class="quiet">none yet</span>;
  return url !== null && /^https?:\/\//i.test(url) ? (
    <a href={url} rel="noreferrer">
      {siteJobId}
    </a>
  ) : (
    <span>{siteJobId}</span>
  );
};

const Decisions = ({ visit, feed, count, approvable, deletes, cursor, isChosen }: HeldProps) => (
  <section class="panel" aria-label="The chosen postings">
    <p>
      <strong>The chosen postings</strong>
    </p>
    <p class="hint">
      Keep: the job stays on the site and its delete is discarded. Nothing is sent for it while its posting is missing;
      if the posting comes back, it is mirrored again. You can reopen it.
    </p>
    <p>
      <label for="reason">Reason for keeping, for the record</label>
      <input id="reason" name="reason" maxlength={1_000} autocomplete="off" />
    </p>
    <p class="row">
      <DecideChosen approvable={approvable} />
      {isChosen ? (
        <a href={`${visit.prefix}${pageAddress.held(feed, cursor)}#decide`}>Choose none</a>
      ) : (
        <a href={`${visit.prefix}${pageAddress.held(feed, cursor, 'all')}#decide`}>
          {`Choose all ${deletes.length} shown`}
        </a>
      )}
    </p>
    <p class="row">
      <strong>All of them</strong>
      <a class="button" href={visit.prefix + pageAddress.confirmAction('discard', { feed, kind: 'held' })}>
        {`Keep all ${count} …`}
      </a>
      {approvable > 0 && (
        <a class="button" href={visit.prefix + pageAddress.confirmAction('approve', { feed, kind: 'held' })}>
          {`Delete all ${approvable} …`}
        </a>
      )}
    </p>
  </section>
);

const DecideChosen = ({ approvable }: Pick<HeldProps, 'approvable'>) => (
  <>
    <button type="submit" name="decision" value="keep">
      Keep the chosen
    </button>
    {approvable > 0 && (
      <button type="submit" name="decision" value="approve" class="danger">
        Delete the chosen
      </button>
    )}
  </>
);

const ApproveAll = ({ visit, feed, approvable: count, seen, barred }: HeldProps) => {
  const { prefix } = visit;
  if (count === 0) return null;
  if (seen === undefined)
    return (
      <p>
        <a href={prefix + pageAddress.confirmAction('approve', { feed, kind: 'held' })}>{`Approve all ${count} …`}</a>
      </p>
    );
  return (
    <form method="post" action={prefix + pageAddress.held()} class="panel" aria-label="All held deletes">
      <Csrf visit={visit} />
      <input type="hidden" name="feed" value={feed} />
      <input type="hidden" name="decision" value="approve-all" />
      <input type="hidden" name="expected" value={String(count)} />
      <input type="hidden" name="seen" value={seen} />
      <p>
        <strong>{`All ${plural(count, 'held delete')} of this feed${barred.length === 0 ? '' : ' that can be approved'}`}</strong>
      </p>
      <p class="hint">If others are held by then, nothing is approved.</p>
      <p>
        <label>
          <input type="checkbox" name="confirmed" value="true" required autocomplete="off" />{' '}
          {`Yes, delete ${plural(count, 'job')} from the site`}
        </label>
      </p>
      <p>
        <button type="submit" class="danger">{`Delete all ${count}`}</button>
      </p>
    </form>
  );
};

const Pages = ({ visit, feed, cursor, next, deletes }: HeldProps) =>
  cursor === undefined && next === undefined ? null : (
    <nav aria-label="Pages of held deletes" class="row">
      {cursor !== undefined && <a href={visit.prefix + pageAddress.held(feed)}>First page</a>}
      {next !== undefined && (
        <a href={visit.prefix + pageAddress.held(feed, next)} rel="next">
          Next page
        </a>
      )}
      <span class="quiet">{`${deletes.length} on this page`}</span>
    </nav>
  );
