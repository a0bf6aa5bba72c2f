// What people do to whole sites: resume sending to one that is paused, or whose address has changed, after a look at its jobs there.
import { z } from 'zod';
import { describeMove } from '../apply/confirm-address.ts';
import { learntRateLimiter } from '../apply/learnt-rate-limiter.ts';
import { type AskedSite, askForJob } from '../apply/show-job.ts';
import type { SiteConfig } from '../config/config.ts';
import { messageOf, plural } from '../plan/message.ts';
import type { LearntRewrites } from '../plan/observe-values.ts';
import { fieldOf } from '../plan/same-meaning.ts';
import type { SiteName } from '../posting/identifiers.ts';
import type { App } from '../runtime/app.ts';
import { openSiteClient, tokenDigests } from '../runtime/open-site-client.ts';
import { type Expectation, explainOtherContent } from '../site/contradiction.ts';
import { NotShownError, type SiteJob, withRevealedFields } from '../site/exchange.ts';
import { addressOf, JOB } from '../site/http/job-address.ts';
import { auditAction } from '../store/access/audit.ts';
import { jobsToCompare, type KnownJob } from '../store/mapping/visible-jobs.ts';
import type { Database, Queryable } from '../store/postgres/database.ts';
import { learntRewrites } from '../store/site/kept-values.ts';
import { findMove, moveJobUrls, setAddress } from '../store/site/known-address.ts';
import { tokenHistory } from '../store/site/refused-token.ts';
import { lockSiteState, readSiteState, resumeSite, stateAt, trustGoneForADay } from '../store/site/site-state.ts';
import { namedSite, type OperationContext, OperationRefused, operation } from './operation.ts';
import { count, nameText, text } from './scalars.ts';

const input = z.strictObject({
  site: nameText.describe('Name of the site.'),
  emptied: z
    .boolean()
    .optional()
    .describe('The site was really emptied: believe it for a day when it says that jobs are gone.'),
  paused_since: text(40)
    .optional()
    .describe('The `paused_since` of the site that was seen: another pause is not ended.'),
});

const output = z
  .strictObject({
    site: z.string(),
    was_paused: z.boolean(),
    token_proven: z.boolean().describe('`false`: whether its token may write, the next change tells.'),
  })
  .meta({ title: 'Resumed' });

const SUMMARY = 'Resume sending to a paused site, at once';

export const resumeConfiguredSite = operation({
  id: 'resumeSite',
  path: '/sites/{site}/resume',
  summary: SUMMARY,
  scope: 'review',
  input,
  output,
  async run(asked, context) {
    await expectNotMoved(context.app, namedSite(context.app.config, asked.site));
    return resume(asked, context, false);
  },
});

/** The same, also for a site at another address. That decides whose jobs they are, so it is on the command line only. */
export const resumeSiteAnywhere = operation({
  id: 'resumeSiteAnywhere',
  path: '/sites/{site}/resume-moved',
  summary: SUMMARY,
  scope: 'review',
  input: input.extend({
    moved: z
      .boolean()
      .optional()
      .describe('It is the same site, with the same jobs, at the address that base_url has now.'),
  }),
  output: output.extend({
    compared: count.optional().describe('With `moved`: how many jobs were compared.'),
    note: z.string().optional().describe('With `moved`: what the comparison could not tell.'),
  }),
  async run({ moved = false, ...asked }, context) {
    if (!moved) return resumeConfiguredSite.run(asked, context);
    const compared = await confirmMoved(context.app, namedSite(context.app.config, asked.site), context.signal);
    const resumed = await resume(asked, context, true);
    return {
      ...resumed,
      ...(compared && { compared: compared.jobs, ...(compared.note !== undefined && { note: compared.note }) }),
    };
  },
});

async function resume(
  { site: name, emptied = false, paused_since }: z.output<typeof input>,
  { app: { db, config }, actor, control }: OperationContext,
  moved: boolean,
): Promise<z.output<typeof output>> {
  const site = namedSite(config, name);
  const address = addressOf(site.options);
  const token = (await tokenDigests(db, config)).get(site.name);
  const end = await resumePausedSite(db, site.name, {
    actor,
    emptied,
    seen: paused_since === undefined ? undefined : { since: paused_since, address, token },
    movedTo: moved ? site.options : undefined,
  });
  if (end.kind === 'refused') throw new OperationRefused('conflict', end.message);
  control.wake();
  const { refusedAt, acceptedAt } = await tokenHistory(db, site.name, token ?? '');
  return {
    site: site.name,
    was_paused: end.wasPaused,
    token_proven: token !== undefined && (refusedAt === undefined || acceptedAt !== undefined),
  };
}

/** @throws {OperationRefused} with the address where the jobs were created, their number, and the ways to go on */
export async function expectNotMoved({ db }: Pick<App, 'db'>, { name, options }: SiteConfig): Promise<void> {
  const move = await findMove(db, name, addressOf(options));
  if (move !== undefined) throw new OperationRefused('conflict', describeMove(name, move));
}

// Compares jobs at a site's new address with what was last sent for them, before anything is sent there.

/** Requests at most this many jobs from the site. */
const MOST_ASKED = 20;
/** Stops after this many jobs that could be compared. */
const ENOUGH = 10;
/** Stops after this many jobs that the site did not show: it probably shows none. */
const ENOUGH_UNSHOWN = 3;
const MOST_NAMED = 3;

/** The result of the comparison, if it does not contradict the move. */
export interface MoveEvidence {
  /** Jobs whose content was compared. */
  readonly jobs: number;
  /** A warning for the person: nothing could be compared, or some jobs have other content. */
  readonly note?: string;
}

/**
 * Returns the evidence; `undefined` if the address has not changed. @throws {OperationRefused} if the site at the new address shows
 * other jobs than those created, or can't be asked now.
 */
async function confirmMoved(
  { db }: Pick<App, 'db'>,
  site: SiteConfig,
  signal: AbortSignal = new AbortController().signal,
): Promise<MoveEvidence | undefined> {
  const address = addressOf(site.options);
  if ((await findMove(db, site.name, address)) === undefined) return undefined;
  const client = await openSiteClient(site.options);
  const rateLimiter = learntRateLimiter(db, site, () => signal.aborted);
  try {
    const jobs = await jobsToCompare(db, site.name, MOST_ASKED);
    const learnt = await learntRewrites(db, site.name);
    const asked = { site, client, rateLimiter, signal };
    return judge(site, address, await compareAll(asked, jobs, learnt));
  } finally {
    await client.close();
  }
}

interface Asking extends AskedSite {
  readonly site: SiteConfig;
}

/**
 * The result of comparing one job.
 *
 * | the site                                     | comparison |
 * | -------------------------------------------- | ---------- |
 * | shows the reference or title that was sent   | same       |
 * | shows another reference or title             | other      |
 * | shows neither                                | silent     |
 * | says that the job does not exist: it expired | gone       |
 * | does not show single jobs                    | unshown    |
 */
type Comparison =
  | { readonly kind: 'same' | 'silent' | 'gone' }
  | { readonly kind: 'other' | 'unshown'; readonly message: string };

async function compareAll(
  asked: Asking,
  jobs: readonly KnownJob[],
  learnt: LearntRewrites,
): Promise<readonly Comparison[]> {
  const comparisons: Comparison[] = [];
  const countOf = (...kinds: Comparison['kind'][]) => comparisons.filter(({ kind }) => kinds.includes(kind)).length;
  for (const job of jobs) {
    comparisons.push(await compareOne(asked, job, learnt));
    if (countOf('same', 'other') >= ENOUGH || countOf('unshown') >= ENOUGH_UNSHOWN) break;
  }
  return comparisons;
}

async function compareOne(asked: Asking, job: KnownJob, learnt: LearntRewrites): Promise<Comparison> {
  let shown: SiteJob | undefined;
  try {
    shown = await askForJob(asked, job.siteJobId);
  } catch (error) {
    asked.signal.throwIfAborted();
    await refuseUnasked(asked, error);
    return { kind: 'unshown', message: (error as Error).message };
  }
  if (shown === undefined) return { kind: 'gone' };
  const { referenceField } = asked.site.options;
  const expected = { fields: job.fields, referenceField, learnt };
  const compared = withRevealedFields(shown);
  if (explainOtherContent(compared, expected) !== undefined) {
    const message = explainOtherContent(shown, expected) ?? 'the job shows another reference or title than was sent';
    return { kind: 'other', message: `job ${job.siteJobId} of posting ${job.key} of feed ${job.feed}: ${message}` };
  }
  return { kind: hasEvidence(compared, expected) ? 'same' : 'silent' };
}

/** Whether the job shows a value that could have contradicted the sent one. */
function hasEvidence({ fields }: SiteJob, { fields: sent = {}, referenceField }: Expectation): boolean {
  return [referenceField, 'title'].some(
    (name) => name !== undefined && fieldOf(fields, name)?.trim() && fieldOf(sent, name)?.trim(),
  );
}

const NOT_NOW = {
  unauthorized: 'it refuses the token',
  unreachable: 'it does not answer',
  throttled: 'it asks to wait',
};

/** Throws if the site accepts no requests at the moment. Returns if it only does not show single jobs. */
async function refuseUnasked({ site, client, rateLimiter, signal }: Asking, error: unknown): Promise<void> {
  await rateLimiter.take(signal);
  const refused = error instanceof NotShownError && error.status === 401;
  const kind = refused ? 'unauthorized' : (await client.probe(signal)).kind;
  if (kind !== 'unauthorized' && kind !== 'unreachable' && kind !== 'throttled') return;
  const text =
    `site ${site.name} could not be asked at ${addressOf(site.options)} whether it is the same site: ${NOT_NOW[kind]} ` +
    `(${(error as Error).message}). Nothing was changed`;
  const again = { kind: 'resume_site', site: site.name, because: 'moved' } as const;
  throw new OperationRefused('conflict', messageOf(text, [{ words: 'Try again when it answers', action: again }]));
}

/** Even at the right site, a few jobs may differ: people edit them, and sites reuse IDs. */
function judge({ name, options }: SiteConfig, address: string, comparisons: readonly Comparison[]): MoveEvidence {
  const others = comparisons.flatMap((one) => (one.kind === 'other' ? [one.message] : []));
  const same = comparisons.filter(({ kind }) => kind === 'same').length;
  const jobs = same + others.length;
  const named = others.slice(0, MOST_NAMED).join('; ');
  if (others.length > 0 && others.length >= same) {
    throw new OperationRefused(
      'conflict',
      `${address} shows other jobs than those of site ${name} in ${others.length} of ${plural(jobs, 'job')}: ${named}. ` +
        `Nothing was changed, and nothing is sent there. Set base_url of site ${name} back, and give the other site a name of its own`,
    );
  }
  if (others.length > 0)
    return { jobs, note: `${address} shows something else in ${others.length} of ${plural(jobs, 'job')}: ${named}` };
  if (jobs > 0) return { jobs };
  const unshown = comparisons.flatMap((one) => (one.kind === 'unshown' ? [one.message] : []));
  const why = unshown[0] ?? whyNothing(comparisons, options.referenceField);
  return {
    jobs,
    note: `whether ${address} is the same site could not be told from its jobs (${why}), so jobmirror assumes that it is`,
  };
}

function whyNothing(comparisons: readonly Comparison[], referenceField: string | undefined): string {
  const asked = comparisons.length;
  if (asked === 0) return 'what was sent for its jobs is not recorded';
  if (comparisons.every(({ kind }) => kind === 'gone'))
    return `it has none of the ${plural(asked, 'job')} it was asked for`;
  return `it shows neither ${referenceField === undefined ? '' : `${referenceField} nor `}title of any of ${plural(asked, 'job')}`;
}

// Resumes sending to a paused site, as a person decides.

export interface ResumeOptions {
  readonly actor: string;
  /** The site was really emptied: it is believed for a day when it says that jobs are gone. */
  readonly emptied: boolean;
  /** It is the same site, with the same jobs, at this address. */
  readonly movedTo?: SiteConfig['options'] | undefined;
  /** Resume only the pause that the person saw: another cause may need something else. */
  readonly seen?: SeenPause | undefined;
}

/** A pause as a process with this address and token sees it. */
export interface SeenPause {
  /** When it began, as it was shown; `undefined`: the site was not paused. */
  readonly since: string | undefined;
  readonly address: string;
  /** Digest of the token: see `tokenDigest`. */
  readonly token: string | undefined;
}

export type Resumed =
  | { readonly kind: 'resumed'; readonly wasPaused: boolean }
  /** Nothing was changed: it is not paused any more, or was paused again. */
  | { readonly kind: 'refused'; readonly message: string };

async function resumePausedSite(
  db: Database,
  site: SiteName,
  { actor, emptied, movedTo, seen }: ResumeOptions,
): Promise<Resumed> {
  return db.transaction(async (tx) => {
    const other = seen === undefined ? undefined : await whyOther(tx, site, seen);
    if (other !== undefined) return { kind: 'refused', message: other };
    const paused = await resumeSite(tx, site);
    if (emptied) await trustGoneForADay(tx, site);
    const to = movedTo && addressOf(movedTo);
    if (movedTo !== undefined && to !== undefined) {
      const { baseUrl, resource = JOB } = movedTo;
      await moveJobUrls(tx, site, baseUrl.href.replace(/\/+$/, '') + resource.path);
      await setAddress(tx, site, to);
    }
    const detail = { site, paused, emptied, ...(to === undefined ? {} : { moved_to: to }) };
    await auditAction(tx, { actor, action: 'resume', detail });
    return { kind: 'resumed', wasPaused: paused };
  });
}

async function whyOther(
  tx: Queryable,
  site: SiteName,
  { since, address, token }: SeenPause,
): Promise<string | undefined> {
  await lockSiteState(tx, site);
  const now = stateAt(address, await readSiteState(tx, site, token)).pausedSince?.toISOString();
  if (now === since) return undefined;
  const state = now === undefined ? 'is not paused any more' : `was paused again at ${now}`;
  return `site ${site} ${state}; nothing was changed`;
}
