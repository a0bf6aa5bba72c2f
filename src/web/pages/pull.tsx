// One pull: its sums, whether the feed was complete and why not, what it changed on the site, and how to undo it.
import type { GoneCounts, SeenCounts } from '../../plan/accounting.ts';
import { type Advice, adviceOf, type Message, noticeOf, reword, tell, type WriteAction } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import type { PulledChanges, PullSums } from '../../review/pulled-changes.ts';
import { PULL_EFFECTS, type PullEffect, type PullRow } from '../../store/pull/pull-history.ts';
import { formatBytes } from '../../telemetry/print.ts';
import { formatSpan } from '../../telemetry/times.ts';
import { linkTo, mayReview, pageAddress } from './parts/addresses.ts';
import { Layout } from './parts/layout.tsx';
import {
  Fact,
  NoticeText,
  Pager,
  PullStatusLabel,
  ShownDifference,
  StackedTable,
  sentence,
  Tabs,
  When,
} from './parts/parts.tsx';

export interface PullPageProps {
  readonly sums: PullSums;
  readonly show: PullEffect;
  readonly changes: PulledChanges;
  readonly after: string | undefined;
  /** `undefined`: it can be undone. */
  readonly whyNotUndo: Message | undefined;
  /** The undo of this pull, if there is one. */
  readonly undone: number | undefined;
  readonly write: WriteAction;
}

export const PullPage = ({ sums, show, changes, after, whyNotUndo, undone, write }: PullPageProps) => {
  const { pull, fault } = sums;
  const isRunning = pull.status === 'running';
  return (
    <Layout title={`Pull ${pull.id}`} section="pulls" about={pull}>
      <div id="pull" data-live={isRunning ? 'true' : undefined}>
        <p class="row">
          <PullStatusLabel pull={pull} />
          <span>
            {'of '}
            <a href={linkTo(pageAddress.feed(pull.feed))}>{pull.feed}</a>
            {' to '}
            <a href={linkTo(pageAddress.site(pull.site))}>{pull.site}</a>
          </span>
        </p>
        {pull.undoes !== undefined && (
          <p class="notice">
            {'This is the undo of '}
            <a href={linkTo(pageAddress.pull(pull.undoes))}>pull {pull.undoes}</a>.
          </p>
        )}
        {pull.notes.map((note) => (
          <p class={`notice ${pull.status === 'failed' ? 'bad' : ''}`}>
            <NoticeText notice={noticeOf(write, note)} />
          </p>
        ))}
        {fault !== undefined && <p class="notice bad">{fault}</p>}
        <dl class="facts">
          <Fact name="Started">
            <When at={pull.startedAt} />
          </Fact>
          <Fact name="Read completely">
            {pull.committedAt === undefined ? (
              isRunning ? (
                'it is being read'
              ) : (
                'no, nothing of it was saved'
              )
            ) : (
              <When at={pull.committedAt} />
            )}
          </Fact>
          <Fact name={isRunning ? 'Sending' : 'Ended'}>
            {pull.finishedAt === undefined ? 'it runs' : <When at={pull.finishedAt} />}
          </Fact>
          <Fact name="Took">{pull.durationMs !== undefined && tookWords(pull.durationMs)}</Fact>
          <Fact name="Read">{formatBytes(pull.bytes)}</Fact>
          <Fact name="Requests">{pull.requests}</Fact>
          {pull.takenOver !== undefined && (
            <Fact name="Goes on as">
              <a href={linkTo(pageAddress.pull(pull.takenOver.by))}>pull {pull.takenOver.by}</a>, which has what this
              one left open; the sums below are of that moment
            </Fact>
          )}
        </dl>
        {pull.committedAt !== undefined && (
          <>
            <SeenSum feed={pull.feed} seen={sums.seen} expired={pull.expired} />
            {/* An undo reads no feed, so that nothing is missing from it. */}
            {(sums.gone !== undefined || pull.undoes === undefined) && <h2>What was gone</h2>}
            {sums.gone !== undefined && (
              <>
                {pull.weak === undefined ? null : <p class="notice">{pull.weak}</p>}
                <GoneSum feed={pull.feed} gone={sums.gone} />
              </>
            )}
            {sums.gone === undefined && pull.undoes === undefined && (
              <>
                <p class="notice">
                  The feed is not proven complete, so no posting counts as gone and nothing is deleted.
                </p>
                <ul>
                  {pull.shortfalls.map((shortfall) => (
                    <li>{tell(shortfall, write)}</li>
                  ))}
                </ul>
              </>
            )}
          </>
        )}
        <h2 id="changes">What it changed on the site</h2>
        <Tabs
          label="Kinds of changes"
          of={PULL_EFFECTS}
          shown={show}
          href={(effect) => linkTo(`${pageAddress.pull(pull.id, { show: effect })}#changes`)}
          words={(effect) => `${pull[effect]} ${effect}`}
        />
        <Changes pull={pull} show={show} count={pull[show]} changes={changes} after={after} />
      </div>
      <div id="undo" data-live={isRunning ? 'true' : undefined}>
        <h2>Undo</h2>
        {pull.committedAt === undefined ? (
          <p>{`It has changed nothing${isRunning ? ' yet' : ''}, so there is nothing to undo.`}</p>
        ) : whyNotUndo === undefined ? (
          <>
            {mayReview() && (
              <p>
                <a class="button" href={linkTo(pageAddress.undoPull(pull.id))}>
                  Undo this pull …
                </a>
              </p>
            )}
            <p class="hint">
              {'The next page shows what the site would get back, and asks before anything is done. So does '}
              <code>{write({ kind: 'undo_pull', pull: pull.id })}</code>.
            </p>
          </>
        ) : undone !== undefined ? (
          <Undone undone={undone} advice={adviceOf(whyNotUndo)} />
        ) : (
          <p>
            <NoticeText notice={noticeOf(write, reword(whyNotUndo, sentence))} />
          </p>
        )}
      </div>
    </Layout>
  );
};

export const tookWords = (ms: number): string => (ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : formatSpan(ms));

/** The undo may have been undone in turn: then the last of them is what can be undone. */
const Undone = (props: { undone: number; advice: readonly Advice[] }) => {
  const { undone, advice } = props;
  return (
    <p>
      {'It was undone by '}
      <a href={linkTo(pageAddress.pull(undone))}>pull {undone}</a>.
      {advice.map(
        ({ words = '', action }) =>
          action?.kind === 'undo_pull' && (
            <>
              {action.pull === undone ? ' ' : ' That was undone, too. '}
              {`${sentence(words)}, undo `}
              <a href={linkTo(pageAddress.pull(action.pull))}>{`pull ${action.pull}`}</a>.
            </>
          ),
      )}
    </p>
  );
};

// The postings whose jobs a pull created, updated or deleted.

export interface ChangesProps {
  readonly pull: PullRow;
  readonly show: PullEffect;
  /** How many there were. */
  readonly count: number;
  readonly changes: PulledChanges;
  readonly after: string | undefined;
}

const Changes = ({ pull, show, count, changes: { items, next }, after }: ChangesProps) => {
  const page = (key?: string) => `${pageAddress.pull(pull.id, { show, after: key })}#changes`;
  if (items.length === 0 && after === undefined) return <p>{whyNone(count, show)}</p>;
  return (
    <>
      <StackedTable
        label={`Postings that were ${show}`}
        columns={[
          {
            head: 'Posting',
            namesRow: true,
            cell: ({ key, title }) => (
              <>
                <a href={linkTo(pageAddress.posting(pull.feed, key))}>{key}</a>
                {title !== undefined && <span class="detail">{title}</span>}
              </>
            ),
          },
          { head: 'At', cell: ({ at }) => <When at={at} /> },
          show === 'updated' && {
            head: 'Before → now',
            cell: ({ differences, moreFields }) => (
              <>
                {differences === undefined && <span class="quiet">what was before is not known</span>}
                {differences?.length === 0 && <span class="quiet">the site has the former values again</span>}
                {differences?.map((difference) => (
                  <ShownDifference {...difference} />
                ))}
                {moreFields > 0 && <span class="quiet">and {moreFields} more fields</span>}
              </>
            ),
          },
        ]}
        rows={items}
      />
      <Pager
        label={`Pages of postings that were ${show}`}
        first={after === undefined ? undefined : page()}
        next={next && page(next)}
      />
    </>
  );
};

const whyNone = (count: number, show: PullEffect): string => {
  if (count === 0) return `Nothing was ${show}.`;
  const gone = show === 'created' ? 'their jobs are gone since' : 'which ones is not kept any more';
  return `${count} ${count === 1 ? 'was' : 'were'} ${show}; ${gone}.`;
};

// The sums of a pull: the parts of each add up to the number above them.

interface Part {
  readonly words: string;
  readonly n: number;
  readonly meaning: string;
  readonly address?: string;
}

interface Seen {
  readonly feed: FeedName;
  readonly seen: SeenCounts;
  /** The skipped records whose postings have expired. */
  readonly expired: number;
}

const SeenSum = ({ feed, seen, expired }: Seen) => {
  const inReview = (kind: string) => pageAddress.review({ feed, kind });
  const parts: Part[] = [
    { words: 'unchanged', n: seen.unchanged, meaning: 'the site has them already' },
    { words: 'created', n: seen.created, meaning: 'the site has made a job' },
    { words: 'updated', n: seen.updated, meaning: 'the site has changed the job' },
    {
      words: 'rejected',
      n: seen.rejected,
      meaning: 'wait for review or were discarded',
      address: inReview('rejected'),
    },
    { words: 'failed', n: seen.failed, meaning: 'used up their attempts', address: inReview('failed') },
    { words: 'in doubt', n: seen.in_doubt, meaning: 'may have been created', address: pageAddress.doubts(feed) },
    { words: 'still to send', n: seen.pending, meaning: 'wait to be sent', address: pageAddress.queues() },
    { words: 'duplicates', n: seen.duplicates, meaning: 'repeat a key', address: inReview('duplicate') },
    { words: 'unreadable', n: seen.unreadable, meaning: 'could not be read', address: inReview('unreadable') },
    { words: 'skipped', n: seen.skipped - expired, meaning: 'are no postings, by a rule of the feed' },
    { words: 'expired', n: expired, meaning: 'have been on the site for as long as the feed allows' },
  ];
  return <Sum title="What it saw" total={seen.seen} of="records in the feed" parts={parts} />;
};

const GoneSum = ({ feed, gone }: { feed: FeedName; gone: GoneCounts }) => {
  if (gone.gone === 0) return <p>Nothing: the feed is complete, and has a posting for every job.</p>;
  const parts: Part[] = [
    { words: 'deleted', n: gone.deleted, meaning: 'the site has deleted the job' },
    { words: 'held', n: gone.held, meaning: 'wait for approval', address: pageAddress.held(feed) },
    { words: 'within grace', n: gone.grace, meaning: 'are deleted if further pulls do not see them' },
    { words: 'kept', n: gone.kept, meaning: 'a person keeps their jobs' },
    { words: 'still to delete', n: gone.pendingDeletes, meaning: 'wait to be sent', address: pageAddress.queues() },
    {
      words: 'not deleted',
      n: gone.failedDeletes,
      meaning: 'the site refused, or they used up their attempts',
      address: pageAddress.review({ feed }),
    },
  ];
  return <Sum total={gone.gone} of="jobs whose posting the feed no longer has" parts={parts} />;
};

interface SumProps {
  readonly title?: string;
  readonly total: number;
  readonly of: string;
  readonly parts: readonly Part[];
}

/** Parts that are zero add nothing, and are left out. */
const Sum = ({ title, total, of, parts }: SumProps) => (
  <>
    {title !== undefined && <h2>{title}</h2>}
    <table class="sum">
      <caption class="hint">The parts add up to the total.</caption>
      <tbody>
        {parts
          .filter(({ n }) => n > 0)
          .map(({ words, n, meaning, address }) => (
            <tr>
              <th scope="row">{address === undefined ? words : <a href={linkTo(address)}>{words}</a>}</th>
              <td class="number">{n}</td>
              <td class="quiet">{meaning}</td>
            </tr>
          ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">total</th>
          <td class="number">{total}</td>
          <td class="quiet">{of}</td>
        </tr>
      </tfoot>
    </table>
  </>
);
