// The sums of a pull: the parts of each add up to the number above them.
import type { GoneCounts, SeenCounts } from '../../../plan/accounting.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { pageAddress } from '../addresses.ts';

interface Part {
  readonly words: string;
  readonly n: number;
  readonly meaning: string;
  readonly address?: string;
}

interface Seen {
  readonly prefix: string;
  readonly feed: FeedName;
  readonly seen: SeenCounts;
  /** The skipped records whose postings have expired. */
  readonly expired: number;
}

export const SeenSum = ({ prefix, feed, seen, expired }: Seen) => {
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
  return <Sum prefix={prefix} title="What it saw" total={seen.seen} of="records in the feed" parts={parts} />;
};

export const GoneSum = ({ prefix, feed, gone }: { prefix: string; feed: FeedName; gone: GoneCounts }) => {
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
  return <Sum prefix={prefix} total={gone.gone} of="jobs whose posting the feed no longer has" parts={parts} />;
};

interface SumProps {
  readonly prefix: string;
  readonly title?: string;
  readonly total: number;
  readonly of: string;
  readonly parts: readonly Part[];
}

/** Parts that are zero add nothing, and are left out. */
const Sum = ({ prefix, title, total, of, parts }: SumProps) => (
  <>
    {title !== undefined && <h2>{title}</h2>}
    <table class="sum">
      <caption class="hint">The parts add up to the total.</caption>
      <tbody>
        {parts
          .filter(({ n }) => n > 0)
          .map(({ words, n, meaning, address }) => (
            <tr>
              <th scope="row">{address === undefined ? words : <a href={prefix + address}>{words}</a>}</th>
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
