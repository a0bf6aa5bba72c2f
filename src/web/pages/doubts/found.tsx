// The jobs that a search of the site found for a feed: adopts those whose posting is certain, and shows the others.
import { plural } from '../../../plan/plural.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import type { FoundJobsOfFeed, LeftEntry } from '../../../review/adopt-found.ts';
import type { BulkRow } from '../../../store/review/bulk-actions.ts';
import type { FoundEntry } from '../../../store/review/found-entries.ts';
import { pageAddress } from '../addresses.ts';
import { Csrf, Layout, mayReview, type Visit } from '../layout.tsx';
import { sentence } from '../sentence.ts';

export interface FoundProps {
  readonly visit: Visit;
  readonly feed: FeedName;
  readonly found: FoundJobsOfFeed;
  /** An action that adopts some of them, and is not done. */
  readonly unfinished: Pick<BulkRow, 'id' | 'state'> | undefined;
  /** Why nothing was adopted. */
  readonly refused?: string;
}

const SHOWN = 50;

export const FoundPage = ({ visit, feed, found, unfinished, refused }: FoundProps) => {
  const { prefix } = visit;
  const { sure, left } = found;
  return (
    <Layout title={`Found jobs of feed ${feed}`} visit={visit} section="review">
      <p class="row">
        <a href={prefix + pageAddress.doubts(feed)}>{`Doubts of feed ${feed}`}</a>
        <a href={prefix + pageAddress.activity({ feed })}>Who decided what</a>
      </p>
      {refused !== undefined && (
        <p role="alert" class="notice bad">
          {sentence(refused)}
        </p>
      )}
      {unfinished !== undefined && (
        <p class="notice">
          {unfinished.state === 'stopped' ? 'Adopting some of them was stopped: ' : 'Some of them are being adopted: '}
          <a href={prefix + pageAddress.bulkAction(unfinished.id)}>{`action ${unfinished.id}`}</a>
        </p>
      )}
      {sure.length === 0 ? (
        <p>No found job is certain.</p>
      ) : (
        <form method="post" action={prefix + pageAddress.found()} class="panel" aria-label="All certain jobs">
          <Csrf visit={visit} />
          <input type="hidden" name="feed" value={feed} />
          <input type="hidden" name="mark" value={found.mark} />
          <p>
            {sure.length === 1
              ? '1 job on the site shows exactly the reference of a posting, and no other posting or job has it. Its other fields are set to the values in the feed.'
              : `${sure.length} jobs on the site show exactly the reference of one posting each, and no other posting or job has it. Their other fields are set to the values in the feed.`}
          </p>
          <p class="hint">
            Each is checked on the site first, within its rate. You can watch its progress, stop it and continue it.
          </p>
          {mayReview(visit) && (
            <p>
              <button type="submit" class="main">
                {sure.length === 1 ? 'Adopt the certain job' : `Adopt all ${sure.length} certain jobs`}
              </button>
            </p>
          )}
        </form>
      )}
      {sure.length > 0 && (
        <>
          <Jobs visit={visit} jobs={sure} label="Certain jobs" />
          {sure.length > SHOWN && <p class="hint">{`${SHOWN} of them are shown.`}</p>}
        </>
      )}
      {left.length > 0 && (
        <>
          <h2 id="left">{`${plural(left.length, 'found job')} to decide one by one`}</h2>
          <Jobs visit={visit} jobs={left} label="To decide one by one" />
          {left.length > SHOWN && <p class="hint">{`${SHOWN} of them are shown.`}</p>}
        </>
      )}
    </Layout>
  );
};

interface JobsProps {
  readonly visit: Visit;
  readonly jobs: readonly (FoundEntry | LeftEntry)[];
  readonly label: string;
}

const Jobs = ({ visit, jobs, label }: JobsProps) => {
  const rows = jobs.slice(0, SHOWN);
  const explained = rows.some((job) => 'message' in job);
  return (
    <section class="scroll" tabindex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            <th scope="col">Posting</th>
            <th scope="col">Job</th>
            {explained && <th scope="col">Why</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((job) => (
            <tr>
              <th scope="row">
                <a href={visit.prefix + pageAddress.doubt(job.entry)}>{job.key}</a>
              </th>
              <td>{job.siteJobId}</td>
              {'message' in job && <td>{job.message}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};
