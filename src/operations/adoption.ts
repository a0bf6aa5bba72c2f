// Jobs that a site already has: which one may be which posting's, as they were matched or found by a search, and adopting them.
import { z } from 'zod';
import type { SiteConfig } from '../config/config.ts';
import { LIKENESSES } from '../plan/match/compare-job.ts';
import { CERTAINTIES } from '../plan/match/whose-job.ts';
import type { FeedName, SiteJobId } from '../posting/identifiers.ts';
import { compareDoubt, type DoubtCandidate, readDoubt, type ShownDoubt } from '../review/compare-doubt.ts';
import {
  type FoundJobsOfFeed,
  readFoundJobs,
  type ShownProposal,
  shownProposals,
  startAdoptingFound,
} from '../review/jobs/proposals.ts';
import type { App } from '../runtime/app.ts';
import { type OpenCandidateSite, openCandidateSite } from '../runtime/open-site-client.ts';
import { findChange } from '../store/change/open-change.ts';
import type { AdoptRun } from '../store/mapping/adopt-proposals.ts';
import { type FoundJobsScope, foundFingerprint } from '../store/review/found-entries.ts';
import { bulkAction, bulkOutput } from './bulk-actions.ts';
import { namedFeed, OperationRefused, operation, pageOperation } from './operation.ts';
import {
  answerOf,
  count,
  feedNameOutput,
  feedNameText,
  idNumber,
  postingKeyText,
  siteJobIdText,
  text,
  time,
} from './scalars.ts';
import { expectNotMoved } from './sites.ts';

const candidateOutput = z.strictObject({
  job_id: z.string(),
  url: z.string().nullable(),
  title: z.string().nullable(),
  score: z.number(),
  reasons: z.array(z.string()),
  differences: z.array(
    z.strictObject({
      field: z.string(),
      job: z.string().nullable().describe('What the job shows; `null`: no such field.'),
      posting: z.string().nullable(),
    }),
  ),
  more_fields: count.describe('Further fields that differ.'),
  owned: z.boolean().describe('A posting has the job by now, or it is about to be deleted.'),
});

const proposalOutput = z.strictObject({
  key: z.string(),
  title: z.string().nullable(),
  verdict: z.enum(CERTAINTIES),
  reasons: z.array(z.string()),
  version: z.string(),
  own_job_id: z.string().nullable().describe('The job that the posting has got since.'),
  candidates: z.array(candidateOutput).describe('The best one first.'),
});

const adoptionOutput = z
  .strictObject({
    feed: z.string(),
    state: z
      .enum(['none', 'running', 'done', 'failed', 'interrupted'])
      .describe('`none`: nobody has started to match the jobs.'),
    run: count.optional(),
    asked: z.enum(['match', 'sure', 'named']).optional(),
    actor: z.string().optional(),
    started_at: time.optional(),
    ended_at: time.nullable().optional(),
    progress: z.string().nullable().optional(),
    message: z.string().nullable().optional().describe('Why it failed.'),
    adopted: count.optional(),
    refused: count.optional().describe('How many of the accepted ones were not adopted.'),
    refusals: z
      .array(z.strictObject({ key: z.string(), job_id: z.string(), message: z.string() }))
      .optional()
      .describe('Some of them.'),
    matched_at: time.nullable().optional().describe('When the matches were found; `null`: there are none yet.'),
    notes: z.array(z.string()).optional(),
    sure: count.optional(),
    unsure: count.optional(),
    unmatched: count.optional(),
    other_jobs: count.optional().describe('Jobs of the site that no posting has or resembles.'),
    mark: z.string().nullable().optional().describe('Another one if other matches are sure.'),
    items: z.array(proposalOutput),
  })
  .meta({ title: 'Adoption' });

export const showAdoption = pageOperation({
  id: 'showAdoption',
  path: '/feeds/{feed}/adopt',
  summary: 'Which jobs that the site already has may belong to which postings of a feed, as they were last matched',
  scope: 'read',
  input: z.strictObject({
    feed: feedNameText,
    show: z.enum(CERTAINTIES, `must be one of ${CERTAINTIES.join(', ')}`).optional(),
  }),
  output: adoptionOutput,
  place: z.strictObject({ after: z.int().min(-1).max(1e9) }),
  async run({ feed: name, show = 'sure' }, { limit, after }, { app }) {
    const feed = await namedFeed(app, name);
    const { run, items, next } = await shownProposals(app.db, feed, { show, after: after?.after ?? -1, limit });
    const own = { feed, items: items.map(proposalJson) };
    const shown =
      run === undefined
        ? { ...own, state: 'none' as const }
        : answerOf(adoptionOutput, run, { ...own, refusals: run.refusals.map(refusalJson) });
    return { shown, next: next === undefined ? undefined : { after: next } };
  },
});

const refusalJson = ({ siteJobId: job_id, ...refusal }: AdoptRun['refusals'][number]) => ({ ...refusal, job_id });

const proposalJson = (proposal: ShownProposal) =>
  answerOf(proposalOutput, proposal, {
    candidates: proposal.candidates.map((candidate) =>
      answerOf(candidateOutput, candidate, {
        job_id: candidate.siteJobId,
        differences: candidate.differences.map(({ field, before = null, now = null }) => ({
          field,
          job: before,
          posting: now,
        })),
      }),
    ),
  });

export const startAdoption = operation({
  id: 'startAdoption',
  path: '/feeds/{feed}/adopt',
  summary: 'Match the jobs that the site already has with the postings of a feed, or adopt matches that were shown',
  scope: 'review',
  input: z.discriminatedUnion(
    'decision',
    [
      z.strictObject({
        feed: feedNameText,
        decision: z.literal('match').describe('Read site and feed, and compare them. Nothing is adopted.'),
      }),
      z.strictObject({
        feed: feedNameText,
        decision: z.literal('sure').describe('Adopt the sure matches that were shown, as far as they are sure again.'),
        mark: text(100).describe('The `mark` that was shown: with any other sure matches, nothing is done.'),
      }),
      z.strictObject({
        feed: feedNameText,
        decision: z.literal('named').describe('Adopt one job for one posting.'),
        key: postingKeyText,
        job_id: siteJobIdText,
        version: text(100).optional().describe('The `version` of the posting that was shown: another one gets no job.'),
        anyway: z.boolean().optional().describe('Even if it seems to be another job, or the job of another posting.'),
      }),
    ],
    'must be match, sure or named',
  ),
  output: z.strictObject({ feed: feedNameOutput, run: count }).meta({ title: 'StartedAdoption' }),
  locationOf: ({ feed }) => `/feeds/${feed}/adopt`,
  async run({ feed: name, ...request }, { app, actor, control }) {
    const feed = await namedFeed(app, name);
    const start = await control.adopt(feed, actor, request);
    if (start.kind === 'refused') throw new OperationRefused('conflict', start.message);
    return { feed, run: start.run };
  },
});

export const showFound = pageOperation({
  id: 'showFound',
  path: '/feeds/{feed}/found',
  summary: 'Jobs that a search of the site found for postings of a feed, and which of them are certain',
  scope: 'read',
  input: z.strictObject({ feed: feedNameText }),
  output: z
    .strictObject({
      feed: z.string(),
      sure: count.describe(
        "Certain jobs: each job shows exactly its posting's reference, and no other job or posting has it.",
      ),
      left: count,
      mark: z.string().describe('Identifies the certain jobs; send it to adopt exactly these.'),
      items: z.array(
        z.strictObject({
          entry: idNumber,
          key: z.string(),
          job_id: z.string(),
          message: z
            .string()
            .nullable()
            .describe('Why a person decides about it by itself; `null`: its posting is certain.'),
        }),
      ),
    })
    .meta({ title: 'FoundJobs' }),
  place: z.strictObject({ after: z.int().min(0).max(1e15) }),
  async run({ feed: name }, { limit, after }, { app }) {
    const feed = await namedFeed(app, name);
    const { sure, left, mark } = await foundJobsOf(app, feed);
    const all = [...sure.map((job) => ({ ...job, message: null })), ...left].sort((a, b) => a.entry - b.entry);
    const following = all.filter(({ entry }) => entry > (after?.after ?? 0));
    const items = following
      .slice(0, limit)
      .map(({ entry, key, siteJobId, message }) => ({ entry, key, job_id: siteJobId, message }));
    const last = following.length > limit ? items.at(-1) : undefined;
    const shown = { feed, sure: sure.length, left: left.length, mark, items };
    return { shown, next: last && { after: last.entry } };
  },
});

export const adoptFound = operation({
  id: 'adoptFound',
  path: '/feeds/{feed}/found',
  summary: 'Start an action that checks each certain job on the site and adopts it',
  scope: 'review',
  input: z.strictObject({
    feed: feedNameText,
    mark: text(100).describe('The `mark` that was shown: with any others, nothing is done.'),
  }),
  output: bulkOutput,
  locationOf: ({ bulk }) => `/review/actions/${bulk}`,
  async run({ feed: name, mark }, { app, actor, control }) {
    const feed = await namedFeed(app, name);
    const site = siteOfFeed(app, feed);
    await expectNotMoved(app, site);
    // If others are certain now, these are shown next.
    lastShown.get(app)?.delete(feed);
    const request = { of: foundJobsScope(feed, site), mark, actor, unattended: true };
    const start = await startAdoptingFound(app.db, app.config, request);
    if (start.kind === 'refused') throw new OperationRefused('conflict', start.message);
    control.bulk(start.bulk.id);
    return bulkAction(app, start.bulk.id);
  },
});

/** For so long, what was read of a large site is shown again. An action reads anew what is certain, when it starts and now and then. */
const SHOWN_AGAIN_MS = 60_000;

interface LastShown {
  readonly fingerprint: string;
  readonly until: number;
  readonly found: Promise<FoundJobsOfFeed>;
}

const lastShown = new WeakMap<App, Map<FeedName, LastShown>>();

/**
 * Reads them, or shows again what was read of a large site in the last minute, unless jobs were found or decided since.
 * @throws {OperationRefused} if its site is not configured
 */
export async function foundJobsOf(app: App, feed: FeedName): Promise<FoundJobsOfFeed> {
  const of = foundJobsScope(feed, siteOfFeed(app, feed));
  const read = () => readFoundJobs(app.db, of);
  const { fingerprint, takesLong } = await foundFingerprint(app.db, feed);
  if (!takesLong) return read();
  const ofFeeds = lastShown.get(app) ?? new Map<FeedName, LastShown>();
  lastShown.set(app, ofFeeds);
  const last = ofFeeds.get(feed);
  if (last !== undefined && last.fingerprint === fingerprint && performance.now() < last.until) return last.found;
  const found = read();
  ofFeeds.set(feed, { fingerprint, until: performance.now() + SHOWN_AGAIN_MS, found });
  found.catch(() => ofFeeds.delete(feed));
  return found;
}

export function siteOfFeed({ config }: Pick<App, 'config'>, feed: FeedName): SiteConfig {
  const configured = config.feeds.get(feed);
  const site = configured && config.sites.get(configured.siteName);
  if (site !== undefined) return site;
  throw new OperationRefused('conflict', `feed ${feed} is not in the configuration`);
}

export const foundJobsScope = (feed: FeedName, { name, options: { referenceField } }: SiteConfig): FoundJobsScope => ({
  feed,
  site: name,
  referenceField,
});

// A create in doubt beside the jobs of its site that it may have made.

const fields = z.record(z.string(), z.string());

const comparedJobOutput = z.strictObject({
  site_job_id: z.string(),
  answer: z
    .enum(['shown', 'absent', 'unchecked'])
    .describe('`absent`: the site says that it has no such job. `unchecked`: it did not tell, `message` says why.'),
  message: z.string().nullable(),
  url: z.string().nullable(),
  created_at: time.nullable(),
  likeness: z
    .enum(LIKENESSES)
    .nullable()
    .describe('It is what was sent, may be, is similar, or seems to be another job.'),
  owned: z.boolean().nullable().describe('It belongs to another posting, or is about to be deleted.'),
  fields: fields.nullable(),
  differing: z.array(z.string()).nullable(),
});

export const comparedDoubtOutput = z
  .strictObject({
    entry: count,
    version: z.string().describe('Send it along with the decision.'),
    feed: z.string(),
    key: z.string(),
    site: z.string(),
    sent_at: time,
    sent_fields: fields,
    known_jobs: z.array(z.string()).describe('Jobs that it may have made, as far as the list of the site has shown.'),
    candidates: z.array(comparedJobOutput),
  })
  .meta({ title: 'ComparedDoubt' });

export const compareEntry = operation({
  id: 'compareEntry',
  path: '/review/{id}/candidates',
  summary: 'A create in doubt beside the jobs that it may have made, which are read from the site',
  scope: 'review',
  reads: true,
  input: z.strictObject({
    id: idNumber,
    job: siteJobIdText.optional().describe('The job to compare with; without it, up to 5 of `known_jobs` are.'),
  }),
  output: comparedDoubtOutput,
  async run({ id, job }, { app }) {
    const { doubt, candidates } = await compareWith(app, id, job === undefined ? [] : [job]);
    return comparedDoubtJson(doubt, candidates);
  },
});

/** @param named the jobs to compare with; none: those that it may have made. @throws {OperationRefused} */
export async function compareWith(
  app: App,
  id: number,
  named: readonly SiteJobId[],
): Promise<{ readonly doubt: ShownDoubt; readonly candidates: readonly DoubtCandidate[] }> {
  const doubt = await readDoubt(app.db, app.config, id);
  if (doubt === undefined) throw new OperationRefused('unknown', `entry ${id} is not, or no longer, a create in doubt`);
  const site = await openSiteOfEntry(app, id);
  try {
    return { doubt, candidates: await compareDoubt(app.db, doubt, named, site) };
  } finally {
    await site?.client.close();
  }
}

/**
 * Opens the site of a review entry, to check a job there; the caller closes its client. `undefined`: the site is no longer configured.
 * @throws {OperationRefused} if its jobs were made at another address: a check there would prove nothing
 */
export async function openSiteOfEntry(app: App, id: number): Promise<OpenCandidateSite | undefined> {
  const change = await findChange(app.db, id);
  const site = change === undefined ? undefined : app.config.sites.get(change.site);
  if (site === undefined) return undefined;
  await expectNotMoved(app, site);
  return openCandidateSite(app.db, site);
}

export const comparedDoubtJson = (
  { change, version, sent, startedAt, candidateIds }: ShownDoubt,
  candidates: readonly DoubtCandidate[],
): z.output<typeof comparedDoubtOutput> =>
  answerOf(comparedDoubtOutput, change, {
    entry: change.id,
    version,
    sent_at: startedAt,
    sent_fields: { ...sent },
    known_jobs: [...candidateIds],
    candidates: candidates.map((candidate) =>
      answerOf(comparedJobOutput, candidate, {
        answer: candidate.kind,
        differing: candidate.kind === 'shown' ? [...candidate.differing].sort() : null,
      }),
    ),
  });
