// Double-checks a site that says "no such job": at a wrong address it would say so of every job. Reads the job of a write that was
// answered with a redirect or a page.
import { compareShown, readForms, showsOwnForm } from '../plan/compare-shown.ts';
import { comparePosting } from '../plan/match/compare-job.ts';
import { isTimely, windowFrom } from '../plan/match/open-contents.ts';
import { cluesOf } from '../plan/match/taken-content.ts';
import { type Message, messageOf, plural, reword, textOf } from '../plan/message.ts';
import { compareValues, fieldOf, meansTheSame, referenceForm, typeOf } from '../plan/same-meaning.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Fields } from '../posting/posting.ts';
import { isMadeOf, isMadeOfTitle, isReworded } from '../site/contradiction.ts';
import {
  type Exchange,
  type Outcome,
  type SiteJob,
  shownStates,
  shownUnlessDeleted,
  statesDeletion,
  withRevealedFields,
} from '../site/exchange.ts';
import { readJobId, wordsOfAnswer } from '../site/http/job-address.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { openReferences, ownedJobIds, ownedJobs, withSharedReference } from '../store/change/candidate-owners.ts';
import { renewAttempt } from '../store/change/claim.ts';
import { moveJob } from '../store/change/restored-database.ts';
import { type DeniedJob, endDenied, searchFeedAgain, takeDenied } from '../store/change/site-search.ts';
import {
  type AddressProof,
  expectedJobs,
  explainHidden,
  recentlyAccepted,
  recentlyDeleted,
  sampleOfAges,
} from '../store/mapping/visible-jobs.ts';
import { learntRewrites, numberIn } from '../store/site/kept-values.ts';
import { isSiteElsewhere } from '../store/site/known-address.ts';
import { explainForeignReference, isCertainlyForeign, outcomeOfUnshownJob } from './confirm-own.ts';
import { checkOtherJobs, isProven, noteProven, showsAnotherJob } from './prove-token.ts';
import { foundJobs } from './search-site.ts';
import { rateLimitedJobAsker, showJob } from './show-job.ts';
import type { SiteContext } from './site-context.ts';

/**
 * Returns the outcome unchanged; or `unknown` if the site still shows the job, and not as deleted, or may only hide it; or `misconfigured` if
 * none of our jobs can be found. Believing it would remove all mappings of the site, and create every job a second time once the address
 * is right again. A site that expires jobs still has younger ones.
 */
export async function confirmGone(
  { outcome: claimed, response }: Pick<Exchange, 'outcome' | 'response'>,
  attempt: Attempt,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<Outcome> {
  const isPage = response !== undefined && !isRedirect(response.status);
  const outcome = await readChanged(claimed, attempt, siteContext, signal, isPage);
  if (outcome.kind === 'accepted' && attempt.request.kind === 'update') noteProven(siteContext);
  if (await wasDeletedBefore(outcome, attempt, siteContext, signal)) return { kind: 'gone' };
  if (outcome.kind !== 'gone' || attempt.request.kind === 'create')
    return readDenied({ claimed, outcome, response }, attempt, siteContext, signal);
  const { siteJobId } = attempt.request;
  try {
    // A live job taken for gone would be created a second time, or never be deleted (law 1).
    const shown = await showJob(siteContext, siteJobId, signal);
    if (shown !== undefined && !statesDeletion(shown, attempt.before, attempt.accepted?.fields)) {
      const foreign = await explainForeignReference(shown, attempt, siteContext);
      if (foreign !== undefined && (await isCertainlyForeign(attempt, siteContext)))
        return { kind: 'foreign', message: foreign };
      if (await showsStateOfDeleted(shown, attempt, siteContext, signal)) return { kind: 'gone' };
      return { kind: 'unknown', message: `the site says that job ${siteJobId} is gone, but still shows it` };
    }
    const hidden = shown === undefined ? await explainHidden(siteContext, siteJobId) : undefined;
    if (hidden !== undefined) return { kind: 'unknown', message: hidden };
  } catch (error) {
    return unlessThrottled(error, `the job seems to be gone, but checking it failed: ${(error as Error).message}`);
  }
  if (isProven(siteContext)) return unlessMoved(siteJobId, attempt, siteContext);
  const verdict = await checkOtherJobs(siteContext, siteJobId, signal);
  switch (verdict.kind) {
    case 'proven':
      return unlessMoved(siteJobId, attempt, siteContext);
    case 'unknown':
      return unlessThrottled(verdict.error, verdict.message);
    case 'unproven':
      return { kind: 'misconfigured', message: describeUnproven(siteJobId, verdict, siteContext) };
    default:
      return verdict satisfies never;
  }
}

/**
 * Whether the job of a delete that the site refuses, or does not answer in the end, is deleted already: an earlier try may have been done. Otherwise
 * each further try would end so.
 */
async function wasDeletedBefore(
  { kind }: Outcome,
  attempt: Attempt,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<boolean> {
  const { request, number } = attempt;
  const isLast = kind === 'unknown' && number >= siteContext.policy.retry.attempts;
  if (request.kind !== 'delete' || !(isLast || kind === 'rejected')) return false;
  const shown = await showJob(siteContext, request.siteJobId, signal).catch(() => undefined);
  return shown !== undefined && (await showsStateOfDeleted(shown, attempt, siteContext, signal));
}

/**
 * Whether the job of a delete shows the state, such as `expired`, of a job whose delete the site has accepted, and that none of the other jobs of
 * ours shows which are asked for: sites that only mark deleted jobs have words of their own for that.
 */
async function showsStateOfDeleted(
  shown: SiteJob,
  { request, before }: Attempt,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<boolean> {
  if (request.kind !== 'delete') return false;
  const { db, site } = siteContext;
  let states = [...shownStates(shown, before)];
  const statesOf = async (ids: readonly SiteJobId[]): Promise<ReadonlyMap<string, string>[]> => {
    const all: ReadonlyMap<string, string>[] = [];
    for (const id of ids) {
      const other = await showJob(siteContext, id, signal).catch(() => undefined);
      if (other !== undefined) all.push(shownStates(other));
    }
    return all;
  };
  if (states.length === 0) return false;
  const deleted = await statesOf(await recentlyDeleted(db, site));
  states = states.filter(([name, state]) => deleted.some((others) => others.get(name) === state));
  if (states.length === 0) return false;
  const recent = await recentlyAccepted(db, site, request.siteJobId);
  const live = await statesOf(recent.length > 0 ? recent : await sampleOfAges(db, site, request.siteJobId));
  return (
    live.length > 0 && states.some(([name, state]) => live.every((others) => (others.get(name) ?? state) !== state))
  );
}

/** An address that is made of the title changes with it: the list tells whether the job is there under another one. */
function unlessMoved(id: SiteJobId, attempt: Attempt, { policy }: SiteContext): Outcome {
  const message = `the site has no job ${id}, and may have given it another address`;
  if (!policy.canList) return untraceable(id, attempt, policy, message) ?? { kind: 'gone' };
  if (!isMadeOfTitle(id)) return { kind: 'gone' };
  return untilListed({ kind: 'unconfirmed', message }, attempt, policy.retry.attempts);
}

/** Without a list, nothing tells where the job is whose title, as far as it is known, is no longer that of its address. */
function untraceable(
  id: SiteJobId,
  { request, before, uncertain = [], number, denied }: Attempt,
  { onMissing }: SiteContext['policy'],
  message: string,
): Extract<Outcome, { kind: 'unconfirmed' }> | undefined {
  const title = fieldOf(before ?? {}, 'title');
  // After a delete of unknown outcome every field is uncertain.
  const mayHaveChanged = uncertain.includes('title') && (request.kind === 'update' || number === 1);
  const isKnown = title !== undefined && isMadeOf(id, title) && !mayHaveChanged;
  const mayDiffer = denied === NAMED_OTHER || (isMadeOfTitle(id) && !isKnown);
  if (!mayDiffer || (request.kind === 'update' && onMissing === 'leave')) return undefined;
  const advice = request.kind === 'delete' ? ". Delete this posting's job there, and discard this delete" : '';
  return { kind: 'unconfirmed', isUntraceable: true, message: `${message}, which only a list could tell${advice}` };
}

/** Another job may have got an address that a job of ours lost with its title: the list tells where ours is now. */
function unlessTaken(
  outcome: Extract<Outcome, { kind: 'foreign' }>,
  attempt: Attempt,
  { policy }: SiteContext,
): Outcome {
  const { canList, retry } = policy;
  const { request, denied } = attempt;
  if (request.kind === 'create' || !isMadeOfTitle(request.siteJobId)) return outcome;
  if (!canList)
    return (request.kind === 'delete' && untraceable(request.siteJobId, attempt, policy, outcome.message)) || outcome;
  const later = untilListed({ kind: 'unconfirmed', message: outcome.message }, attempt, retry.attempts);
  if (later.kind === 'unconfirmed' && later.denied === 'open') return later;
  return request.kind === 'update' || later.kind === 'gone' || denied === LISTED ? outcome : later;
}

/** The ID to which the site redirects requests for the job: another address of it, or another job. */
const renamedTo = (outcome: Outcome, id: SiteJobId): SiteJobId | undefined =>
  outcome.kind === 'misconfigured' && outcome.leadsTo !== id && isMadeOfTitle(id) ? outcome.leadsTo : undefined;

/** A site that asks to wait before it shows a job gets the change again later, however often. */
function unlessThrottled(error: unknown, message: Message): Outcome {
  const failed = error === undefined ? undefined : outcomeOfUnshownJob(error, () => '');
  return failed?.kind === 'throttled' ? failed : { kind: 'unknown', message };
}

/**
 * The outcome that the job shows of a write that was answered with a redirect or a page, which may also be a refusal. After a redirect, a job
 * that is not shown proves nothing: it may be hidden from whoever changed it, or from a token that is no longer valid. If it was deleted, the
 * next try is answered so.
 */
async function readChanged(
  outcome: Outcome,
  attempt: Attempt,
  siteContext: SiteContext,
  signal: AbortSignal,
  isPage: boolean,
): Promise<Outcome> {
  const { request } = attempt;
  const mayTell = outcome.kind === 'unknown' || outcome.kind === 'misconfigured';
  if (request.kind === 'create') return readMade(outcome, { ...attempt, request }, siteContext, signal);
  if (!mayTell || outcome.perhapsDone !== true) return outcome;
  const unknown = (what: string): Outcome => ({
    kind: 'unknown',
    message: `${textOf(outcome.message)}, ${what}`,
  });
  let shown: SiteJob | undefined;
  let mayBeDone = outcome.kind === 'unknown' || request.kind === 'delete';
  try {
    shown = await showJob(siteContext, request.siteJobId, signal);
  } catch {
    if (outcome.kind === 'unknown') return outcome;
    // Some sites redirect every request for a job that they no longer have.
    mayBeDone = false;
  }
  if (shown === undefined && isPage && mayBeDone && request.kind === 'delete') return { kind: 'gone' };
  if (shown === undefined) {
    // Where no other job is shown either, the address may be wrong.
    const others = mayBeDone ? undefined : await checkOtherJobs(siteContext, request.siteJobId, signal);
    return others === undefined || (others.kind === 'proven' && others.isShown)
      ? unknown(`and does not show job ${request.siteJobId}: it may be deleted or hidden`)
      : outcome;
  }
  // Moderators remove jobs, too, and show them again.
  if (request.kind === 'delete' && statesDeletion(shown, attempt.before)) return { kind: 'gone' };
  const foreign = await explainForeignReference(shown, attempt, siteContext);
  if (foreign !== undefined && (await isCertainlyForeign(attempt, siteContext)))
    return { kind: 'foreign', message: foreign };
  if (await showsUpdate(shown, attempt, siteContext, outcome.kind === 'unknown'))
    return { kind: 'accepted', isRead: true };
  return outcome.kind === 'misconfigured'
    ? outcome
    : unknown(`but job ${request.siteJobId} does not show that it was done`);
}

/**
 * A create that was redirected to a job has made it if the job shows the reference that was sent, and all else if the site does not tell that
 * the job is new: sites also redirect to one that exists, such as that of another create of ours. Otherwise the list is to tell; of a job that is
 * not shown, only that it was made.
 */
async function readMade(
  outcome: Outcome,
  { feed, key, request }: Attempt & { readonly request: { readonly kind: 'create'; readonly fields: Fields } },
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<Outcome> {
  const { db, site, policy } = siteContext;
  const { referenceField } = policy;
  if (outcome.kind !== 'unknown' || outcome.perhapsMade === undefined) return outcome;
  const siteJob = await showJob(siteContext, outcome.perhapsMade, signal).catch(() => undefined);
  if (siteJob === undefined) return outcome;
  const { perhapsMade: _, ...other } = outcome;
  if (referenceField === undefined || statesDeletion(siteJob, request.fields)) return other;
  const { fields, types } = withRevealedFields(siteJob);
  const reference = fieldOf(request.fields, referenceField)?.trim();
  if (!reference || fieldOf(fields, referenceField)?.trim() !== reference) return other;
  const isSame = (sent: string): boolean => sent.trim().toLowerCase() === reference.toLowerCase();
  const open = await openReferences(db, site, referenceField);
  if (open.some((each) => isSame(each.reference) && !(each.feed === feed && each.key === key))) return other;
  const rules = { ...policy.places, learnt: await learntRewrites(db, site), referenceField };
  const timely = isTimely(windowFrom(new Date()), siteJob.createdAt);
  const compared = comparePosting({ key, fields: request.fields }, { fields, types }, rules);
  return compared.likeness({ timely, isReferenceShared: timely === undefined }) === 'match'
    ? { kind: 'created', siteJob, isRead: true }
    : other;
}

/**
 * Whether the job has what the update set: each field shows it, as the site may have rewritten it, and not what it showed before.
 * @param isOfJob the redirect leads to the job: then it may leave out fields if another one has visibly changed, and show a value that only
 *   resembles what was sent.
 */
async function showsUpdate(
  shown: SiteJob,
  { request, before, forms, isRepair }: Attempt,
  { db, site, policy: { places, referenceField } }: SiteContext,
  isOfJob: boolean,
): Promise<boolean> {
  if (request.kind !== 'update') return false;
  const { fields, types } = withRevealedFields(shown);
  const rules = { ...places, learnt: await learntRewrites(db, site), referenceField, only: undefined };
  const job = { fields, types, isWhole: true };
  const { changed, hidden } = compareShown({ fields: request.fields, forms: undefined }, job, rules);
  const formerOf = (name: string): string => fieldOf(before ?? {}, name) ?? '';
  const saysOf = (name: string): string => fieldOf(fields, name) ?? '';
  const shows = (name: string, value: string): boolean => meansTheSame(value, saysOf(name), typeOf(types, name));
  const showsForm = (name: string): boolean => showsOwnForm(forms, name, saysOf(name));
  const mayShow = (name: string, value: string): boolean =>
    shows(name, value) || showsForm(name) || compareValues(value, saysOf(name)) !== undefined;
  const isFormer = (name: string): boolean => before === undefined || mayShow(name, formerOf(name));
  // That a job does not have a field which was emptied proves nothing, unless it had the field.
  const formOf = readForms(forms);
  const isHidden = (name: string, value: string): boolean =>
    hidden.includes(name) ||
    (value === '' && fieldOf(fields, name) === undefined && !['as_sent', 'rewritten'].includes(formOf(name).kind));
  const seen = Object.entries(request.fields).filter(([name, value]) => !isHidden(name, value));
  const isSet = ([name, value]: readonly [string, string]): boolean =>
    shows(name, value) ||
    (meansTheSame(value, formerOf(name)) && mayShow(name, value)) ||
    (isFormer(name)
      ? isOfJob && referenceForm(value) === referenceForm(saysOf(name))
      : !changed.includes(name) || (isOfJob && !isRepair && isReworded(value, saysOf(name))));
  const isWhole = seen.length === Object.keys(request.fields).length;
  return seen.every(isSet) && (isWhole || (isOfJob && seen.some(([name]) => !isFormer(name))));
}

/** Whether a job that no posting has is really gone: at a wrong address it would stay on the site for good, and nobody would know. */
export async function isOrphanGone(siteContext: SiteContext, id: SiteJobId, signal: AbortSignal): Promise<boolean> {
  try {
    const shown = await showJob(siteContext, id, signal);
    if (shown !== undefined && !statesDeletion(shown)) return false;
  } catch {
    return false;
  }
  return isProven(siteContext) || (await checkOtherJobs(siteContext, id, signal)).kind === 'proven';
}

function describeUnproven(
  claimed: SiteJobId,
  { asked, seen }: Extract<AddressProof, { kind: 'unproven' }>,
  { site }: SiteContext,
): Message {
  const others = asked === 0 ? '' : ` nor any of ${plural(asked, 'other job')} of ours`;
  const what = `${asked === 0 ? 'job' : 'neither job'} ${claimed}${others} is ${asked === 0 ? 'not ' : ''}on the site`;
  const proof = seen === undefined ? '' : `, and nothing else proves that the XML interface is there (${seen})`;
  return messageOf(`${what}${proof}: check base_url and the token`, [
    { words: 'if the site was really emptied, run', action: { kind: 'resume_site', site, because: 'emptied' } },
  ]);
}

// Recognises a site that denies a job in its own words, under any status but 404.

/** Answers of gateways, and to whoever may not ask. */
const SAYS_NOTHING: ReadonlySet<number> = new Set([401, 403, 408, 425, 429, 502, 503, 504]);
/** Beyond its attempts, a change is sent so often again to find out. */
const MORE_ATTEMPTS = 3;
/** Less than `sync` waits for a change; begins anew while the list is read. */
const WHILE_LISTED_SECONDS = 25;
const RENEW_AFTER_MS = 8_000;
/** Without a list: the answer to an earlier try named another job. */
const NAMED_OTHER = 'its answer named another job';
/** What the list tells of a job. */
const LISTED = 'its list shows this one';

type Denial = Extract<Outcome, { kind: 'rejected' | 'unknown' | 'unconfirmed' | 'misconfigured' }>;

const mayDeny = (outcome: Outcome): outcome is Exclude<Denial, { kind: 'unconfirmed' }> =>
  outcome.kind === 'rejected' || outcome.kind === 'unknown' || outcome.kind === 'misconfigured';

function untilListed(outcome: Denial, { denied, number }: Attempt, attempts: number): Outcome {
  if (denied === 'unlisted') return { kind: 'gone' };
  if (number > attempts + MORE_ATTEMPTS) return outcome;
  if (denied === undefined || denied === 'open' || number === attempts) return { ...outcome, denied: 'open' };
  const note = `the site answers so about jobs that it does not have, but ${denied}`;
  switch (outcome.kind) {
    case 'rejected':
      return { ...outcome, denied, problems: [...outcome.problems, { message: note }] };
    case 'unconfirmed':
      return { ...outcome, denied, message: `${outcome.message}; ${denied}` };
    default:
      return { ...outcome, denied, message: reword(outcome.message, (text) => `${text}; ${note}`) };
  }
}

/**
 * Returns the outcome of an update or delete unchanged; or, if the site answers as it does about jobs that do not exist: `denied`, until its
 * list was read; and once the list has proven that it has no such job, `gone`. Of a failure, at the first attempt, as further ones could
 * pause the site; and at the last one, as the list may prove more by then.
 * @param claimed what the answer alone says
 */
async function readDenied(
  { claimed, outcome, response }: Pick<Exchange, 'outcome' | 'response'> & { readonly claimed: Outcome },
  attempt: Attempt,
  siteContext: SiteContext,
  signal: AbortSignal,
): Promise<Outcome> {
  const { request, number } = attempt;
  const { canList, retry } = siteContext.policy;
  if (outcome.kind === 'foreign' && response === undefined) return unlessTaken(outcome, attempt, siteContext);
  // Sites that keep versions give a job another ID when it is changed.
  const isNamedOther = request.kind === 'update' && outcome.kind === 'unknown' && outcome.contradicts === true;
  if (isNamedOther && attempt.denied === undefined) return { ...outcome, denied: canList ? 'open' : NAMED_OTHER };
  if (!mayDeny(outcome) || request.kind === 'create' || response === undefined || !canList) return outcome;
  const to = renamedTo(claimed, request.siteJobId);
  // A list that has only some jobs may lack it.
  if (to !== undefined && attempt.denied === 'unlisted' && (await mayBeOwn(to, attempt, siteContext, signal)))
    return {
      kind: 'unconfirmed',
      denied: attempt.denied,
      message: `the site redirects to job ${to}, which may be the posting's, but its list does not show that job`,
    };
  if (to !== undefined) return untilListed(outcome, attempt, retry.attempts);
  const { status } = response;
  // A delete that is answered so and leaves no trace of the job was done, or had nothing to do.
  const isDeletion = request.kind === 'delete' && claimed.kind === 'misconfigured' && claimed.perhapsDone === true;
  if (SAYS_NOTHING.has(status) || (isRedirect(status) && !isDeletion) || number > retry.attempts + MORE_ATTEMPTS)
    return outcome;
  // What follows may take longer than an attempt may.
  const isAsked = await renewAttempt(siteContext.db, attempt).catch(() => false);
  if (!isAsked || !(await isDenied(siteContext, request.siteJobId, response, signal).catch(() => false)))
    return outcome;
  return untilListed(outcome, attempt, retry.attempts);
}

/** Whether the job shows the reference of the posting, or cannot be asked for. */
async function mayBeOwn(
  id: SiteJobId,
  { before, accepted }: Attempt,
  { client, rateLimiter, policy: { referenceField } }: SiteContext,
  signal: AbortSignal,
): Promise<boolean> {
  if (referenceField === undefined) return false;
  rateLimiter.spend();
  const shown = await client.show(id, signal).catch(() => null);
  if (shown == null) return shown === null;
  const reference = shownReference(shown, referenceField);
  return [before, accepted?.fields].some(
    (own) => own !== undefined && reference !== '' && fieldOf(own, referenceField)?.trim() === reference,
  );
}

/** Whether the site answers to the write, and to a GET of the job, as it does about a job that never existed, while it shows others. */
async function isDenied(
  siteContext: SiteContext,
  id: SiteJobId,
  { status, body }: NonNullable<Exchange['response']>,
  signal: AbortSignal,
): Promise<boolean> {
  const { client, rateLimiter } = siteContext;
  if ((await explainHidden(siteContext, id)) !== undefined) return false;
  if (!(await showsAnotherJob(siteContext, id, signal))) return false;
  rateLimiter.spend();
  rateLimiter.spend();
  const denial = await client.readDenial(id, signal);
  if (denial === undefined) return false;
  // A failed validation has other words, and an exception may have any.
  const words = wordsOfAnswer(body, id);
  const saysTheSame = words === denial.words && (words !== '' || status === denial.status);
  return saysTheSame || status >= 500 || isRedirect(status);
}

const isRedirect = (status: number): boolean => status >= 300 && status < 400;

/** Reads the list for the jobs that the site denies in its own words. Returns how many changes became due. */
export async function lookForDenied(siteContext: SiteContext, signal: AbortSignal): Promise<number> {
  const { db, site, client, rateLimiter, log } = siteContext;
  const { referenceField } = siteContext.policy;
  const denied = await takeDenied(db, site, WHILE_LISTED_SECONDS, referenceField);
  if (denied.length === 0) return 0;
  const since = new Date();
  const renamed = renamedJobs(denied, referenceField);
  const expected = await expectedJobs(rateLimitedJobAsker(siteContext));
  // A create in place of a job that is gone is compared with them before it is sent.
  const found = await foundJobs(siteContext, { isSearch: false });
  // A form of an ID that is not recognised must not prove that the job is not listed.
  const nameOf = (id: SiteJobId): SiteJobId => numberIn(id) ?? id;
  const names = new Set(denied.map(({ siteJobId }) => nameOf(siteJobId)));
  const listed = new Set<SiteJobId>();
  const take = (siteJob: SiteJob): void => {
    expected.take(siteJob);
    found.take(siteJob);
    renamed.take(siteJob);
    const name = nameOf(siteJob.siteJobId);
    // Sites that only mark deleted jobs may list them.
    if (names.has(name) && !statesDeletion(siteJob)) listed.add(name);
  };
  const keep = async (): Promise<void> => {
    await found.keep();
    await expected.keep();
  };
  let takenAt = performance.now();
  const renew = async (): Promise<void> => {
    if (performance.now() - takenAt <= RENEW_AFTER_MS) return;
    takenAt = performance.now();
    await takeDenied(db, site, WHILE_LISTED_SECONDS, referenceField);
  };
  const listing = await client.list(take, signal, async (stop) => {
    await keep();
    await renew();
    await rateLimiter.take(stop);
  });
  if (listing.kind === 'listed') await keep();
  if (signal.aborted || (await isSiteElsewhere(db, site, siteContext.address))) return 0;
  const unproven =
    listing.kind === 'unreadable'
      ? listing.message
      : listing.ageMs !== undefined
        ? 'its list comes from a cache'
        : ((await expected.tellLeftOut(signal)) ?? (await listing.whyUnproven?.())?.message);
  log.info({ site, denied: denied.length, listed: listed.size, unproven }, 'list read for jobs that the site denies');
  const verdicts = new Map<DeniedJob, string>();
  await renamed.noteShared(siteContext);
  for (const one of denied) {
    await renew();
    const left = await renamed.move(one, siteContext, { since, signal });
    if (left === 'moved') continue;
    const unclear =
      left === undefined
        ? undefined
        : one.desired === 'absent'
          ? `${left}; delete this posting's job there and retry`
          : renamed.isContested(one)
            ? left
            : undefined;
    if (listed.has(nameOf(one.siteJobId))) verdicts.set(one, unclear ?? LISTED);
    else {
      const unlisted = unproven === undefined ? 'unlisted' : `its list proves nothing: ${unproven}`;
      verdicts.set(one, unclear ?? unlisted);
      // A create in its place is compared with these jobs first, and a person says whether it has one of them.
      if (left !== undefined && one.desired === 'present') await searchFeedAgain(db, one.feed);
    }
  }
  await endDenied(db, [...verdicts.keys()], (one) => verdicts.get(one) ?? '');
  return denied.length;
}

/** More jobs with one reference or title are not told apart. */
const MOST_RENAMED = 10;

/** Finds jobs in a list whose addresses may have changed with their titles: by the reference, or, without one, by the title. */
function renamedJobs(denied: readonly DeniedJob[], referenceField: string | undefined) {
  const found = new Map<string, SiteJob[]>();
  const cluesIn = (fields: Fields): readonly string[] => {
    const { reference, title } = cluesOf(fields, referenceField);
    return [reference && `reference ${reference}`, title && `title ${title}`].flatMap((clue) => clue || []);
  };
  const mayBe = denied.filter(({ siteJobId }) => isMadeOfTitle(siteJobId));
  for (const { known } of mayBe) for (const fields of known) for (const clue of cluesIn(fields)) found.set(clue, []);
  let shared: ReadonlySet<DeniedJob> = new Set();
  /** Jobs under addresses that another posting had, whose title has changed since. */
  const contested = new Set<SiteJobId>();
  const candidatesOf = (one: DeniedJob) => {
    const clues = isMadeOfTitle(one.siteJobId) ? one.known.flatMap(cluesIn) : [];
    const jobsOf = (kind: string): SiteJob[] => [
      ...new Set(clues.flatMap((clue) => (clue.startsWith(kind) && found.get(clue)) || [])),
    ];
    const jobs = jobsOf('reference ');
    return jobs.length > 0 ? { jobs, isByReference: true } : { jobs: jobsOf('title '), isByReference: false };
  };
  return {
    take(siteJob: SiteJob): void {
      if (found.size === 0 || statesDeletion(siteJob)) return;
      const [first] = cluesIn(withRevealedFields(siteJob).fields);
      const jobs = first === undefined ? undefined : found.get(first);
      if (jobs !== undefined && jobs.length < MOST_RENAMED) jobs.push(siteJob);
    },
    /** Asks once for all of them which references another posting has, too, and which jobs that only have the title are other postings'. */
    async noteShared({ db, site, policy }: SiteContext): Promise<void> {
      const titled = [...found].filter(([clue, { length }]) => clue.startsWith('title ') && length < MOST_RENAMED);
      const ids = titled.flatMap(([, jobs]) => jobs.map(({ siteJobId }) => siteJobId));
      const owned = ids.length === 0 ? undefined : await ownedJobIds(db, site, ids);
      const owners = ids.length === 0 ? undefined : await ownedJobs(db, site, ids);
      const rules = { ...policy.places, learnt: await learntRewrites(db, site), referenceField };
      for (const [clue, jobs] of titled)
        for (const siteJob of jobs) {
          const { key, fields } = owners?.get(siteJob.siteJobId) ?? {};
          if (key === undefined || fields === undefined || cluesIn(fields).includes(clue)) continue;
          const likeness = comparePosting({ key, fields }, withRevealedFields(siteJob), rules).likeness();
          if (likeness !== 'match') contested.add(siteJob.siteJobId);
        }
      for (const [clue, jobs] of titled)
        found.set(
          clue,
          jobs.filter(({ siteJobId }) => owned?.has(siteJobId) !== true || contested.has(siteJobId)),
        );
      if (referenceField === undefined) return;
      const references = mayBe.flatMap((one): [DeniedJob, string][] => {
        const { jobs, isByReference } = candidatesOf(one);
        return isByReference && jobs[0] !== undefined ? [[one, shownReference(jobs[0], referenceField)]] : [];
      });
      shared = await withSharedReference(db, site, referenceField, new Map(references));
    },
    /** Whether another posting may have one of the jobs: a create would not be compared with it. */
    isContested: (one: DeniedJob): boolean => candidatesOf(one).jobs.some(({ siteJobId }) => contested.has(siteJobId)),
    /** Gives the posting the one job that shows its reference. Returns why it got none; `undefined`: no job may be its own. */
    async move(
      one: DeniedJob,
      siteContext: SiteContext,
      { since, signal }: { readonly since: Date; readonly signal: AbortSignal },
    ): Promise<string | undefined> {
      const { jobs, isByReference } = candidatesOf(one);
      const [siteJob, other] = jobs;
      if (siteJob === undefined || jobs.some(({ siteJobId }) => siteJobId === one.siteJobId)) return undefined;
      const names = jobs.map(({ siteJobId }) => siteJobId).join(', ');
      if (!isByReference) return `its list shows its title in ${names}, without a reference`;
      if (other !== undefined) return `its list shows its reference in several jobs: ${names}`;
      const what = `its list shows its reference in job ${siteJob.siteJobId}`;
      if (shared.has(one)) return `${what}, which may be another posting's`;
      const left = await moveTo(siteJob, one, siteContext, { since, signal });
      return left === undefined ? 'moved' : `${what}, ${left}`;
    },
  };
}

const shownReference = (siteJob: SiteJob, referenceField: string): string =>
  fieldOf(withRevealedFields(siteJob).fields, referenceField)?.trim() ?? '';

/** Returns why the posting does not get the job; `undefined`: it got it. */
async function moveTo(
  listed: SiteJob,
  { feed, key, revision, siteJobId: from, known }: DeniedJob,
  siteContext: SiteContext,
  { since, signal }: { readonly since: Date; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { db, site, client, rateLimiter, log, policy } = siteContext;
  const { referenceField = '' } = policy;
  const rules = { ...policy.places, learnt: await learntRewrites(db, site), referenceField };
  // `slug` is what friendly_id calls such addresses; some sites find a job by nothing else.
  const ids = [listed.siteJobId, readJobId(fieldOf(listed.fields, 'slug'))].flatMap((id) => id ?? []);
  for (const to of ids) {
    await rateLimiter.take(signal);
    const shown = shownUnlessDeleted(await client.show(to, signal).catch(() => undefined));
    if (shown === undefined) continue;
    const { fields, types } = withRevealedFields(shown);
    const isOwn = known.some(
      (sent) => comparePosting({ key, fields: sent }, { fields, types }, rules).likeness() === 'match',
    );
    if (!isOwn || shownReference(shown, referenceField) !== shownReference(listed, referenceField))
      return "which may be another posting's";
    const why = await moveJob(db, { feed, site, since, revision }, { key, from, to, url: shown.url });
    if (why !== undefined) return `but ${why}`;
    log.info({ site, feed, key, siteJobId: to, from }, 'site job has another address');
    return undefined;
  }
  return 'which it does not find under this ID';
}
