// Describes in sentences everything that the database has about one posting: why it is, or is not, on the site.
import type { EntryAction } from '../plan/action.ts';
import type { ConfiguredHere } from '../plan/allowed.ts';
import { isOfFoundJob } from '../plan/desired-change.ts';
import { adviceOf, type Message, merge, messageOf, plural, reword, textOf } from '../plan/message.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import type { OpenChangeRow } from '../store/change/open-change.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { type FailureRow, type PostingStory, readStory } from '../store/review/posting-history.ts';
import { type LineState, POSTING_STATES, postingPage } from '../store/status/report-lines.ts';
import { actionsOfChange } from './entry-facts.ts';

/** Formats times for people. */
export interface TimeWords {
  /** A moment, with its zone. */
  readonly at: (time: Date) => string;
  /** A duration. */
  readonly span: (durationMs: number) => string;
}

/** A paragraph, or an action that is possible now. */
export type HistoryLine =
  | { readonly kind: 'text'; readonly message: Message }
  | { readonly kind: 'action'; readonly action: EntryAction };

/** The most important first; the actions follow the state that they apply to. */
export function describeHistory(
  story: PostingStory,
  words: TimeWords,
  here: ConfiguredHere,
  waitsFor?: readonly Message[],
): HistoryLine[] {
  const { change } = story;
  const { state, past } = paragraphsOf(story, words, waitsFor);
  return [
    ...state.map(textLine),
    ...(change === undefined ? [] : actionsOfChange(change, here)).map(
      (action) => ({ kind: 'action', action }) as const,
    ),
    ...past.map(textLine),
  ];
}

const textLine = (message: Message): HistoryLine => ({ kind: 'text', message });

/** What is so now, and what happened before. @param waitsFor why its change is not sent now */
export function paragraphsOf(
  story: PostingStory,
  words: TimeWords,
  waitsFor: readonly Message[] = [],
): { readonly state: readonly Message[]; readonly past: readonly Message[] } {
  const { live, change } = story;
  const past = describePast(story, words);
  if (live === undefined && change === undefined) {
    const known = [
      ...describeExpiry(story, words),
      ...describeSkipped(story, words),
      ...describeUnreadable(story, words),
    ];
    return { state: known.length > 0 ? known : describeUnknown(story, words), past };
  }
  const state = [
    ...describeLive(story, words),
    ...describeExpiry(story, words),
    ...describeSkipped(story, words),
    ...describeUnreadable(story, words),
    ...(change === undefined ? describeResolved(story, words) : [describeChange(change, words)]),
    ...waitsFor.map((why) => fullStop(reword(why, (text) => `It is not sent now: ${text}`))),
  ];
  return { state, past };
}

function describeLive({ live, change, feed, key }: PostingStory, { at }: TimeWords): string[] {
  if (live === undefined) {
    const missing = change?.missing === true ? ['It is missing from the feed, but within its grace period.'] : [];
    if (change?.attempt === undefined) return [`Posting ${key} of feed ${feed} is not on the site.`, ...missing];
    return [`Whether posting ${key} of feed ${feed} is on the site is not known.`, ...missing];
  }
  const url = live.url === undefined ? '' : `, ${live.url}`;
  // The pull from which a delete follows ends the grace, and is not counted.
  const missing =
    live.missingPulls === 0 || change?.desired === 'absent'
      ? []
      : [`It was missing from the last ${plural(live.missingPulls, 'complete pull')}, but is within its grace period.`];
  return [`It is on site ${live.site} as job ${live.siteJobId}${url}, since ${at(live.since)}.`, ...missing];
}

/** A posting that has expired is in the feed, but has no job, or none for long. */
function describeExpiry({ expiry, feed, key, live }: PostingStory, { at }: TimeWords): Message[] {
  if (expiry?.renewedAt !== undefined) return [`Its days on the site began anew on ${at(expiry.renewedAt)}.`];
  if (expiry?.expiredAt === undefined || (live !== undefined && live.since > expiry.expiredAt)) return [];
  const job = expiry.siteJobId === undefined ? 'its job' : `its job ${expiry.siteJobId}`;
  const then = live === undefined ? 'was' : 'is to be';
  return [
    messageOf(
      `Posting ${key} of feed ${feed} expired on ${at(expiry.expiredAt)}: ${job} had been on the site for as long as the feed's expire_after_days allows, and ${then} deleted. It gets no job again as long as the feed keeps it`,
      [{ words: 'to have it on the site again', action: { kind: 'renew_posting', feed, key } }],
    ),
  ];
}

/** A posting whose record is in the feed, but counts only before or after a date. */
function describeSkipped({ skipped, feed, key, live }: PostingStory, { at }: TimeWords): Message[] {
  if (skipped === undefined) return [];
  const { since, until } = skipped;
  const when = [since && ` since ${at(since)}`, until && ` until ${at(until)}`].filter(Boolean).join('');
  const then =
    live === undefined ? 'it has no job' : 'without another record with this key, it counts as missing from the feed';
  const next = until === undefined ? '' : ' The first pull after that reads the record again, changed or not.';
  return [
    `The record of posting ${key} in feed ${feed} is skipped by its dates (setting skip)${when}: ${then}.${next}`,
  ];
}

/** Why the feed's record of the posting cannot be read at present. */
function describeUnreadable({ unreadable, live, feed, key }: PostingStory, { at }: TimeWords): string[] {
  return unreadable.map(({ id, since, reason, discarded }) => {
    const entry = `entry ${id}${discarded ? ', discarded' : ''}, since ${at(since)}`;
    const then = live === undefined ? 'nothing is sent for it' : 'its job stays as it is';
    return `The record of posting ${key} in feed ${feed} can't be read (${entry}); until it can, ${then}: ${reason}.`;
  });
}

function describeUnknown(story: PostingStory, { at }: TimeWords): Message[] {
  const { feed, key, lastPull } = story;
  const [unknown, hint] = isPast(story)
    ? [`The site has no job for posting ${key} of feed ${feed}, and there is nothing to send.`, '']
    : [
        `No posting ${key} is recorded for feed ${feed}: the site has no job for it, and there is nothing to send.`,
        ' Keys must match exactly.',
      ];
  if (lastPull === undefined) return [unknown, `The feed was never pulled.`];
  const pull = `Its last pull, ${lastPull.id} of ${at(lastPull.startedAt)},`;
  if (lastPull.status === 'failed') return [unknown, sentence(`${pull} failed: `, lastPull.notes)];
  return [unknown, `${pull} saw ${plural(lastPull.seen, 'record')}, none with this key.${hint}`];
}

function describeResolved({ lastPull, edits }: PostingStory, { at }: TimeWords): Message[] {
  const edited = edits.length === 0 ? '' : ', with the edits below';
  const recorded = `There is nothing to send: the site shows it as the feed has it${edited}.`;
  if (lastPull === undefined) return ['There is nothing to send, and the feed has not been pulled yet.'];
  const pull = `The last pull was ${lastPull.id} of ${at(lastPull.startedAt)}`;
  if (lastPull.status === 'running') return [recorded, `${pull}; it is still running.`];
  if (lastPull.status === 'failed') return [recorded, sentence(`${pull}; it failed: `, lastPull.notes)];
  if (!lastPull.complete) {
    return [recorded, sentence(`${pull}; it was not complete, so nothing was deleted: `, lastPull.shortfalls)];
  }
  return [recorded, `${pull}; it was complete.`];
}

function describeChange(change: OpenChangeRow, words: TimeWords): Message {
  const since = `since ${words.at(change.since)}, for ${words.span(change.ageMs)}`;
  const why = [change.reason?.message ?? [], change.reason?.note ?? []]
    .flat()
    .map((text, at) => `${at === 0 ? ':' : ';'} ${text.replace(/\.$/, '')}`)
    .join('');
  return fullStop(
    messageOf(`${stateSentence(change, words)} (entry ${change.id}, ${since})${why}`, change.reason?.next),
  );
}

function sentence(beginning: string, reasons: readonly Message[]): Message {
  const because = reasons.length === 0 ? 'no reason was recorded' : merge(reasons);
  return fullStop(reword(because, (text) => beginning + text));
}

/** None after a command. */
const fullStop = (message: Message): Message => (adviceOf(message).length === 0 ? `${textOf(message)}.` : message);

/** Of a create in doubt whose posting is gone or has expired. */
export const JOB_WOULD_GO =
  'its posting is to be removed, so a job that is said to be its own is deleted, unless the delete is held';

function stateSentence(change: OpenChangeRow, { at, span }: TimeWords): string {
  const desired = { create: 'be created', update: 'be updated', delete: 'be deleted' }[change.operation];
  switch (change.state) {
    case 'ready': {
      const wait = change.waitsMs > 0 ? `, not before ${span(change.waitsMs)} from now` : '';
      const tries = change.attempts > 0 ? `, after ${plural(change.attempts, 'attempt')}` : '';
      return `It waits to ${desired}${wait}${tries}`;
    }
    case 'sending':
      return `A request is in flight for it to ${desired}`;
    case 'in_doubt': {
      const gone = change.desired === 'absent' ? `; ${JOB_WOULD_GO}` : '';
      if (isOfFoundJob(change.reason))
        return `It is not created before a person decides about the job that was found${gone}`;
      return `A create was sent at ${at(change.attempt?.startedAt ?? change.since)}; whether the site made the job is unknown${gone}`;
    }
    case 'held':
      return `It is due to ${desired}, but held for approval`;
    case 'rejected':
      return change.invalid
        ? 'Its present content breaks a rule of the site, so it is not sent'
        : 'The site refused its present content, so it is not sent again';
    case 'failed':
      return `It was due to ${desired}, but that failed for good`;
    case 'discarded':
      return `It was due to ${desired}; a person decided to leave it as it is until the posting changes`;
    default:
      return change.state satisfies never;
  }
}

/** Requests, failures, edits, changes made while reading, and what people did. */
function describePast(
  { requests, failures, edits, notes, detail, duplicates, acts }: PostingStory,
  { at }: TimeWords,
): string[] {
  return [
    ...duplicates.map((row) => `Another record of the feed has the same key but different content (entry ${row.id}).`),
    ...edits.map(({ field, value, sourceValue }) => {
      const source = sourceValue === null ? 'has no such field' : `says "${short(sourceValue)}"`;
      return `Edited: ${field} is "${short(value)}" as long as the feed ${source}.`;
    }),
    ...notes.map(({ field, message, value }) => {
      const before = value === undefined ? '' : `; the feed has "${short(value)}"`;
      return `Changed while reading: ${field ?? 'the posting'}: ${message}${before}`;
    }),
    ...(detail === undefined
      ? []
      : [
          `${at(detail.requestedAt)}: its detail was received: ${short(detail.document.toString('utf8', 0, 4 * SHOWN))}`,
        ]),
    ...requests.map(({ at: time, operation, outcome, status, siteJobId }) => {
      const job = siteJobId === null ? '' : ` of job ${siteJobId}`;
      return `${at(time)}: ${operation}${job}: ${outcome}${status === null ? '' : ` (${status})`}`;
    }),
    ...failures.map((failure) => `${at(failure.at)}: ${failure.operation} failed: ${failureSentence(failure)}`),
    ...acts.map(
      (act) => `${at(act.at)}: ${act.action} by ${act.actor}${act.reason === undefined ? '' : `: ${act.reason}`}`,
    ),
  ];
}

function failureSentence({ kind, problems }: FailureRow): string {
  const reasons = problems.map(({ field, message }) => (field === undefined ? message : `${field}: ${message}`));
  return reasons.length === 0 ? kind : reasons.join('; ');
}

const SHOWN = 100;
const short = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

// Finds all that is recorded about one posting, with the state that it is in.

export interface FoundPosting {
  readonly story: PostingStory;
  /** `null`: only its records are known, and they can not be used. */
  readonly state: LineState | null;
}

/** Also of a posting that nothing is recorded of. */
export async function lookUpPosting(
  db: Queryable,
  feed: FeedName,
  key: PostingKey,
  newest?: number,
): Promise<FoundPosting> {
  const story = await readStory(db, feed, key, newest);
  const { postings } = await postingPage(db, feed, { states: POSTING_STATES, keyOrJobId: key }, 2);
  return { story, state: postings.find((posting) => posting.key === key)?.state ?? null };
}

/** `undefined`: nothing is recorded under this key. */
export async function findPosting(
  db: Queryable,
  feed: FeedName,
  key: PostingKey,
  newest?: number,
): Promise<FoundPosting | undefined> {
  const found = await lookUpPosting(db, feed, key, newest);
  return isKnown(found) ? found : undefined;
}

/** Whether anything is recorded about the posting, also if it has no job any more. */
export const isKnown = (found: FoundPosting): boolean => isPresent(found) || isPast(found.story);

/** Whether it has a job or a record, or is kept from having a job. */
export const isPresent = ({ state, story }: FoundPosting): boolean =>
  state !== null ||
  story.expiry !== undefined ||
  story.skipped !== undefined ||
  [story.unreadable, story.duplicates].some(hasAny);

/** Whether it was sent once, or somebody decided about it. */
const isPast = (story: PostingStory): boolean => [story.requests, story.failures, story.acts, story.edits].some(hasAny);

const hasAny = (recorded: readonly unknown[]): boolean => recorded.length > 0;
