// Finds out how a site shows jobs: whether it keeps the reference that creates send, and whether it shows jobs right
// after it has created them.
import { setTimeout as wait } from 'node:timers/promises';
import { tell } from '../plan/message.ts';
import { compareReferences, fieldOf } from '../plan/same-value.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { Fields } from '../posting/posting.ts';
import { type SiteJob, toCompare } from '../site/exchange.ts';
import type { Attempt } from '../store/change/attempt.ts';
import {
  noteHidesNew,
  noteNewJob,
  readNewJobs,
  recentlyAccepted,
  sampleOfAges,
} from '../store/mapping/visible-jobs.ts';
import {
  describeReference,
  noteReference,
  type ReferenceEvidence,
  type ReferenceState,
  referenceState,
} from '../store/site/kept-values.ts';
import { showJob } from './show-job.ts';
import type { SiteContext } from './site-context.ts';

/** So many created jobs are asked for until one shows what the site keeps. */
const MOST_ASKED = 5;

/** What one process knows. */
interface Watched {
  state: ReferenceState;
  asked: number;
  isAsking: boolean;
}

const watchedOf = new WeakMap<SiteContext, Watched>();

/**
 * Takes the answer to a create that certainly shows its job. An answer may show less than the site keeps, so that the job itself is asked
 * for before the reference counts as missing.
 * @param known the job, if the site has just shown it.
 */
export async function watchReference(
  sent: Fields,
  created: SiteJob,
  siteContext: SiteContext,
  signal: AbortSignal,
  known?: SiteJob,
): Promise<void> {
  const { referenceField } = siteContext.policy;
  if (referenceField === undefined || !fieldOf(sent, referenceField)?.trim()) return;
  const watched = await watch(siteContext, referenceField);
  const sentReference = fieldOf(sent, referenceField) ?? '';
  if (keeps(sentReference, created, referenceField)) {
    if (watched.state === 'unknown' || watched.state === 'missing') await note(siteContext, watched, { kind: 'shown' });
    return;
  }
  const isOpen = watched.state === 'unknown' || watched.state === 'shown';
  if (!isOpen || watched.isAsking || watched.asked >= MOST_ASKED) return;
  watched.isAsking = true;
  watched.asked++;
  try {
    const shown = known ?? (await showJob(siteContext, created.siteJobId, signal));
    const evidence = shown === undefined ? undefined : evidenceOf(sent, shown, referenceField);
    if (evidence !== undefined) await note(siteContext, watched, evidence);
  } finally {
    watched.isAsking = false;
  }
}

/** Whether jobs of the site are known to show references. */
export async function showsReferences({ db, site, address, policy }: SiteContext): Promise<boolean> {
  if (policy.referenceField === undefined) return false;
  const state = await referenceState(db, { site, address, field: policy.referenceField });
  return state === 'shown' || state === 'some';
}

/** The list shows a job with a reference. */
export async function noteShownReference(siteContext: SiteContext, referenceField: string): Promise<void> {
  const watched = await watch(siteContext, referenceField);
  if (watched.state === 'unknown' || watched.state === 'missing') await note(siteContext, watched, { kind: 'shown' });
}

async function watch(siteContext: SiteContext, field: string): Promise<Watched> {
  const { db, site, address } = siteContext;
  const known = watchedOf.get(siteContext);
  if (known !== undefined) return known;
  const watched = { state: await referenceState(db, { site, address, field }), asked: 0, isAsking: false };
  watchedOf.set(siteContext, watched);
  return watched;
}

async function note(siteContext: SiteContext, watched: Watched, evidence: ReferenceEvidence): Promise<void> {
  const { db, site, address, policy, log, writeAction } = siteContext;
  const field = policy.referenceField ?? '';
  const news = await noteReference(db, { site, address, field }, evidence);
  // Otherwise another process has noted it.
  watched.state = news ?? (await referenceState(db, { site, address, field }));
  const message = news === undefined ? undefined : describeReference(field, news);
  if (message !== undefined) log.warn({ site, field }, tell(message, writeAction));
}

/** Whether the job shows the reference that was sent, perhaps in another form or within another text, and not one of the site's own. */
function keeps(sent: string, siteJob: SiteJob, field: string): boolean {
  const shown = fieldOf(toCompare(siteJob).fields, field)?.trim() ?? '';
  if (shown === '') return false;
  return compareReferences(sent, shown) !== 'other' || shown.toLowerCase().includes(sent.trim().toLowerCase());
}

/**
 * What a job says about the reference that was sent for it; `undefined`: it shows nothing else of what was sent, so that it proves
 * nothing.
 */
export function evidenceOf(sent: Fields, shown: SiteJob, referenceField: string): ReferenceEvidence | undefined {
  if (keeps(fieldOf(sent, referenceField) ?? '', shown, referenceField)) return { kind: 'shown' };
  const others = Object.keys(sent).filter((name) => name !== referenceField && fieldOf(shown.fields, name)?.trim());
  return others.length === 0 ? undefined : { kind: 'missing', siteJobId: shown.siteJobId };
}

/** A site that reads from a copy of its database may show a job a moment later. */
const AGAIN_MS = 1_000;

/** The pull of each feed whose first new job was asked for last. */
const watchedJobOf = new WeakMap<SiteContext, Map<FeedName, number | undefined>>();

/** Asks for the first job that a process creates in a pull. Returns the job if the site showed it. */
export async function watchNewJob(
  { feed, pull }: Attempt,
  { siteJobId: id }: SiteJob,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<SiteJob | undefined> {
  const { db, site, policy } = siteContext;
  const watched = watchedJobOf.get(siteContext) ?? new Map<FeedName, number | undefined>();
  watchedJobOf.set(siteContext, watched);
  if (watched.has(feed) && watched.get(feed) === pull) return undefined;
  watched.set(feed, pull);
  if ((await readNewJobs(db, site)).isCertain) return undefined;
  const shown = await showJob(siteContext, id, signal);
  await noteNewJob(db, site, id, shown !== undefined);
  if (shown !== undefined) return shown;
  // Noted at once, as the process may end meanwhile.
  await wait(Math.min(AGAIN_MS, policy.doubts.resolveAfterMs), undefined, { signal });
  const late = await showJob(siteContext, id, signal);
  if (late !== undefined) await noteNewJob(db, site, id, true);
  return late;
}

/**
 * Whether the site is known not to show each new job at once: it did not show one, but shows others of ours, or that one by now. A site
 * that shows none, such as one without a show action, proves nothing.
 */
export async function hidesNewJobs(siteContext: SiteContext, signal: AbortSignal): Promise<boolean> {
  const { db, site } = siteContext;
  const { hidden, isCertain } = await readNewJobs(db, site);
  if (hidden === undefined || isCertain) return isCertain;
  const others = [...(await recentlyAccepted(db, site, hidden)), ...(await sampleOfAges(db, site, hidden))];
  for (const id of new Set([hidden, ...others])) {
    // What cannot be asked for is asked for the next time.
    const shown = await showJob(siteContext, id, signal).catch(() => undefined);
    if (shown === undefined) continue;
    await noteHidesNew(db, site);
    return true;
  }
  return false;
}
