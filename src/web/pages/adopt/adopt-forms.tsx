// The decisions about existing jobs: to match them, to adopt all sure ones, and to adopt one.
import type { PostingKey } from '../../../posting/identifiers.ts';
import type { ShownCandidateJob } from '../../../review/adopt/shown-proposals.ts';
import { pageAddress } from '../addresses.ts';
import { Csrf } from '../layout.tsx';
import type { AdoptProps, MatchedProps } from './adopt-props.ts';

export const MatchJobs = ({ visit, feed, shown: { run } }: AdoptProps) => {
  const isFirst = run?.matchedAt == null;
  return (
    <form method="post" action={visit.prefix + pageAddress.adopt()} class="panel" aria-label="Match the jobs">
      <Csrf visit={visit} />
      <input type="hidden" name="feed" value={feed} />
      <input type="hidden" name="decision" value="match" />
      <p class="hint">
        Reads the whole list of the site and the feed, and compares them. Nothing is adopted, and nothing is changed on
        the site. Until it ends, the feed is not pulled.
      </p>
      <p>
        <button type="submit" class={isFirst ? 'main' : ''}>
          {isFirst ? 'Match the jobs' : 'Match them again'}
        </button>
      </p>
    </form>
  );
};

export const AdoptSure = ({ visit, feed, run }: MatchedProps) =>
  run.sure === 0 ? null : (
    <form method="post" action={visit.prefix + pageAddress.adopt()} class="panel" aria-label="All sure matches">
      <Csrf visit={visit} />
      <input type="hidden" name="feed" value={feed} />
      <input type="hidden" name="decision" value="sure" />
      <input type="hidden" name="mark" value={run.mark ?? ''} />
      <p class="hint">
        Site and feed are read again first: a match that is not sure any more, or was not shown, is not adopted. Nothing
        is changed on the site; the next pull sends what differs, unless the feed only creates jobs.
      </p>
      <p>
        <button type="submit" class="main">
          {run.sure === 1 ? 'Adopt the sure match' : `Adopt all ${run.sure} sure matches`}
        </button>
      </p>
    </form>
  );

/** Adopts a candidate that is shown. */
export const AdoptThis = ({
  visit,
  feed,
  show,
  version,
  posting,
  candidate: { siteJobId },
}: Pick<AdoptProps, 'visit' | 'feed' | 'show'> & {
  readonly version: string;
  readonly posting: PostingKey;
  readonly candidate: ShownCandidateJob;
}) => (
  <form method="post" action={visit.prefix + pageAddress.adopt()}>
    <Csrf visit={visit} />
    <input type="hidden" name="feed" value={feed} />
    <input type="hidden" name="decision" value="named" />
    <input type="hidden" name="show" value={show} />
    <input type="hidden" name="key" value={posting} />
    <input type="hidden" name="job" value={siteJobId} />
    <input type="hidden" name="version" value={version} />
    <button type="submit" aria-label={`It is its job: ${posting} has job ${siteJobId}`}>
      It is its job
    </button>
  </form>
);

export const AdoptNamed = ({ visit, feed }: AdoptProps) => (
  <form method="post" action={visit.prefix + pageAddress.adopt()} class="panel" aria-label="Another job">
    <Csrf visit={visit} />
    <input type="hidden" name="feed" value={feed} />
    <input type="hidden" name="decision" value="named" />
    <p>
      <strong>Another job</strong>
    </p>
    <div class="row">
      <p>
        <label for="key">Key of the posting</label>
        <input id="key" name="key" required maxlength={1_000} autocomplete="off" />
      </p>
      <p>
        <label for="job">ID of its job on the site</label>
        <input id="job" name="job" required maxlength={200} autocomplete="off" />
      </p>
    </div>
    <p>
      <label>
        <input type="checkbox" name="anyway" value="true" autocomplete="off" /> Even if it seems to be another job, or
        the job of another posting
      </label>
    </p>
    <p>
      <button type="submit">Adopt that job</button>
    </p>
  </form>
);
