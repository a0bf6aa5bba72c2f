// Existing jobs of a feed's site: each posting beside the jobs that may be its own, and what to do about them.
import type { Hono } from 'hono';
import { showAdoption, startAdoption } from '../../operations/adoption.ts';
import { namedFeed } from '../../operations/operation.ts';
import { CERTAINTIES, type Certainty } from '../../plan/match/whose-job.ts';
import { plural } from '../../plan/message.ts';
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import {
  type ShownCandidateJob,
  type ShownProposal,
  type ShownProposals,
  shownProposals,
} from '../../review/jobs/proposals.ts';
import { type AdoptRun, listAdoptRuns } from '../../store/mapping/adopt-proposals.ts';
import type { WebEnv } from '../web-env.ts';
import { decodeCursor, encodeCursor } from '../web-env.ts';
import { linkTo, mayReview, pageAddress } from './parts/addresses.ts';
import { Layout, PanelForm, PostForm } from './parts/layout.tsx';
import { operationForm, type PageContext, readInput, showPage } from './parts/page.tsx';
import { JobLink, type Pair, Pairs } from './parts/pairs.tsx';
import { Alert, Check, Pager, sentence, Tabs, TextField, When } from './parts/parts.tsx';

interface AdoptProps {
  readonly feed: FeedName;
  readonly shown: ShownProposals;
  readonly show: Certainty;
  readonly after: number | undefined;
  /** Why a decision was refused. */
  readonly alert?: string;
}

/** A run has stored what it found. */
interface MatchedProps extends AdoptProps {
  readonly run: AdoptRun & { readonly matchedAt: Date };
}

const AdoptFeeds = ({ feeds, runs }: { feeds: readonly FeedName[]; runs: ReadonlyMap<FeedName, AdoptRun> }) => (
  <Layout title="Existing jobs" section="jobs">
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
            <a href={linkTo(pageAddress.adopt(feed))}>{feed}</a>
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

const AdoptPage = (props: AdoptProps) => {
  const { feed, shown, alert } = props;
  const { run } = shown;
  const isRunning = run?.state === 'running';
  return (
    <Layout title={`Existing jobs for feed ${feed}`} section="jobs">
      <p class="row">
        <a href={linkTo(pageAddress.feed(feed))}>{`Feed ${feed}`}</a>
        <a href={linkTo(pageAddress.jobs({ feed }))}>Its jobs</a>
        <a href={linkTo(pageAddress.activity({ feed }))}>Who decided what</a>
      </p>
      {alert !== undefined && <Alert>{`${sentence(alert)}. Nothing was changed.`}</Alert>}
      <div id="adopt" data-live={isRunning ? 'true' : undefined}>
        <p>
          Jobs that the site already has are matched with the postings that have none: by reference, then by title,
          place and text.
        </p>
        {run !== undefined && <LastRun run={run} />}
        {mayReview() && !isRunning && <MatchJobs {...props} />}
        {run != null && run.matchedAt !== null && <Found {...props} run={{ ...run, matchedAt: run.matchedAt }} />}
        {mayReview() && !isRunning && <AdoptNamed {...props} />}
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

const TABS: Readonly<Record<Certainty, readonly [one: string, many: string]>> = {
  sure: ['sure match', 'sure matches'],
  unsure: ['unsure match', 'unsure matches'],
  unmatched: ['posting without a job', 'postings without a job'],
};

const Found = (props: MatchedProps) => {
  const { feed, run, show, shown } = props;
  return (
    <>
      {run.notes.map((note) => (
        <p class="notice">{note}</p>
      ))}
      {mayReview() && run.state !== 'running' && <AdoptSure {...props} />}
      <h2 id="matches">Which job is whose</h2>
      <p>
        {'As of '}
        <When at={run.matchedAt} />
        {`, on site ${run.matchedSite}. ${plural(run.otherJobs, 'other job')} of the site ${run.otherJobs === 1 ? 'resembles' : 'resemble'} no posting.`}
      </p>
      <Tabs
        label="Kinds of matches"
        of={CERTAINTIES}
        shown={show}
        href={(kind) => linkTo(`${pageAddress.adopt(feed, { show: kind })}#matches`)}
        words={(kind) => plural(run[kind], ...TABS[kind])}
      />
      {shown.items.length === 0 ? <p>None.</p> : <Matches {...props} />}
      <Pages {...props} />
    </>
  );
};

const Matches = (props: MatchedProps) => {
  const { feed, show, run, shown } = props;
  const hasJobs = show !== 'unmatched';
  return (
    <Pairs
      label="matches"
      columns={hasJobs ? ['Posting', 'Job on the site'] : ['Posting']}
      differing={hasJobs ? 'The job → the posting' : undefined}
      decides={hasJobs && mayReview()}
      pairs={shown.items.flatMap((proposal): Pair[] => {
        const posting = <Posting {...props} proposal={proposal} />;
        if (!hasJobs) return [{ ...proposal, cells: [posting], moreFields: 0, decide: null }];
        const { key, verdict, version, ownJobId, candidates } = proposal;
        return candidates.map((candidate, at) => ({
          ...candidate,
          differences: candidate.differences.map(({ field, before, now }) => ({ field, before, now })),
          cells: [...(at === 0 ? [posting] : []), <Job {...candidate} />],
          ...(candidates.length > 1 && { rows: candidates.length }),
          verdict: verdict === 'sure' && at === 0 ? ('sure' as const) : ('unsure' as const),
          reasons: at === 0 ? proposal.reasons : candidate.reasons,
          decide: ownJobId === null && !candidate.owned && run.state !== 'running' && (
            <AdoptThis feed={feed} show={show} version={version} posting={key} candidate={candidate} />
          ),
        }));
      })}
    />
  );
};

const Posting = ({ feed, proposal }: MatchedProps & { readonly proposal: ShownProposal }) => {
  const { key, title, ownJobId, isKnown } = proposal;
  return (
    <>
      {isKnown ? <a href={linkTo(pageAddress.posting(feed, key))}>{key}</a> : key}
      {title !== null && <span class="detail">{title}</span>}
      {ownJobId !== null && <span class="detail">{`has job ${ownJobId} by now`}</span>}
    </>
  );
};

const Job = ({ siteJobId, url, title, owned }: ShownCandidateJob) => (
  <>
    <JobLink siteJobId={siteJobId} url={url} />
    {title !== null && <span class="detail">{title}</span>}
    {owned && <span class="detail">belongs to a posting by now, or is about to be deleted</span>}
  </>
);

const Pages = ({ feed, show, after, shown: { items, next } }: AdoptProps) => (
  <Pager
    label="Pages of matches"
    first={after === undefined ? undefined : pageAddress.adopt(feed, { show })}
    next={
      next === undefined
        ? undefined
        : pageAddress.adopt(feed, { show, cursor: encodeCursor({ after: next }) ?? undefined })
    }
    shown={items.length}
  />
);

const MatchJobs = ({ feed, shown: { run } }: AdoptProps) => {
  const isFirst = run?.matchedAt == null;
  return (
    <PanelForm
      action={pageAddress.adopt()}
      aria-label="Match the jobs"
      hidden={{ feed, decision: 'match' }}
      hint="Reads the whole list of the site and the feed, and compares them. Nothing is adopted, and nothing is changed on the site. Until it ends, the feed is not pulled."
      submit={isFirst ? 'Match the jobs' : 'Match them again'}
      kind={isFirst ? 'main' : undefined}
    />
  );
};

const AdoptSure = ({ feed, run }: MatchedProps) =>
  run.sure === 0 ? null : (
    <PanelForm
      action={pageAddress.adopt()}
      aria-label="All sure matches"
      hidden={{ feed, decision: 'sure', mark: run.mark ?? '' }}
      hint="Site and feed are read again first: a match that is not sure any more, or was not shown, is not adopted. Nothing is changed on the site; the next pull sends what differs, unless the feed only creates jobs."
      submit={run.sure === 1 ? 'Adopt the sure match' : `Adopt all ${run.sure} sure matches`}
      kind="main"
    />
  );

/** Adopts a candidate that is shown. */
const AdoptThis = ({
  feed,
  show,
  version,
  posting,
  candidate: { siteJobId },
}: Pick<AdoptProps, 'feed' | 'show'> & {
  readonly version: string;
  readonly posting: PostingKey;
  readonly candidate: ShownCandidateJob;
}) => (
  <PostForm
    action={pageAddress.adopt()}
    hidden={{ feed, decision: 'named', show, key: posting, job_id: siteJobId, version }}
  >
    <button type="submit" aria-label={`It is its job: ${posting} has job ${siteJobId}`}>
      It is its job
    </button>
  </PostForm>
);

const AdoptNamed = ({ feed }: AdoptProps) => (
  <PanelForm
    action={pageAddress.adopt()}
    title="Another job"
    hidden={{ feed, decision: 'named' }}
    submit="Adopt that job"
  >
    <div class="row">
      <TextField name="key" label="Key of the posting" required maxlength={1_000} />
      <TextField id="job" name="job_id" label="ID of its job on the site" required maxlength={2_000} />
    </div>
    <Check name="anyway">Even if it seems to be another job, or the job of another posting</Check>
  </PanelForm>
);

// The pages of existing jobs: all feeds, and what was found for one, with the decisions.

/** An unsure match may have several jobs, each with the fields that differ. */
const SHOWN: Readonly<Record<Certainty, number>> = { sure: 50, unsure: 15, unmatched: 50 };

export function adoptPages(pages: Hono<WebEnv>, context: PageContext): void {
  const { app } = context;
  const { db, config } = app;
  interface Asked {
    readonly show: Certainty | undefined;
    readonly after?: number | undefined;
    readonly alert?: string;
  }
  async function pageOf(feed: FeedName, { show: asked, after, alert }: Asked) {
    const read = (show: Certainty) => shownProposals(db, feed, { show, after: after ?? -1, limit: SHOWN[show] });
    const shown = await read(asked ?? 'sure');
    const { run } = shown;
    // With no sure match, the first page shows what there is.
    const first = run && CERTAINTIES.find((kind) => run[kind] !== 0);
    const show = asked ?? first ?? 'sure';
    const props = { feed, show, after, ...(alert === undefined ? {} : { alert }) };
    return <AdoptPage {...props} shown={show === (asked ?? 'sure') ? shown : await read(show)} />;
  }
  pages.get(
    '/adopt',
    showPage(async ({ query }) => {
      if (query('feed') === undefined)
        return <AdoptFeeds feeds={[...config.feeds.keys()]} runs={await listAdoptRuns(db)} />;
      const { feed, show } = readInput(showAdoption, query);
      const place = decodeCursor(query('cursor'), showAdoption.place);
      return pageOf(await namedFeed(app, feed), { show, after: place?.after });
    }),
  );
  pages.post(
    '/adopt',
    operationForm(context, startAdoption, {
      async next({ feed }, form) {
        const { show } = readInput(showAdoption, (name) => (name === 'feed' ? feed : form.one(name)));
        return pageAddress.adopt(feed, show === undefined ? {} : { show });
      },
      async refused({ message }, { form, html }, { feed }) {
        const { show } = readInput(showAdoption, (name) => (name === 'feed' ? feed : form.one(name)));
        return html(await pageOf(await namedFeed(app, feed), { show, alert: message }), 409);
      },
    }),
  );
}
