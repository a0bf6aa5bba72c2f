// Changed keys of a feed: each new posting beside the missing one that it may be, and what to do about them.
import { textOf } from '../../../plan/message.ts';
import { plural } from '../../../plan/plural.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import type { ShownPair } from '../../../review/rekey/suspected-pairs.ts';
import type { RekeyedFeed } from '../../../store/change/rekey/read-rekey.ts';
import { PAIR_KINDS } from '../../../store/change/rekey/rekey-line.ts';
import { encodeCursor } from '../../api/cursor.ts';
import { pageAddress } from '../addresses.ts';
import { ShownDifference } from '../difference.tsx';
import { Csrf, Layout, mayReview, type Visit } from '../layout.tsx';
import { When } from '../when.tsx';
import { AllSure, AnotherPair, NotRekey } from './rekey-forms.tsx';
import type { RekeyProps, SuspectedProps } from './rekey-props.ts';

export const RekeyedFeeds = ({ visit, feeds }: { visit: Visit; feeds: readonly RekeyedFeed[] }) => (
  <Layout title="Changed keys" visit={visit} section="review">
    {feeds.length === 0 ? (
      <p class="notice good">The keys of no feed seem to have changed.</p>
    ) : (
      <>
        <p>
          The keys of these feeds seem to have changed. Nothing is created or deleted for them until a person decides.
        </p>
        <ul>
          {feeds.map(({ feed, since }) => (
            <li>
              <a href={visit.prefix + pageAddress.rekey(feed)}>{feed}</a>
              {', since '}
              <When at={since} />
            </li>
          ))}
        </ul>
      </>
    )}
  </Layout>
);

export const RekeyPage = (props: RekeyProps) => {
  const { visit, feed, pairs, alert } = props;
  const { prefix } = visit;
  return (
    <Layout title={`Changed keys of feed ${feed}`} visit={visit} section="review">
      <p class="row">
        <a href={prefix + pageAddress.feed(feed)}>{`Feed ${feed}`}</a>
        <a href={prefix + pageAddress.held(feed)}>Held deletes</a>
        <a href={prefix + pageAddress.activity({ feed })}>Who decided what</a>
      </p>
      {alert !== undefined && (
        <p role="alert" class="notice bad">
          {`${alert.charAt(0).toUpperCase()}${alert.slice(1)}`}
        </p>
      )}
      {pairs === undefined ? (
        <p class="notice good">The keys of this feed do not seem to have changed. Nothing waits for a decision.</p>
      ) : (
        <Suspected {...props} pairs={pairs} />
      )}
    </Layout>
  );
};

const TABS = {
  sure: 'sure pair',
  unsure: 'unsure pair',
  new: 'other new posting',
  missing: 'other missing posting',
} as const;

const Suspected = (props: SuspectedProps) => {
  const { visit, feed, pairs } = props;
  const { show } = pairs;
  const { prefix } = visit;
  return (
    <>
      <p class="notice">{`${textOf(pairs.note)}.`}</p>
      {!pairs.current && (
        <p class="notice">
          These postings have changed since they were compared, and could not be compared again: the database is
          read-only or busy. A decision about them is refused until they are compared.
        </p>
      )}
      <p>
        If a new posting is a missing one under another key, it keeps that one's job, and what differs is sent as an
        update, unless the feed only creates jobs. Otherwise the new posting gets a job of its own, and the job of the
        missing one is deleted.
      </p>
      {mayReview(visit) && <AllSure {...props} />}
      <h2 id="pairs">Which posting is which</h2>
      <ul class="tabs" aria-label="Kinds of postings">
        {PAIR_KINDS.map((kind) => (
          <li>
            <a
              href={`${prefix}${pageAddress.rekey(feed, { show: kind })}#pairs`}
              aria-current={kind === show ? 'true' : undefined}
            >
              {plural(pairs.counts[kind], TABS[kind])}
            </a>
          </li>
        ))}
      </ul>
      {pairs.items.length === 0 ? <p>None.</p> : <Lines {...props} />}
      <Pages {...props} />
      {mayReview(visit) && (
        <>
          <AnotherPair {...props} />
          <NotRekey {...props} />
        </>
      )}
    </>
  );
};

const Lines = (props: SuspectedProps) => {
  const { visit, feed, pairs } = props;
  const { show } = pairs;
  const hasPairs = show === 'sure' || show === 'unsure';
  return (
    <section class="scroll" tabindex={0} aria-labelledby="pairs">
      <table class="stacked" aria-labelledby="pairs">
        <thead>
          <tr>
            {show !== 'new' && <th scope="col">Missing posting</th>}
            {show !== 'missing' && <th scope="col">New posting</th>}
            <th scope="col">Evidence</th>
            {hasPairs && <th scope="col">Before → now</th>}
            {hasPairs && mayReview(visit) && <th scope="col">Decide</th>}
          </tr>
        </thead>
        <tbody>
          {pairs.items.map((pair) => (
            <tr>
              {pair.oldKey !== undefined && (
                <th scope="row" data-column="Missing posting">
                  <a href={visit.prefix + pageAddress.posting(feed, pair.oldKey)}>{pair.oldKey}</a>
                  {pair.key === undefined && pair.title !== undefined && <span class="detail">{pair.title}</span>}
                  <span class="detail">
                    {pair.siteJobId === undefined ? 'its job has ended' : `job ${pair.siteJobId}`}
                  </span>
                </th>
              )}
              {pair.key !== undefined && (
                <th scope={pair.oldKey === undefined ? 'row' : undefined} data-column="New posting">
                  <a href={visit.prefix + pageAddress.posting(feed, pair.key)}>{pair.key}</a>
                  {pair.title !== undefined && <span class="detail">{pair.title}</span>}
                  {pair.secondJobId !== undefined && (
                    <span class="detail">{`job ${pair.secondJobId}, which is deleted`}</span>
                  )}
                </th>
              )}
              <td data-column="Evidence">
                <span class={`status ${pair.verdict === 'sure' ? 'good' : 'warn'}`}>{pair.verdict}</span>
                <span class="detail">{pair.reasons.join(', ')}</span>
              </td>
              {hasPairs && (
                <td data-column="Before → now">
                  <Differences {...pair} />
                </td>
              )}
              {hasPairs && mayReview(visit) && (
                <td>
                  <OnePair visit={visit} feed={feed} pair={pair} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

const Differences = ({ differences, moreFields }: ShownPair) => (
  <>
    {differences === undefined && <span class="quiet">not known</span>}
    {differences?.length === 0 && <span class="quiet">nothing differs</span>}
    {differences?.map((difference) => (
      <ShownDifference {...difference} />
    ))}
    {moreFields > 0 && <span class="quiet">and {moreFields} more fields</span>}
  </>
);

const OnePair = ({ visit, feed, pair }: { visit: Visit; feed: FeedName; pair: ShownPair }) => (
  <form method="post" action={visit.prefix + pageAddress.rekey()}>
    <Csrf visit={visit} />
    <input type="hidden" name="feed" value={feed} />
    <input type="hidden" name="decision" value="pair" />
    <input type="hidden" name="key" value={pair.key} />
    <input type="hidden" name="was" value={pair.oldKey} />
    <input type="hidden" name="version" value={pair.version} />
    <button type="submit" aria-label={`Keep this job: ${pair.oldKey} is ${pair.key} now`}>
      Keep this job
    </button>
  </form>
);

const Pages = ({ visit, feed, pairs: { show, items, isFirst, next } }: SuspectedProps) =>
  isFirst && next === undefined ? null : (
    <nav aria-label="Pages of postings" class="row">
      {!isFirst && <a href={visit.prefix + pageAddress.rekey(feed, { show })}>First page</a>}
      {next !== undefined && (
        <a href={visit.prefix + pageAddress.rekey(feed, { show, cursor: encodeCursor(next) ?? undefined })} rel="next">
          Next page
        </a>
      )}
      <span class="quiet">{`${items.length} on this page`}</span>
    </nav>
  );
