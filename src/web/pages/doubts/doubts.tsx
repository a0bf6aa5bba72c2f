// The list of creates in doubt.
import { textOf } from '../../../plan/message.ts';
import { plural } from '../../../plan/plural.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import type { ReviewEntry } from '../../../store/review/review-entries.ts';
import { pageAddress } from '../addresses.ts';
import { Layout, type Visit } from '../layout.tsx';
import { When } from '../when.tsx';

export interface DoubtsProps {
  readonly visit: Visit;
  /** `undefined`: of all feeds. */
  readonly feed: FeedName | undefined;
  readonly entries: readonly ReviewEntry[];
  readonly isFirst: boolean;
  readonly next: string | undefined;
  readonly resolved: number | undefined;
  /** How many jobs a search of the site found, by feed. */
  readonly found: readonly { readonly feed: FeedName; readonly n: number }[];
}

export const Doubts = ({ visit, feed, entries, isFirst, next, resolved, found }: DoubtsProps) => {
  const { prefix } = visit;
  return (
    <Layout title={feed === undefined ? 'Doubts' : `Doubts of feed ${feed}`} visit={visit} section="review">
      {feed !== undefined && (
        <p>
          <a href={prefix + pageAddress.doubts()}>All feeds</a>
        </p>
      )}
      {resolved !== undefined && <p class="notice good" role="status">{`Entry ${resolved} is resolved.`}</p>}
      {found.map((each) => (
        <p class="notice">
          {`${plural(each.n, 'job was', 'jobs were')} found on the site for feed ${each.feed}. `}
          <a href={prefix + pageAddress.found(each.feed)}>Adopt those that are certain</a>
        </p>
      ))}
      {entries.length === 0 && isFirst ? (
        <p class="notice good">No create is in doubt.</p>
      ) : (
        <>
          <p>
            The site may have made a job for each of these postings, or not: its answer did not say. Nothing is sent for
            them until that is known, so that no job is made twice. Most doubts resolve themselves when the site's list
            is read.
          </p>
          <section class="scroll" tabindex={0} aria-label="Creates in doubt">
            <table>
              <caption class="quiet">Creates in doubt, the oldest first</caption>
              <thead>
                <tr>
                  <th scope="col">Posting</th>
                  <th scope="col">Feed</th>
                  <th scope="col">Site</th>
                  <th scope="col">What is known</th>
                  <th scope="col">Since</th>
                </tr>
              </thead>
              <tbody>
                {entries.map((entry) => (
                  <tr>
                    <th scope="row">
                      <a href={prefix + pageAddress.doubt(entry.id)}>{entry.key}</a>
                    </th>
                    <td>{entry.feed}</td>
                    <td>{entry.site}</td>
                    <td>{textOf(entry.reason)}</td>
                    <td>
                      <When at={entry.since} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
          {(!isFirst || next !== undefined) && (
            <nav aria-label="Pages of doubts" class="row">
              {!isFirst && <a href={prefix + pageAddress.doubts(feed)}>First page</a>}
              {next !== undefined && (
                <a href={prefix + pageAddress.doubts(feed, { cursor: next })} rel="next">
                  Next page
                </a>
              )}
            </nav>
          )}
        </>
      )}
    </Layout>
  );
};
