// Before a request, checks that the job is still its posting's, if the site may have reused the job ID, or made it of a title.
import { explainMissed, readForms, showsOwnForm } from '../plan/compare-shown.ts';
import { problemsInOneSentence, updatableFields } from '../plan/desired-change.ts';
import { comparePosting } from '../plan/match/compare-job.ts';
import { type Message, messageOf, plural, textOf } from '../plan/message.ts';
import type { LearntRewrites } from '../plan/observe-values.ts';
import { fieldOf } from '../plan/same-meaning.ts';
import { judgeSuspicion, MAX_REFUSED_ALIKE } from '../plan/set-up-suspicion.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Problem } from '../posting/posting.ts';
import { explainOtherContent, isMadeOfTitle, tellOtherReference } from '../site/contradiction.ts';
import {
  type Exchange,
  NotShownError,
  type Outcome,
  type SiteJob,
  statesDeletion,
  withRevealedFields,
} from '../site/exchange.ts';
import { formOfRefusal, type SetUpFault } from '../site/set-up-fault.ts';
import { readSetUpSuspects } from '../store/backlog/set-up-suspects.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { type FindSharedNames, provenByValues, sharedNamesOfOpen } from '../store/change/candidate-owners.ts';
import { learntRewrites, referenceState } from '../store/site/kept-values.ts';
import { wasRefusedAlone } from '../store/site/recent-requests.ts';
import { checkOtherJobs, showsAnotherJob, showsJobs } from './prove-token.ts';
import { showJob, warnOfUnshownJob } from './show-job.ts';
import type { SiteContext } from './site-context.ts';
import { showsReferences } from './site-health.ts';

/** Whether the job may be another posting's: an ID that is made of a title goes to the next job with that title. */
export const mayBeOthers = ({ request, idMayBeReused }: Attempt): boolean =>
  request.kind !== 'create' && (idMayBeReused === true || isMadeOfTitle(request.siteJobId));

/**
 * Returns a `foreign` exchange if the site shows another posting's job under this ID, and an `unconfirmed` one if what it
 * shows does not tell whose job it is that would be changed or deleted; `undefined`: the request may be sent. After a job expires, the
 * site may give its ID to the next create, whose answer may be lost: then only the site knows. An update of a job that
 * cannot be shown is sent: unlike a delete, it can be repaired. So is a delete whose ID is only made of a title, if the site
 * shows no job, or redirects to where this one is. A create is not sent if the posting had a job whose address, made of its title, the site
 * has given away: that job may have another address.
 */
export async function confirmOwn(
  attempt: Attempt,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<Exchange | undefined> {
  const { request, idMayBeReused, lostJobId } = attempt;
  const startedAt = performance.now();
  const notSent = (outcome: Outcome): Exchange => ({
    outcome,
    request: { method: 'GET', url: '' },
    durationMs: performance.now() - startedAt,
  });
  if (request.kind === 'create') {
    const mayHaveMoved = lostJobId !== undefined && isMadeOfTitle(lostJobId) && !siteContext.policy.canList;
    if (!mayHaveMoved) return undefined;
    const message = `not sent: the site gave the address of this posting's job ${lostJobId} to another job; it may have another one since its title changed, which only a list could tell`;
    return notSent({ kind: 'unconfirmed', isUntraceable: true, message });
  }
  if (!mayBeOthers(attempt)) return undefined;
  let shown: SiteJob | undefined;
  try {
    shown = await showJob(siteContext, request.siteJobId, signal);
  } catch (error) {
    warnOfUnshownJob(siteContext, request.siteJobId, error);
    const leads = error instanceof NotShownError && error.status >= 300 && error.status < 400;
    const isAsked =
      idMayBeReused === true || (!leads && (await showsAnotherJob(siteContext, request.siteJobId, signal)));
    return request.kind === 'delete' && isAsked
      ? notSent(outcomeOfUnshownJob(error, (why) => unconfirmedBecause(request.siteJobId, why)))
      : undefined;
  }
  const foreign = shown === undefined ? undefined : await explainForeignReference(shown, attempt, siteContext);
  const needsProof = request.kind === 'delete' || idMayBeReused !== true;
  if (foreign !== undefined && (await isCertainlyForeign(attempt, siteContext, needsProof)))
    return notSent({ kind: 'foreign', message: foreign });
  const isDeleted = shown !== undefined && statesDeletion(shown, attempt.before);
  const isUpdate = request.kind === 'update';
  if (isDeleted || (shown === undefined && (isUpdate || idMayBeReused !== true))) return undefined;
  // A reference that proves nothing is a reason to wait only where something else says that the ID was used again.
  const why =
    (idMayBeReused === true ? foreign : undefined) ??
    (shown === undefined
      ? await tellBlindSite(siteContext, request.siteJobId, signal)
      : foreign === undefined && showsReference(shown, siteContext)
        ? undefined
        : await tellOtherContent(shown, attempt, siteContext));
  if (why === undefined) return undefined;
  const message = unconfirmedBecause(request.siteJobId, why);
  return notSent(
    isUpdate
      ? { kind: 'unconfirmed', isUntraceable: true, message }
      : { kind: 'unconfirmed', message: `${message}${shown === undefined ? '' : DELETE_THERE}` },
  );
}

const DELETE_THERE = ". If it is this posting's job, delete it on the site and retry";

/** A site that shows none of our jobs may have this one as well. */
async function tellBlindSite(
  siteContext: SiteContext,
  id: SiteJobId,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (showsJobs(siteContext)) return undefined;
  const verdict = await checkOtherJobs(siteContext, id, signal);
  if (verdict.kind === 'proven') return undefined;
  return verdict.kind === 'unknown' ? textOf(verdict.message) : 'the site shows neither this job nor others of ours';
}

const showsReference = (shown: SiteJob, { policy: { referenceField } }: SiteContext): boolean =>
  referenceField !== undefined && (fieldOf(withRevealedFields(shown).fields, referenceField)?.trim() ?? '') !== '';

const sharedOf = new WeakMap<SiteContext, FindSharedNames>();

/**
 * Where no reference tells, another title than the posting had, and is to have, suggests that the job is another posting's; not so the title
 * that it showed after our last write, or next to a value that only this posting has. So do, next to its title, a text and a place or address
 * that are all others. An update says nothing about fields that are left to the site.
 */
async function tellOtherContent(
  shown: SiteJob,
  { request, key, before, accepted, createOnly, forms }: Attempt,
  siteContext: SiteContext,
): Promise<string | undefined> {
  if (before === undefined) return undefined;
  const { db, site, policy } = siteContext;
  const { referenceField } = policy;
  const known = accepted === undefined ? [before] : [before, accepted.fields];
  const own = known.map((fields) => (request.kind === 'update' ? updatableFields(fields, createOnly) : fields));
  const { types, fields: says } = withRevealedFields(shown);
  // What the job showed after our last write stands for what was sent.
  const fields = Object.fromEntries(
    Object.entries(says).map(([name, value]) => [
      name,
      showsOwnForm(forms, name, value) ? (fieldOf(before, name) ?? value) : value,
    ]),
  );
  const tell = (learnt: LearntRewrites): 'title' | 'content' | undefined => {
    if (own.every((one) => explainOtherContent({ fields }, { fields: one, learnt }) !== undefined)) return 'title';
    const rules = { ...policy.places, referenceField, learnt };
    const isOther = own.every(
      (one) => comparePosting({ key, fields: one }, { fields, types }, rules).likeness() === 'other',
    );
    return isOther ? 'content' : undefined;
  };
  if (tell(new Map()) === undefined) return undefined;
  const learnt = await learntRewrites(db, site);
  const differs = tell(learnt);
  if (differs === undefined) return undefined;
  if (differs === 'content')
    return 'the site shows it with another text than this posting had, at another place or with another address';
  const pair = { key, fields: before, shown: { fields: says, types } };
  const rules = { ...policy.places, referenceField, learnt, showsReferences: await showsReferences(siteContext) };
  const findShared = sharedOf.get(siteContext) ?? sharedNamesOfOpen(db, site);
  sharedOf.set(siteContext, findShared);
  const [isProven] = await provenByValues(db, site, rules, [pair], findShared);
  if (isProven === true) return undefined;
  return 'the site shows it with another title than this posting had, and neither a reference nor another value that only this posting has';
}

/** The outcome of a request that is not sent because the site did not show the job. */
export function outcomeOfUnshownJob(error: unknown, describe: (why: string) => string): Outcome {
  if (error instanceof NotShownError && (error.status === 429 || error.retryAfterMs !== undefined)) {
    return error.retryAfterMs === undefined
      ? { kind: 'throttled' }
      : { kind: 'throttled', retryAfterMs: error.retryAfterMs };
  }
  return { kind: 'unconfirmed', message: describe(`checking it failed: ${(error as Error).message}`) };
}

const unconfirmedBecause = (id: SiteJobId, why: string): string =>
  `not sent: job ${id} may be another posting's by now, because the site ` +
  `${isMadeOfTitle(id) ? 'makes job IDs of titles' : 'reuses job IDs'}, a create is in doubt or the database was restored, and ${why}`;

/**
 * Explains that the shown reference makes the job another posting's; `undefined`: nothing suggests that, or it is what the job showed after
 * our last write, and so is its title. A site that replaces references may show the same one for every job, or make it of an ID that it
 * uses again.
 */
export async function explainForeignReference(
  shown: SiteJob,
  attempt: Attempt,
  siteContext: SiteContext,
): Promise<string | undefined> {
  const { referenceField } = siteContext.policy;
  const expected = { fields: attempt.accepted?.fields, before: attempt.before, referenceField };
  const compared = withRevealedFields(shown);
  if (tellOtherReference(compared, expected) === undefined) return undefined;
  const isOwnForm = showsOwnForm(attempt.forms, referenceField, fieldOf(compared.fields, referenceField ?? ''));
  if (isOwnForm && (await tellOtherContent(shown, attempt, siteContext)) === undefined) return undefined;
  const learnt = await learntRewrites(siteContext.db, siteContext.site);
  if (tellOtherReference(compared, { ...expected, learnt }) === undefined) return undefined;
  return tellOtherReference(shown, expected) ?? "the job does not show the posting's reference";
}

/**
 * Whether another reference is enough to end a posting's claim to the job. Not for a delete, after which nobody would look for the job,
 * if the site is not known to show references as they were sent: it may have made this one of the posting's own.
 */
export async function isCertainlyForeign(
  { request, forms }: Attempt,
  siteContext: SiteContext,
  needsProof = request.kind === 'delete',
): Promise<boolean> {
  const { db, site, address, policy } = siteContext;
  const field = policy.referenceField ?? '';
  const { kind } = readForms(forms)(field);
  if (!needsProof || kind === 'as_sent' || kind === 'rewritten') return true;
  return (await referenceState(db, { site, address, field })) === 'shown';
}

// Double-checks a site that refuses a request: one that says "not authorised" may say so of one job only, and one that
// does not say what is wrong with a posting may refuse all of them.

const MOST_SHOWN = 200;
const UNKNOWN_FAULT: SetUpFault = { isCertain: false };

/**
 * Returns the outcome unchanged; or `set_up`, if it is not known yet whether the site refuses this posting or every one, or if it refuses
 * every one. If nothing can be read, the posting is sent again too.
 */
export async function confirmRejected(outcome: Outcome, attempt: Attempt, siteContext: SiteContext): Promise<Outcome> {
  const confirmed = await judgeRefusal(outcome, attempt, siteContext);
  if (confirmed.kind !== 'rejected' || confirmed.taken !== undefined) return confirmed;
  const takenBy = fieldsTaken(attempt, confirmed.problems);
  return takenBy === undefined ? confirmed : { ...confirmed, takenBy };
}

async function judgeRefusal(outcome: Outcome, attempt: Attempt, siteContext: SiteContext): Promise<Outcome> {
  if (outcome.kind !== 'rejected' || outcome.denied !== undefined || attempt.request.kind === 'delete') return outcome;
  if (isTaken(attempt, outcome.problems, siteContext)) return outcomeOfTaken(outcome, attempt, siteContext);
  if (!mayBeOfAll(outcome)) return { ...outcome, problems: explained(outcome.problems, attempt, siteContext) };
  if (siteContext.policy.canary.requests === 0) return outcome;
  const { problems, setUp = UNKNOWN_FAULT } = outcome;
  const suspects = await readSetUpSuspects(siteContext.db, siteContext.site, attempt, MAX_REFUSED_ALIKE).catch(
    () => undefined,
  );
  if (suspects === undefined) return { kind: 'set_up', problems };
  const message = problemsInOneSentence(problems);
  const form = formOfRefusal(message);
  const refused = suspects.others.length + 1;
  const verdict = judgeSuspicion({
    ...suspects,
    isCertain: setUp.isCertain,
    isKnown: setUp.looksLike !== undefined,
    othersDiffer: suspects.others.some((other) => formOfRefusal(other) !== form),
    refused,
  });
  if (verdict === 'job') return { kind: 'rejected', problems };
  return verdict === 'wait'
    ? { kind: 'set_up', problems }
    : { kind: 'set_up', problems, pause: causeOf(setUp, message, refused) };
}

const TAKEN = /\b(?:already|duplicate|exists?|in use|taken|unique)\b/i;

/** Whether the site refuses the reference of a create or update because a job has it. Databases name the value, or the field within an index. */
function isTaken({ request }: Attempt, problems: readonly Problem[], { policy: { referenceField } }: SiteContext) {
  if (request.kind === 'delete' || referenceField === undefined) return false;
  const reference = fieldOf(request.fields, referenceField);
  if (request.kind === 'update' && reference === undefined) return false;
  const nameOf = (field: string): string => field.replaceAll('_', '-');
  const names = [referenceField, reference ?? ''].map(wordsOf).filter((words) => words !== '  ');
  const isMeant = (message: string): boolean => names.some((words) => wordsOf(message).includes(words));
  return problems.some(
    ({ field, message }) =>
      TAKEN.test(message) && (field === undefined ? isMeant(message) : nameOf(field) === nameOf(referenceField)),
  );
}

/** Not of what the site lacks, such as a category that must exist. */
const IS_TAKEN =
  /\b(?:taken|duplicated?|duplicates?|(?<!not )unique|(?:already|currently) (?:\w+ )?(?:exists?|in use|used|registered)|exists already|is in use)\b/i;

/**
 * The fields whose values a job seems to have, as the site says that they are taken; `undefined`: it does not. One that is not sent, as the address
 * of the job, is mostly made of the title.
 */
function fieldsTaken({ request, accepted }: Attempt, problems: readonly Problem[]): readonly string[] | undefined {
  const said = problems.filter(({ message }) => IS_TAKEN.test(message));
  if (said.length === 0 || accepted === undefined || request.kind === 'delete') return undefined;
  const named = Object.keys(accepted.fields).filter((name) =>
    said.some(
      ({ field, message }) => wordsOf(field ?? '') === wordsOf(name) || wordsOf(message).includes(wordsOf(name)),
    ),
  );
  return named.length > 0 ? named : 'title' in accepted.fields ? ['title'] : undefined;
}

/** The words of a text, in lower case, each between blanks. */
const wordsOf = (text: string): string =>
  ` ${
    text
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu)
      ?.join(' ') ?? ''
  } `;

/**
 * A proxy may have repeated the request, or an earlier try made a job that the list showed too late: the list tells whether the job that has
 * the reference is the posting's.
 */
function outcomeOfTaken(
  outcome: Extract<Outcome, { kind: 'rejected' }>,
  { request }: Attempt,
  { policy }: SiteContext,
): Outcome {
  const { problems: taken } = outcome;
  if (request.kind === 'update' || !policy.canList) return { ...outcome, taken };
  const said = problemsInOneSentence(taken);
  const message = `The site refused it (${said}), but may have made the job at an earlier request`;
  return { kind: 'unknown', message, taken };
}

/** What the site misses may be what an update leaves out. */
const explained = (problems: readonly Problem[], { request, accepted }: Attempt, { policy }: SiteContext) =>
  request.kind !== 'update' || policy.omittedFields !== undefined
    ? problems
    : problems.map((problem) => explainMissed(problem, request.fields, accepted?.fields ?? {}));

/** The words say nothing about the job, or look like a fault of the set-up. */
const mayBeOfAll = ({ problems, perhapsDone, setUp }: Extract<Outcome, { kind: 'rejected' }>): boolean =>
  perhapsDone !== true &&
  (setUp !== undefined || problems.every(({ field, value }) => field === undefined && value === undefined));

function causeOf({ looksLike }: SetUpFault, message: string, refused: number): Message {
  const shown = message.length > MOST_SHOWN ? `${message.slice(0, MOST_SHOWN)}…` : message;
  const all = refused === 1 ? 'the only posting' : `the first ${plural(refused, 'posting')} alike`;
  const said = `it refused ${all}: ${JSON.stringify(shown)}`;
  if (looksLike === undefined)
    return messageOf(`${said}, which says nothing about any one of them`, [
      { words: 'Correct what it expects of every request, in the settings of the site and the feed or on the site' },
    ]);
  return typeof looksLike === 'string'
    ? `${looksLike}; ${said}`
    : messageOf(`${looksLike.text}; ${said}`, looksLike.next);
}

/**
 * Returns the outcome unchanged; or `forbidden` if the site has answered 401 for the posting before and has accepted other changes since.
 * A create that a list has shown as not made stays in doubt: the list may have been read without the rights of the token.
 * Otherwise each such posting would pause its site again whenever it is resumed.
 */
export async function confirmRefused(outcome: Outcome, attempt: Attempt, { db, site }: SiteContext): Promise<Outcome> {
  if (outcome.kind !== 'unauthorized' || attempt.wasDoubted === true) return outcome;
  const isAlone = await wasRefusedAlone(db, site, attempt).catch(() => false);
  if (!isAlone) return outcome;
  const message =
    'The site answered 401 again, and has accepted other changes since the first time: it refuses this one, not the token';
  return { kind: 'forbidden', problems: [{ message }] };
}
