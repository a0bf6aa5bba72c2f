// Existing jobs of a feed's site: each posting beside the jobs that may be its own, and what to do about them.
import { plural } from '../../../plan/plural.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { type AdoptRun, PROPOSAL_KINDS, type ProposalKind } from '../../../store/mapping/adopt-proposals.ts';
import { pageAddress } from '../addresses.ts';
import { Layout, mayReview, type Visit } from '../layout.tsx';
import { When } from '../when.tsx';
import { AdoptNamed, AdoptSure, MatchJobs } from './adopt-forms.tsx';
import type { AdoptProps, MatchedProps } from './adopt-props.ts';
import { Matches } from './matches.tsx';

export const AdoptFeeds = ({
  visit,
  feeds,
  runs,
}: {
  visit: Visit;
  feeds: readonly FeedName[];
  runs: ReadonlyMap<FeedName, AdoptRun>;
}) => (
  <Layout title="Existing jobs" visit={visit} section="jobs">
    <p>
      If people or another tool have made jobs on a site before, match them with the postings of a feed, so that these
      get no second job.
    </p>
    {feeds.length === 0 ? (
      <p>No feed is configured.</p>
    ) : (
      <ul>
        {feeds.map((feed) => (
          <li>
            <a href={visit.prefix + pageAddress.adopt(feed)}>{feed}</a>
            {`: ${briefly(runs.get(feed))}`}
          </li>
        ))}
      </ul>
    )}
  </Layout>
);

function briefly(run: AdoptRun | undefined): string {
  if (run === undefined) return 'not matched here';
  if (run.state === 'running') return 'being matched';
  return run.matchedAt === null
    ? run.state
    : `${run.sure} sure, ${run.unsure} unsure, ${plural(run.unmatched, 'posting')} without a job`;
}

export const AdoptPage = (props: AdoptProps) => {
  const { visit, feed, shown, alert } = props;
  const { prefix } = visit;
  const { run } = shown;
  const isRunning = run?.state === 'running';
  return (
    <Layout title={`Existing jobs for feed ${feed}`} visit={visit} section="jobs">
      <p class="row">
        <a href={prefix + pageAddress.feed(feed)}>{`Feed ${feed}`}</a>
        <a href={prefix + pageAddress.jobs({ feed })}>Its jobs</a>
        <a href={prefix + pageAddress.activity({ feed })}>Who decided what</a>
      </p>
      {alert !== undefined && (
        <p role="alert" class="notice bad">
          {`${alert.charAt(0).toUpperCase()}${alert.slice(1)}. Nothing was changed.`}
        </p>
      )}
      <div id="adopt" data-live={isRunning ? 'true' : undefined}>
        <p>
          Jobs that the site already has are matched with the postings that have none: by reference, then by title,
          place and text.
        </p>
        {run !== undefined && <LastRun run={run} />}
        {mayReview(visit) && !isRunning && <MatchJobs {...props} />}
        {run != null && run.matchedAt !== null && <Found {...props} run={{ ...run, matchedAt: run.matchedAt }} />}
        {mayReview(visit) && !isRunning && <AdoptNamed {...props} />}
      </div>
    </Layout>
  );
};

const ASKED = {
  match: 'Matching the jobs',
  sure: 'Adopting the sure matches',
  named: 'Adopting one job',
} as const;

const LastRun = ({ run }: { run: AdoptRun }) => {
  const { state, asked, actor, startedAt, progress, message, adopted, refused, refusals } = run;
  const what = ASKED[asked];
  return (
    <>
      {state === 'running' && (
        <p class="notice" role="status">
          {`${what}, for ${actor}, since `}
          <When at={startedAt} />
          {progress === null ? '.' : `: ${progress}.`}
        </p>
      )}
      {state === 'interrupted' && (
        <p class="notice bad">
          {`${what} was interrupted, as its process was stopped or lost the database`}
          {asked === 'match' ? '. Start it again.' : '. What was adopted until then stays. Match the jobs again.'}
        </p>
      )}
      {state === 'failed' && <p class="notice bad">{`${what} failed: ${message ?? 'the log says why'}.`}</p>}
      {state === 'done' && asked !== 'match' && (
        <p class={`notice ${refused === 0 ? 'good' : 'bad'}`}>
          {`${plural(adopted, 'job')} adopted${refused === 0 ? '' : `, ${refused} refused`}.`}
          {adopted > 0 && ' The next pull sends what differs, unless the feed only creates jobs.'}
        </p>
      )}
      {refusals.length > 0 && (
        <>
          <p>Refused:</p>
          <ul>
            {refusals.map(({ key, siteJobId, message: why }) => (
              <li>{`${key}, job ${siteJobId}: ${why}`}</li>
            ))}
          </ul>
          {refused > refusals.length && <p class="quiet">{`and ${refused - refusals.length} more`}</p>}
        </>
      )}
    </>
  );
};

const TABS: Readonly<Record<ProposalKind, readonly [one: string, many: string]>> = {
  sure: ['sure match', 'sure matches'],
  unsure: ['unsure match', 'unsure matches'],
  unmatched: ['posting without a job', 'postings without a job'],
};

const Found = (props: MatchedProps) => {
  const { visit, feed, run, show, shown } = props;
  const { prefix } = visit;
  return (
    <>
      {run.notes.map((note) => (
        <p class="notice">{note}</p>
      ))}
      {mayReview(visit) && run.state !== 'running' && <AdoptSure {...props} />}
      <h2 id="matches">Which job is whose</h2>
      <p>
        {'As of '}
        <When at={run.matchedAt} />
        {`, on site ${run.matchedSite}. ${plural(run.otherJobs, 'other job')} of the site ${run.otherJobs === 1 ? 'resembles' : 'resemble'} no posting.`}
      </p>
      <ul class="tabs" aria-label="Kinds of matches">
        {PROPOSAL_KINDS.map((kind) => (
          <li>
            <a
              href={`${prefix}${pageAddress.adopt(feed, { show: kind })}#matches`}
              aria-current={kind === show ? 'true' : undefined}
            >
              {plural(run[kind], ...TABS[kind])}
            </a>
          </li>
        ))}
      </ul>
      {shown.items.length === 0 ? <p>None.</p> : <Matches {...props} />}
      <Pages {...props} />
    </>
  );
};

const Pages = ({ visit, feed, show, after, shown: { items, next } }: AdoptProps) =>
  after === undefined && next === undefined ? null : (
    <nav aria-label="Pages of matches" class="row">
      {after !== undefined && <a href={visit.prefix + pageAddress.adopt(feed, { show })}>First page</a>}
      {next !== undefined && (
        <a href={visit.prefix + pageAddress.adopt(feed, { show, after: next })} rel="next">
          Next page
        </a>
      )}
      <span class="quiet">{`${items.length} on this page`}</span>
    </nav>
  );
