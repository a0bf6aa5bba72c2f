// Tells whether what is read with a token proves that a job does not exist: only while the site accepts the token. A reader whose token
// is refused may see the jobs that everybody sees, and takes the others for gone (law 1). Names listed jobs as mappings name them.
import { randomInt } from 'node:crypto';
import type { RateLimiter } from '../flow/rate-limiter.ts';
import { type SiteJobId, type SiteName, siteJobId } from '../posting/identifiers.ts';
import {
  type AskedToWait,
  NotShownError,
  type Readable,
  type ReadPastCaches,
  type SiteClient,
  type SiteJob,
  type Unproven,
} from '../site/exchange.ts';
import {
  type AddressProof,
  checkFailed,
  checkOthers,
  type JobAsker,
  showsOther,
} from '../store/mapping/visible-jobs.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { idsInOtherForms, newestJobId, numberIn, titledNumber } from '../store/site/kept-values.ts';
import { noteAcceptedToken, type TokenHistory, tokenHistory } from '../store/site/refused-token.ts';
import { noteListQuery, throttleSite } from '../store/site/site-state.ts';
import { showJob } from './show-job.ts';
import type { SiteContext } from './site-context.ts';

/** The holder of a token who reads a site. */
export interface TokenReader {
  readonly db: Queryable;
  readonly site: SiteName;
  /** See `tokenDigest`. */
  readonly tokenDigest: string;
  readonly client: SiteClient;
  readonly rateLimiter?: RateLimiter;
}

/** Whether reading needs a token is a property of the site, which changes rarely. */
const NEEDED_FOR_MS = 10 * 60_000;
/** Accepted writes within this time are recorded once, and again before anything is to be proven. */
const NOTED_FOR_MS = 1_000;
/** The account page proves the token for as long as a few jobs are asked for. */
const ACCOUNT_FOR_MS = 2_000;

/** What one process knows of the token of a client. */
interface Known {
  /** Until when reading lists, or jobs, counts as needing a token. */
  readonly neededUntil: { list: number; job: number };
  accountUntil: number;
  notedUntil: number;
  /** When the newest accepted write was sent that is not recorded yet. */
  unnoted: number | undefined;
  /** Resolves when the recording under way has ended, however it ended. */
  noting: Promise<void> | undefined;
}

const knownOf = new WeakMap<SiteClient, Known>();

function known(client: SiteClient): Known {
  const found = knownOf.get(client);
  if (found !== undefined) return found;
  const never = Number.NEGATIVE_INFINITY;
  const made: Known = {
    neededUntil: { list: never, job: never },
    accountUntil: never,
    notedUntil: never,
    unnoted: undefined,
    noting: undefined,
  };
  knownOf.set(client, made);
  return made;
}

/**
 * The site has accepted a write that was sent at `startedAt`, by `performance.now()`. One recording at a time is enough for all
 * requests in flight: they would only wait for each other's row.
 */
export async function noteAcceptedWrite(reader: TokenReader, startedAt: number): Promise<void> {
  const state = known(reader.client);
  state.unnoted = Math.max(state.unnoted ?? startedAt, startedAt);
  if (state.noting === undefined && state.notedUntil <= performance.now()) await recordWrites(reader);
}

/** Every write that was accepted until now is recorded once this resolves. */
async function recordWrites({ db, site, tokenDigest, client }: TokenReader): Promise<void> {
  const state = known(client);
  while (state.noting !== undefined) await state.noting;
  const startedAt = state.unnoted;
  if (startedAt === undefined) return;
  state.unnoted = undefined;
  const recording = noteAcceptedToken(db, site, tokenDigest, performance.now() - startedAt);
  state.noting = recording
    .catch(() => undefined)
    .finally(() => {
      state.noting = undefined;
    });
  try {
    await recording;
    state.notedUntil = performance.now() + NOTED_FOR_MS;
  } catch (error) {
    state.unnoted = Math.max(state.unnoted ?? startedAt, startedAt);
    throw error;
  }
}

/**
 * Returns the client with proof: what it does not find may exist as long as it is not proven that the site accepts the token. Then a job
 * that the site denies counts as not shown, and a list tells why it proves nothing.
 *
 * | proof that the site accepts the token                                             | requests               |
 * | --------------------------------------------------------------------------------- | ---------------------- |
 * | `account_path` is shown                                                           | 1, at most every 2 s   |
 * | it has accepted a write since it last refused the token, if asked since some time | none                   |
 * | it refuses a reader with a wrong token                                            | 1, at most every 10 min |
 */
export function proveReads(reader: TokenReader & { readonly requestsPerSecond: number }): SiteClient {
  const { db, site, client, rateLimiter, requestsPerSecond } = reader;
  // If it cannot be recorded, the next refusal teaches the same.
  const onThrottled = async (asked: AskedToWait): Promise<void> => {
    await throttleSite(db, site, { ...asked, requestsPerSecond }).catch(() => undefined);
    rateLimiter?.slowDown?.();
  };
  const proven: SiteClient = {
    ...client,
    async show(id, signal) {
      const shown = await client.show(id, signal);
      const unproven = shown === undefined ? await whyUnproven(subject, id, { signal }) : undefined;
      if (unproven !== undefined)
        throw new NotShownError(`the site says that it has no job ${id}, but ${unproven.message}`, 404, undefined);
      return shown;
    },
    async list(take, ...how) {
      const [signal, beforePage, maxAgeMs, once] = how;
      const named = listedJobs(reader, signal);
      const whyCopy = (answered: ReadPastCaches) => whyPerhapsCopy(reader, answered, signal);
      const listing = await client.list(
        (siteJob) => named.name(siteJob, take),
        signal,
        beforePage,
        maxAgeMs,
        once,
        whyCopy,
        onThrottled,
      );
      const ambiguous = listing.kind === 'listed' ? named.whyAmbiguous() : undefined;
      if (ambiguous !== undefined) return { kind: 'unreadable', message: ambiguous, changed: false };
      if (listing.kind !== 'listed') return listing;
      return { ...listing, whyUnproven: (since) => whyUnproven(subject, 'list', { since, signal }) };
    },
  };
  // The worker notes accepted writes for the client that it has.
  const subject = { ...reader, client: proven };
  return proven;
}

/** @param since also asks for a write that was sent after this. */
async function whyUnproven(
  reader: TokenReader,
  read: Readable,
  { since, signal }: { readonly since?: Date; readonly signal?: AbortSignal } = {},
): Promise<Unproven | undefined> {
  const { db, site, tokenDigest, client, rateLimiter } = reader;
  const state = known(client);
  const now = performance.now();
  if (state.accountUntil > now && since === undefined) return undefined;
  await recordWrites(reader);
  const history = await tokenHistory(db, site, tokenDigest);
  const hasAccepted = history.acceptedAt !== undefined && (since === undefined || history.acceptedAt > since);
  const kind = read === 'list' ? 'list' : 'job';
  if (hasAccepted || state.neededUntil[kind] > now) return undefined;
  rateLimiter?.spend();
  const check = await client.checkToken(read, signal);
  if (check.kind === 'accepted') {
    state.accountUntil = performance.now() + ACCOUNT_FOR_MS;
    await noteAcceptedToken(db, site, tokenDigest, performance.now() - now);
    return undefined;
  }
  if (check.kind === 'needed') {
    state.neededUntil[kind] = performance.now() + NEEDED_FOR_MS;
    return undefined;
  }
  // A site without jobs of ours would leave a first search for ever unproven, unless it has refused the token.
  const wasRefused = check.kind === 'refused' || (history.refusedAt !== undefined && history.acceptedAt === undefined);
  return { message: describe(history, check, since), mayHide: history.hasJobs || wasRefused };
}

function describe(
  { acceptedAt, refusedAt }: TokenHistory,
  { kind, message }: Awaited<ReturnType<SiteClient['checkToken']>>,
  since: Date | undefined,
): string {
  if (kind === 'refused') return `it refuses the token (${message})`;
  const accepted =
    refusedAt !== undefined && acceptedAt === undefined
      ? 'has accepted no change with this token since it refused it'
      : since !== undefined && acceptedAt !== undefined
        ? 'has accepted no change with this token since this one was sent'
        : 'has accepted no change with this token yet';
  const why = kind === 'unneeded' ? 'answers readers whose token it does not know, too' : 'does not tell who may read';
  return `whether the site accepts the token is not proven: it ${why} (${message}), and ${accepted}`;
}

// Tells whether a list that could not be read past caches may be an old copy: then a create that it lacks may have been done.

/**
 * | the site has taken the query | it refuses it       | it answers about a job | the list       |
 * | ---------------------------- | ------------------- | ---------------------- | -------------- |
 * | never                        | in other ways       | -                      | counts         |
 * | never                        | as if in trouble    | yes                    | counts         |
 * | never                        | the same, for a day | no                     | counts         |
 * | before                       | for a day           | yes                    | counts         |
 * | anything else                |                     |                        | may be a copy  |
 */
async function whyPerhapsCopy(
  { db, site, client, rateLimiter }: TokenReader,
  answered: ReadPastCaches,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { wasTaken, isLasting } = await noteListQuery(db, site, answered === 'read');
  if (answered === 'read' || (!wasTaken && (answered === 'refused' || isLasting))) return undefined;
  const mayCount = !wasTaken || isLasting;
  if (mayCount) rateLimiter?.spend();
  if (mayCount && (await answersAboutJob(client, signal))) return undefined;
  const before = wasTaken ? ', which it did before' : '';
  return `the site did not show it with a query that no cache knows${before}: it may be in trouble, and this an old copy`;
}

/** A job that nobody has asked for: no cache has an answer. */
async function answersAboutJob(client: SiteClient, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    await client.show(siteJobId(String(randomInt(2 ** 30, 2 ** 31))), signal);
    return true;
  } catch (error) {
    const status = error instanceof NotShownError ? error.status : 0;
    return status >= 400 && status < 500 && ![408, 425, 429].includes(status);
  }
}

// Keeps for a while what other jobs of ours have proven about a site that says "no such job".

/** How long the address counts as proven, and for how many jobs; short, so that a site that breaks is noticed soon. */
const PROVEN_MS = 10_000;
const PROVEN_JOBS = 20;
/** A site in trouble is not asked for other jobs again with each change. */
const BLIND_MS = 1_000;

/** What one process knows about a site's address. */
interface Evidence {
  provenUntil: number;
  /** Until when the site counts as showing jobs of ours. */
  showsUntil: number;
  /** Until when it counts as showing none. */
  blindUntil: number;
  believed: number;
  looking: Promise<boolean> | undefined;
  /** Shared by all jobs that seem gone at the same time. */
  checking: Promise<AddressProof> | undefined;
}

const evidenceOf = new WeakMap<SiteContext, Evidence>();

/** Notes that the site has just accepted an update, or shown a job of ours. */
export function noteProven(siteContext: SiteContext): void {
  const evidence = openEvidence(siteContext);
  evidence.provenUntil = performance.now() + PROVEN_MS;
  evidence.believed = 0;
}

/** Whether the address was proven a moment ago; each call uses up a part of that. */
export function isProven(siteContext: SiteContext): boolean {
  const evidence = openEvidence(siteContext);
  if (evidence.provenUntil <= performance.now() || evidence.believed >= PROVEN_JOBS) return false;
  evidence.believed++;
  return true;
}

function openEvidence(siteContext: SiteContext): Evidence {
  const known = evidenceOf.get(siteContext);
  if (known !== undefined) return known;
  const evidence: Evidence = {
    provenUntil: Number.NEGATIVE_INFINITY,
    showsUntil: Number.NEGATIVE_INFINITY,
    blindUntil: Number.NEGATIVE_INFINITY,
    believed: 0,
    looking: undefined,
    checking: undefined,
  };
  evidenceOf.set(siteContext, evidence);
  return evidence;
}

/** Whether the site showed a job of ours a moment ago. An accepted update does not prove that it has a show action. */
export const showsJobs = (siteContext: SiteContext): boolean =>
  openEvidence(siteContext).showsUntil > performance.now();

/** Whether the site shows a job of ours other than this one, or did so a moment ago; calls at the same time share one look. */
export async function showsAnotherJob(siteContext: SiteContext, id: SiteJobId, signal: AbortSignal): Promise<boolean> {
  const { db, site } = siteContext;
  const evidence = openEvidence(siteContext);
  if (showsJobs(siteContext)) return true;
  if (evidence.blindUntil > performance.now()) return false;
  const ask = (other: SiteJobId) => showJob(siteContext, other, signal);
  // Waiting for more answers would take longer than an attempt may.
  const isOver = (error: unknown): boolean => error instanceof NotShownError && error.status === 0;
  evidence.looking ??= showsOther({ db, site, ask }, id, isOver)
    .then((isShown) => isShown === true)
    .finally(() => {
      evidence.looking = undefined;
    });
  const isShown = await evidence.looking;
  if (isShown) evidence.showsUntil = performance.now() + PROVEN_MS;
  else evidence.blindUntil = performance.now() + BLIND_MS;
  return isShown;
}

/** Checks other jobs of ours; calls at the same time share one check. */
export function checkOtherJobs(
  siteContext: SiteContext,
  claimed: SiteJobId,
  signal: AbortSignal,
): Promise<AddressProof> {
  const evidence = openEvidence(siteContext);
  evidence.checking ??= checkOthers(askerOf(siteContext), new Set([claimed]), signal)
    .then((proof) => {
      if (proof.kind === 'proven' && proof.isShown) {
        noteProven(siteContext);
        evidence.showsUntil = performance.now() + PROVEN_MS;
      }
      return proof;
    })
    .catch(checkFailed)
    .finally(() => {
      evidence.checking = undefined;
    });
  return evidence.checking;
}

const askerOf = (siteContext: SiteContext): JobAsker => ({
  db: siteContext.db,
  site: siteContext.site,
  ask: (id, signal) => showJob(siteContext, id, signal),
  probe(signal) {
    siteContext.rateLimiter.spend();
    return siteContext.client.probe(signal);
  },
});

// Names the jobs of a list as mappings name them: sites list job 12 as `12-nurse` or `0012`, too.

/** So many listed IDs are compared; each takes about a hundred bytes. */
const MOST_NUMBERED = 500_000;

interface ListedJobs {
  /** Hands the job over under its number, if that names it. */
  readonly name: (siteJob: SiteJob, take: (siteJob: SiteJob) => void | Promise<void>) => void | Promise<void>;
  /** Explains that the numbers of the IDs do not tell the jobs apart. */
  readonly whyAmbiguous: () => string | undefined;
}

function listedJobs(reader: TokenReader, signal: AbortSignal | undefined): ListedJobs {
  let asking: Promise<readonly [ReadonlySet<string>, boolean]> | undefined;
  let withoutZeros: Promise<boolean | Error> | undefined;
  let ambiguous: string | undefined;
  const numbered = new Map<string, SiteJobId>();

  /** A mapping may have the ID as it is listed; and sites that fill up their numbers may know no other form. */
  async function isNamedBy(number: SiteJobId, siteJob: SiteJob): Promise<boolean> {
    asking ??= Promise.all([idsInOtherForms(reader.db, reader.site), areNumbersEnough(reader, signal)]);
    const [mapped, areEnough] = await asking;
    if (mapped.has(siteJob.siteJobId)) return false;
    if (!siteJob.siteJobId.startsWith('0')) return areEnough;
    withoutZeros ??= isShownAs(number, siteJob, reader, signal);
    const isShown = await withoutZeros;
    if (isShown instanceof Error)
      ambiguous ??= `Whether job ${siteJob.siteJobId} is job ${number} could not be told: ${isShown.message}`;
    return areEnough && isShown === true;
  }

  return {
    name(siteJob, take) {
      const { siteJobId: id } = siteJob;
      const number = numberIn(id);
      if (number === undefined || number === id) return take(siteJob);
      return isNamedBy(number, siteJob).then((isNamed) => {
        if (!isNamed) return take(siteJob);
        const other = numbered.get(number);
        if (other !== undefined) ambiguous ??= `The list has two jobs with the number ${number}: ${other} and ${id}`;
        else if (numbered.size < MOST_NUMBERED) numbered.set(number, id);
        return take({ ...siteJob, siteJobId: number });
      });
    },
    whyAmbiguous: () => ambiguous,
  };
}

/** Whether the site shows this listed job under this ID: a list may show less of it. @returns why that could not be told */
async function isShownAs(
  id: SiteJobId,
  listed: SiteJob,
  { client }: TokenReader,
  signal: AbortSignal | undefined,
): Promise<boolean | Error> {
  try {
    const shown = await client.show(id, signal);
    if (shown === undefined) return false;
    const areSame = [
      [shown.fields.title, listed.fields.title],
      [shown.createdAt?.getTime(), listed.createdAt?.getTime()],
    ];
    return shown.ownId === listed.siteJobId || areSame.every(([one, other]) => other === undefined || one === other);
  } catch (error) {
    return error as Error;
  }
}

/** Whether the number alone names a job of the site: it has named one so itself, or shows one by its number. */
async function areNumbersEnough({ db, site, client }: TokenReader, signal: AbortSignal | undefined): Promise<boolean> {
  const newest = await newestJobId(db, site);
  if (newest === undefined) return false;
  if (/^[1-9]\d*$/.test(newest)) return true;
  const number = titledNumber(newest);
  return number !== undefined && (await client.show(number, signal).catch(() => undefined)) !== undefined;
}
