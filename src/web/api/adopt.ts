// The API's operations on jobs that the site had before: which one belongs to which posting of a feed.
import { z } from 'zod';
import { cursorSchema, keyText, limitSchema, nameText, text } from '../../operations/scalars.ts';
import { type ShownProposal, shownProposals } from '../../review/adopt/shown-proposals.ts';
import type { AdoptionRequest } from '../../runtime/adopting/run-adoption.ts';
import type { AdoptRun } from '../../store/mapping/adopt-proposals.ts';
import { ProblemError } from '../problem.ts';
import { adoptionAnswer, jobIdText, postingAndJob, proposalKindSchema, startedAdoptionAnswer } from './adopt-values.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { route } from './http-route.ts';
import { requireFeed } from './known.ts';

const ofFeed = z.strictObject({ feed: nameText });
const placeSchema = z.strictObject({ after: z.int().min(-1).max(1e9) });
const SHOWN = 50;

export const showAdoption = route({
  id: 'showAdoption',
  method: 'get',
  path: '/feeds/{feed}/adopt',
  summary: 'Which jobs that the site already has may belong to which postings of a feed, as they were last matched',
  scope: 'read',
  params: ofFeed,
  query: z.strictObject({ show: proposalKindSchema, cursor: cursorSchema, limit: limitSchema }),
  response: adoptionAnswer,
  async run({ params, query }, { app }) {
    const feed = await requireFeed(app, params.feed);
    const { after } = decodeCursor(query.cursor, placeSchema) ?? { after: -1 };
    const page = { show: query.show ?? 'sure', after, limit: query.limit ?? SHOWN } as const;
    const { run, items, next } = await shownProposals(app.db, feed, page);
    const status = run === undefined ? { state: 'none' } : runJson(run);
    const next_cursor = encodeCursor(next === undefined ? undefined : { after: next });
    return { body: { feed, ...status, items: items.map(proposalJson), next_cursor } };
  },
});

const runJson = (run: AdoptRun) => ({
  state: run.state,
  run: run.run,
  asked: run.asked,
  actor: run.actor,
  started_at: run.startedAt.toISOString(),
  ended_at: run.endedAt?.toISOString() ?? null,
  progress: run.progress,
  message: run.message,
  adopted: run.adopted,
  refused: run.refused,
  refusals: run.refusals.map(({ key, siteJobId, message }) => ({ key, job_id: siteJobId, message })),
  matched_at: run.matchedAt?.toISOString() ?? null,
  notes: run.notes,
  sure: run.sure,
  unsure: run.unsure,
  unmatched: run.unmatched,
  other_jobs: run.otherJobs,
  mark: run.mark,
});

const proposalJson = ({ key, title, verdict, reasons, version, ownJobId, candidates }: ShownProposal) => ({
  key,
  title,
  verdict,
  reasons,
  version,
  own_job_id: ownJobId,
  candidates: candidates.map(({ siteJobId, differences, moreFields, ...candidate }) => ({
    job_id: siteJobId,
    ...candidate,
    differences: differences.map(({ field, before, now }) => ({ field, job: before ?? null, posting: now ?? null })),
    more_fields: moreFields,
  })),
});

const decisionSchema = z.discriminatedUnion('decision', [
  z.strictObject({
    decision: z.literal('match').describe('Read site and feed, and compare them. Nothing is adopted.'),
  }),
  z.strictObject({
    decision: z.literal('sure').describe('Adopt the sure matches that were shown, as far as they are sure again.'),
    mark: text(100).describe('The `mark` that was shown: with any other sure matches, nothing is done.'),
  }),
  z.strictObject({
    decision: z.literal('named').describe('Adopt one job for one posting.'),
    key: keyText,
    job_id: jobIdText,
    version: text(100).optional().describe('The `version` of the posting that was shown: another one gets no job.'),
    anyway: z.boolean().optional().describe('Even if it seems to be another job, or the job of another posting.'),
  }),
]);

export const startAdoption = route({
  id: 'startAdoption',
  method: 'post',
  path: '/feeds/{feed}/adopt',
  summary: 'Match the jobs that the site already has with the postings of a feed, or adopt matches that were shown',
  scope: 'review',
  params: ofFeed,
  query: z.strictObject({}),
  body: decisionSchema,
  status: 202,
  response: startedAdoptionAnswer,
  async run({ params, body }, { app, control, actor }) {
    const feed = await requireFeed(app, params.feed);
    const start = await control.adopt(feed, actor, requestOf(body));
    if (start.kind === 'refused') throw new ProblemError({ status: 409, detail: start.message });
    return { status: 202, location: `/feeds/${feed}/adopt`, body: { feed, run: start.run } };
  },
});

function requestOf(body: z.output<typeof decisionSchema>): AdoptionRequest {
  switch (body.decision) {
    case 'match':
      return { kind: 'match' };
    case 'sure':
      return { kind: 'sure', mark: body.mark };
    case 'named': {
      const named = postingAndJob.parse({ key: body.key, job_id: body.job_id });
      return { kind: 'named', ...named, version: body.version, anyway: body.anyway === true };
    }
    default:
      return body satisfies never;
  }
}
