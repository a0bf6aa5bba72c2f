// The pages of creates in doubt: a list, one with the jobs that it may have made, and the jobs that a search of the site found for a feed.
import type { Context, Hono } from 'hono';
import { adoptFound, compareEntry, compareWith, foundJobsOf, showFound } from '../../operations/adoption.ts';
import { settleEntry } from '../../operations/decisions.ts';
import { namedFeed } from '../../operations/operation.ts';
import { entryPlace } from '../../operations/review.ts';
import { numberSchema } from '../../operations/scalars.ts';
import { plural, textOf } from '../../plan/message.ts';
import { fieldOf } from '../../plan/same-meaning.ts';
import type { FeedName, SiteJobId } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import {
  type DoubtCandidate,
  describeAbsent,
  fieldsBeside,
  LIKENESS_WORDS,
  noCandidateKnown,
  OWNED_BY_ANOTHER,
  readDoubt,
  type ShownCandidate,
  type ShownDoubt,
} from '../../review/compare-doubt.ts';
import { JOB_WOULD_GO } from '../../review/describe-history.ts';
import type { FoundJobsOfFeed, LeftEntry } from '../../review/jobs/proposals.ts';
import type { App } from '../../runtime/app.ts';
import type { OpenChangeRow } from '../../store/change/open-change.ts';
import { doubtOf } from '../../store/change/resolve-doubt.ts';
import { type BulkRow, unfinishedBulk } from '../../store/review/bulk-actions.ts';
import { countFound, type FoundEntry } from '../../store/review/found-entries.ts';
import type { ReviewEntry } from '../../store/review/review-entries.ts';
import { reviewPage } from '../../store/review/review-page.ts';
import { foldReviewCounts } from '../../store/review/review-totals.ts';
import { notFound } from '../problem.ts';
import { decodeCursor, encodeCursor, type WebEnv } from '../web-env.ts';
import { linkTo, mayReview, pageAddress } from './parts/addresses.ts';
import { Layout, PanelForm, PostForm } from './parts/layout.tsx';
import { operationForm, type PageContext, readInput, showPage } from './parts/page.tsx';
import { JobLink } from './parts/pairs.tsx';
import { Alert, Check, Fact, Pager, StackedTable, Submit, sentence, TextField, When } from './parts/parts.tsx';
import { expectValue, malformed } from './parts/read-form.ts';

const SHOWN = 50;

export function doubtPages(pages: Hono<WebEnv>, context: PageContext): void {
  const { app } = context;
  const { db } = app;
  pages.get(
    '/doubts',
    showPage(async ({ query }) => {
      const name = query('feed');
      const feed = name === undefined ? undefined : await namedFeed(app, name);
      const cursor = query('cursor');
      await foldReviewCounts(db);
      const page = await reviewPage(db, { feed, kinds: ['in_doubt'] }, SHOWN, decodeCursor(cursor, entryPlace));
      const next = encodeCursor(page.next) ?? undefined;
      const resolved = await resolvedEntry(app, query('resolved'));
      const found = cursor === undefined ? await countFound(db, feed) : [];
      const sites = [...new Set(page.entries.flatMap(({ site }) => site ?? []))];
      const withoutList = sites.filter((site) => app.config.sites.get(site)?.options.listPath === undefined);
      const props = { feed, entries: page.entries, next, isFirst: cursor === undefined, resolved, found, withoutList };
      return <Doubts {...props} />;
    }),
  );
  const shown = showPage(async ({ c }) => <DoubtPage {...(await doubtIn(app, numberIn(c)))} />);
  // Jobs are read from the site for whoever asks, alone: nobody who reads the same page waits for a slow site.
  const asked = showPage(async ({ c, query }) => {
    const { id, job: typed } = readInput(compareEntry, (name) => c.req.param(name) ?? query(name));
    const props = await doubtIn(app, id);
    const { candidates } = await compareWith(app, id, typed === undefined ? [] : [typed]);
    return <DoubtPage {...props} candidates={candidates} typed={typed} />;
  }, compareEntry.scope);
  pages.get('/doubts/:id', (c, next) => ((c.req.query('ask') ?? '') === '' ? shown : asked)(c, next));
  pages.post(
    '/doubts/:id',
    operationForm(context, settleEntry, {
      required: ['version'],
      async before(form) {
        if (form.one('verdict') !== 'missing' || form.one('confirmed') === 'true') return;
        throw malformed('confirmed', 'must be set: look for the job on the site first. Nothing was changed');
      },
      next: ({ feed, entry }) => pageAddress.doubts(feed, { resolved: entry }),
      async refused({ reason, now }, { html }, { id, site_job_id: typed }) {
        const refused = { message: textOf(reason), mayInsist: now.may_insist === true };
        return html(<DoubtPage {...(await doubtIn(app, id))} refused={refused} typed={typed} />, 409);
      },
    }),
  );
}

/** @throws {ProblemError} if the entry is not, or no longer, a create in doubt */
async function doubtIn({ db, config }: App, id: number): Promise<ShownDoubt> {
  const doubt = await readDoubt(db, config, id);
  if (doubt === undefined) throw notFound(`entry ${id} is not, or no longer, a create in doubt`);
  return doubt;
}

/** Whether an entry that the address names is resolved by now. */
async function resolvedEntry({ db }: App, text: string | undefined): Promise<number | undefined> {
  if (text === undefined) return undefined;
  const id = expectValue('resolved', numberSchema, text);
  return (await doubtOf(db, id)) === undefined ? id : undefined;
}

const numberIn = (c: Context<WebEnv>): number =>
  expectValue('the number of the entry', numberSchema, c.req.param('id'));

export function foundPages(pages: Hono<WebEnv>, context: PageContext): void {
  const { app } = context;
  pages.get(
    '/doubts/found',
    showPage(async ({ query }) => <FoundPage {...(await readPage(app, readInput(showFound, query).feed))} />),
  );
  pages.post(
    '/doubts/found',
    operationForm(context, adoptFound, {
      next: ({ bulk }) => pageAddress.bulkAction(bulk),
      refused: async ({ message }, { html }, { feed }) =>
        html(<FoundPage {...(await readPage(app, feed))} refused={message} />, 409),
    }),
  );
}

async function readPage(app: App, name: string) {
  const feed = await namedFeed(app, name);
  return { feed, found: await foundJobsOf(app, feed), unfinished: await unfinishedBulk(app.db, 'adopt', feed) };
}

// The list of creates in doubt.

export interface DoubtsProps {
  /** `undefined`: of all feeds. */
  readonly feed: FeedName | undefined;
  readonly entries: readonly ReviewEntry[];
  readonly isFirst: boolean;
  readonly next: string | undefined;
  readonly resolved: number | undefined;
  /** How many jobs a search of the site found, by feed. */
  readonly found: readonly { readonly feed: FeedName; readonly n: number }[];
  /** Sites of these entries that have no list. */
  readonly withoutList: readonly string[];
}

const Doubts = ({ feed, entries, isFirst, next, resolved, found, withoutList }: DoubtsProps) => (
  <Layout title={feed === undefined ? 'Doubts' : `Doubts of feed ${feed}`} section="review">
    {feed !== undefined && (
      <p>
        <a href={linkTo(pageAddress.doubts())}>All feeds</a>
      </p>
    )}
    {resolved !== undefined && <p class="notice good" role="status">{`Entry ${resolved} is resolved.`}</p>}
    {found.map((each) => (
      <p class="notice">
        {`${plural(each.n, 'job was', 'jobs were')} found on the site for feed ${each.feed}. `}
        <a href={linkTo(pageAddress.found(each.feed))}>Adopt those that are certain</a>
      </p>
    ))}
    {entries.length === 0 && isFirst ? (
      <p class="notice good">No create is in doubt.</p>
    ) : (
      <>
        <p>
          The site may have made a job for each of these postings, or not: its answer did not say. Nothing is sent for
          them until that is known, so that no job is made twice.{' '}
          {withoutList.length === 0
            ? "Most doubts resolve themselves when the site's list is read."
            : `Doubts of site ${withoutList.join(' and ')} wait for you, as it has no list to search (list_path): open each.`}
        </p>
        <StackedTable
          label="Creates in doubt"
          caption={<caption class="quiet">Creates in doubt, the oldest first</caption>}
          columns={[
            {
              head: 'Posting',
              namesRow: true,
              cell: ({ id, key }) => <a href={linkTo(pageAddress.doubt(id))}>{key}</a>,
            },
            { head: 'Feed', cell: (entry) => entry.feed },
            { head: 'Site', cell: ({ site }) => site },
            { head: 'What is known', cell: ({ reason }) => textOf(reason) },
            { head: 'Since', cell: ({ since }) => <When at={since} /> },
          ]}
          rows={entries}
        />
        <Pager
          label="Pages of doubts"
          first={isFirst ? undefined : pageAddress.doubts(feed)}
          next={next && pageAddress.doubts(feed, { cursor: next })}
        />
      </>
    )}
  </Layout>
);

// The jobs that a search of the site found for a feed: adopts those whose posting is certain, and shows the others.

export interface FoundProps {
  readonly feed: FeedName;
  readonly found: FoundJobsOfFeed;
  /** An action that adopts some of them, and is not done. */
  readonly unfinished: Pick<BulkRow, 'id' | 'state'> | undefined;
  /** Why nothing was adopted. */
  readonly refused?: string;
}

const FoundPage = ({ feed, found, unfinished, refused }: FoundProps) => {
  const { sure, left } = found;
  return (
    <Layout title={`Found jobs of feed ${feed}`} section="review">
      <p class="row">
        <a href={linkTo(pageAddress.doubts(feed))}>{`Doubts of feed ${feed}`}</a>
        <a href={linkTo(pageAddress.activity({ feed }))}>Who decided what</a>
      </p>
      {refused !== undefined && <Alert>{sentence(refused)}</Alert>}
      {unfinished !== undefined && (
        <p class="notice">
          {unfinished.state === 'stopped' ? 'Adopting some of them was stopped: ' : 'Some of them are being adopted: '}
          <a href={linkTo(pageAddress.bulkAction(unfinished.id))}>{`action ${unfinished.id}`}</a>
        </p>
      )}
      {sure.length === 0 ? <p>No found job is certain.</p> : <CertainJobs feed={feed} found={found} />}
      {sure.length > 0 && (
        <>
          <Jobs jobs={sure} label="Certain jobs" />
          {sure.length > SHOWN && <p class="hint">{`${SHOWN} of them are shown.`}</p>}
        </>
      )}
      {left.length > 0 && (
        <>
          <h2 id="left">{`${plural(left.length, 'found job')} to decide one by one`}</h2>
          <Jobs jobs={left} label="To decide one by one" />
          {left.length > SHOWN && <p class="hint">{`${SHOWN} of them are shown.`}</p>}
        </>
      )}
    </Layout>
  );
};

const CertainJobs = ({ feed, found: { sure, mark } }: Pick<FoundProps, 'feed' | 'found'>) => {
  const what =
    sure.length === 1
      ? '1 job on the site shows exactly the reference of a posting, and no other posting or job has it. Its other fields are set to the values in the feed.'
      : `${sure.length} jobs on the site show exactly the reference of one posting each, and no other posting or job has it. Their other fields are set to the values in the feed.`;
  if (!mayReview()) return <p>{what}</p>;
  return (
    <PanelForm
      action={pageAddress.found()}
      aria-label="All certain jobs"
      hidden={{ feed, mark }}
      hint="Each is checked on the site first, within its rate. You can watch its progress, stop it and continue it."
      submit={sure.length === 1 ? 'Adopt the certain job' : `Adopt all ${sure.length} certain jobs`}
      kind="main"
    >
      <p>{what}</p>
    </PanelForm>
  );
};

const Jobs = ({ jobs, label }: { jobs: readonly (FoundEntry | LeftEntry)[]; label: string }) => {
  const rows = jobs.slice(0, SHOWN);
  const explained = rows.some((job) => 'message' in job);
  return (
    <StackedTable
      label={label}
      columns={[
        {
          head: 'Posting',
          namesRow: true,
          cell: ({ entry, key }) => <a href={linkTo(pageAddress.doubt(entry))}>{key}</a>,
        },
        { head: 'Job', inline: true, cell: ({ siteJobId }) => siteJobId },
        explained && { head: 'Why', cell: (job) => ('message' in job ? job.message : '') },
      ]}
      rows={rows}
    />
  );
};

// One create in doubt: what was sent, beside the jobs that it may have made, and the decisions.

export interface DoubtProps extends ShownDoubt {
  /** `undefined`: the site was not asked. */
  readonly candidates?: readonly DoubtCandidate[] | undefined;
  /** The ID that the visitor typed. */
  readonly typed?: SiteJobId | undefined;
  readonly refused?: { readonly message: string; readonly mayInsist: boolean } | undefined;
}

const DoubtPage = (props: DoubtProps) => {
  const { change, startedAt, candidates, refused, referenceField, sent } = props;
  const { feed, key, site, reason } = change;
  return (
    <Layout title={`Did the site make the job of ${key}?`} section="review">
      <p class="row">
        <a href={linkTo(pageAddress.doubts(feed))}>{`Doubts of feed ${feed}`}</a>
        <a href={linkTo(pageAddress.posting(feed, key))}>The posting</a>
      </p>
      {refused !== undefined && <Alert>{`${refused.message}. Nothing was changed.`}</Alert>}
      {change.desired === 'absent' && <p class="notice">{`${sentence(JOB_WOULD_GO)}.`}</p>}
      <dl class="facts">
        <Fact name="Site">{site}</Fact>
        <Fact name="Sent">
          <When at={startedAt} />
        </Fact>
        <Fact name="Why it is in doubt">{reason?.message ?? 'not recorded'}</Fact>
        <Fact name="Last check">{reason?.note}</Fact>
        <Fact name="Its reference">{referenceField !== undefined && fieldOf(sent, referenceField)}</Fact>
      </dl>
      <Candidates {...props} />
      {candidates === undefined && <Sent fields={sent} />}
      {mayReview() && <Decisions {...props} />}
    </Layout>
  );
};

const Candidates = ({ change, candidateIds, candidates, sent, version, hasList }: DoubtProps) => (
  <>
    <h2 id="candidates">Jobs that it may have made</h2>
    {candidateIds.length === 0 && candidates === undefined && <p>{noCandidateKnown({ hasList })}</p>}
    {candidateIds.length > 0 && candidates === undefined && (
      <p>{`Found on the site: ${candidateIds.map((id) => `job ${id}`).join(', ')}.`}</p>
    )}
    {candidateIds.length > 0 && candidates === undefined && mayReview() && (
      <p>
        <a class="button" href={linkTo(pageAddress.doubtCandidates(change.id))}>
          Read them from the site
        </a>
      </p>
    )}
    {(candidates ?? []).map((candidate) =>
      candidate.kind === 'shown' ? null : (
        <p class={candidate.kind === 'unchecked' ? 'notice bad' : 'notice'}>{describeAbsent(candidate)}</p>
      ),
    )}
    <SideBySide
      sent={sent}
      shown={(candidates ?? []).filter((candidate) => candidate.kind === 'shown')}
      change={change}
      version={version}
    />
  </>
);

interface SideProps {
  readonly sent: Fields;
  readonly shown: readonly ShownCandidate[];
  readonly change: OpenChangeRow;
  readonly version: string;
}

const SideBySide = ({ sent, shown, change, version }: SideProps) => {
  if (shown.length === 0) return null;
  return (
    <section class="scroll" tabindex={0} aria-labelledby="candidates">
      <table class="stacked" aria-labelledby="candidates">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Sent</th>
            {shown.map(({ siteJobId, url }) => (
              <th scope="col">
                <JobLink siteJobId={siteJobId} url={url} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">Compared</th>
            <td />
            {shown.map((candidate) => (
              <td data-column={`Job ${candidate.siteJobId}`}>
                {LIKENESS_WORDS[candidate.likeness]}
                {candidate.owned && <p class="warn">{OWNED_BY_ANOTHER}</p>}
                {mayReview() && (
                  <PostForm
                    action={pageAddress.doubt(change.id)}
                    hidden={{ version, verdict: 'exists', site_job_id: candidate.siteJobId }}
                  >
                    <p>
                      <button type="submit" class={candidate.likeness === 'match' ? 'main' : ''}>
                        {`It is job ${candidate.siteJobId}`}
                      </button>
                    </p>
                  </PostForm>
                )}
              </td>
            ))}
          </tr>
          {fieldsBeside(sent, shown).map(({ name, sent: value, shown: values }) => (
            <tr>
              <th scope="row">{name}</th>
              <td data-column="Sent">{excerptOf(value)}</td>
              {values.map((one, at) => (
                <td data-column={`Job ${shown[at]?.siteJobId}`}>
                  {one.differs ? <mark>{excerptOf(one.value)}</mark> : excerptOf(one.value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

const MOST_CHARACTERS = 1_000;

const excerptOf = (value: string | undefined) => {
  if (value === undefined) return <span class="quiet">–</span>;
  return value.length > MOST_CHARACTERS ? `${value.slice(0, MOST_CHARACTERS)}…` : value;
};

const Sent = ({ fields }: { fields: Fields }) => (
  <>
    <h2 id="sent">What was sent</h2>
    <dl class="facts">
      {Object.entries(fields).map(([name, value]) => (
        <>
          <Fact name={name}>{excerptOf(value)}</Fact>
        </>
      ))}
    </dl>
  </>
);

const Decisions = ({ change, version, typed, refused }: DoubtProps) => {
  const address = pageAddress.doubt(change.id);
  return (
    <>
      <h2 id="decide">Decide</h2>
      <form method="get" action={linkTo(address)} class="panel" aria-label="Compare a job">
        <input type="hidden" name="ask" value="site" />
        <TextField
          id="other"
          name="job"
          label="Compare another job, by its ID on the site"
          required
          maxlength={2_000}
        />
        <Submit>Read it from the site</Submit>
      </form>
      <PanelForm
        action={address}
        hidden={{ version, verdict: 'exists' }}
        hint="The job is read from the site before it is adopted. If it can't be checked, it is adopted as you say, and all its fields are set again."
        submit="The site made this job"
      >
        <TextField
          id="job"
          name="site_job_id"
          label="Its ID on the site"
          required
          maxlength={2_000}
          value={typed ?? ''}
        />
        {refused?.mayInsist === true && <Check name="anyway">It is the right job nevertheless</Check>}
      </PanelForm>
      <PanelForm
        action={address}
        aria-label="The site made no job"
        hidden={{ version, verdict: 'missing' }}
        hint="If it has one after all, the posting is there twice."
        confirmed="I have looked on the site: it has no job of this posting"
        submit="None: send it again"
        kind="danger"
      />
    </>
  );
};
