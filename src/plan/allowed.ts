// What can be done about a posting or record that waits, is discarded or is being sent: the only place that decides it. Lists, counts,
// selections, commands, pages, rules and the conditions of the database follow from this table.
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import { BULK_ACTIONS, type BulkAction, type EntryAction } from './action.ts';
import { type Message, messageOf } from './message.ts';

/** The states that a change or record can be in. */
export type ReviewState =
  | 'in_doubt'
  | 'failed'
  | 'rejected'
  | 'unreadable'
  | 'duplicate'
  | 'held'
  | 'discarded'
  | 'ready'
  | 'sending';

/** `exists`, `missing`: the site made the job of a create in doubt, or did not; `check`: its list is read again. */
export const REVIEW_OPERATIONS = ['edit', ...BULK_ACTIONS, 'exists', 'missing', 'check'] as const;
export type ReviewOperation = (typeof REVIEW_OPERATIONS)[number];

/** Facts about a change that are stored with its entry, in this order: the function `change_circumstances` of the database. */
export type StoredCircumstance = 'absent' | 'undo' | 'missing' | 'invalid' | 'unread';

/**
 * What besides the state decides what can be done:
 * - `absent`: the job is to be deleted; `undo`: as a pull was undone
 * - `missing`: the feed no longer has the posting, which is within its grace; `invalid`: the posting breaks a known rule of the site
 * - `unread`: what the source has of it is known only after the next pull
 * - `questioned`: a delete of a posting that may be in the feed under another key, which nobody has answered yet
 * - `elsewhere`: it is of another site than its feed is configured for; `unconfigured`, `broken`: its feed is not, or is wrongly
 * - `kept`: a delete, and the policy of the feed is to delete nothing now; `undecided`: no pull has looked for its posting under the
 *   present rule
 */
export type Circumstance =
  | StoredCircumstance
  | 'questioned'
  | 'elsewhere'
  | 'unconfigured'
  | 'broken'
  | 'kept'
  | 'undecided';

/** The circumstances that are read from the database, whatever is configured. */
export type ReadCircumstance = StoredCircumstance | 'questioned';

/** The effect on one entry, and on many. */
interface Effect {
  readonly one: string;
  readonly many: string;
}

interface Rule {
  /** The states in which it is possible, with its effect. */
  readonly states: Partial<Readonly<Record<ReviewState, Effect>>>;
  readonly needs?: Circumstance;
  /** What it is refused for; the first one that is so is told. */
  readonly unless: readonly Circumstance[];
  /** What is sent because of it; `change`: whatever the change is. */
  readonly sends: 'nothing' | 'change' | 'create' | 'update' | 'delete';
  /** A rule may do it with new entries. */
  readonly byRule: boolean;
  /** What a person is asked before, as it can't be undone or is about many; absent: nothing. */
  readonly asks?: { readonly doIt: string; readonly noun: string; readonly nouns: string };
  /** It can't be undone: whoever decides it has been shown exactly what it is about. */
  readonly needsSeen: boolean;
  /** Its words on a button: for one entry, and before a number of entries. */
  readonly button: Effect;
  /** What it did, after the number of entries. */
  readonly done: string;
}

/** What it does to one entry, and what the command line says of it. */
interface Summarized {
  readonly summary: Effect;
}

const UNTIL_CHANGED: Effect = {
  one: 'leaves it as it is until the posting changes',
  many: 'leaves them as they are until their postings change',
};
const SENT_AGAIN: Effect = { one: 'sends it again as it is', many: 'sends them again as they are' };
const EDITED: Effect = {
  one: 'sets a field until the source changes it, and sends it',
  many: 'sets a field of all until the source changes it, and sends them',
};
const REOPENED: Effect = { one: 'returns it to review in its former state', many: 'returns them to review' };

/**
 * | state            | edit   | retry  | approve | discard | reopen | exists  | missing | check   |
 * |------------------|--------|--------|---------|---------|--------|---------|---------|---------|
 * | rejected, failed | change | change |         | nothing |        |         |         |         |
 * | held             |        |        | delete  | nothing |        |         |         |         |
 * | in_doubt         |        |        |         |         |        | update  | create  | create  |
 * | unreadable       |        |        |         | nothing |        |         |         |         |
 * | duplicate        |        |        |         | nothing |        |         |         |         |
 * | discarded        |        |        |         |         | nothing|         |         |         |
 * | ready, sending   |        |        |         |         |        |         |         |         |
 * | refused if       | absent, missing, elsewhere, unread, unconfigured, broken: edit (a delete has no fields)   |
 * |                  | questioned: retry, approve, discard (the keys are compared first)                         |
 * |                  | missing, invalid, elsewhere, kept, undecided: retry                                       |
 * |                  | elsewhere, kept, undecided, not absent: approve                                           |
 * | by a rule        | rejected, failed: edit, retry, discard; duplicate: discard; nothing else                  |
 *
 * Whether a create in doubt is decided together with others depends on the site as well: see `resolve-entry.ts`.
 */
const TABLE: Readonly<Record<ReviewOperation, Rule> & Record<BulkAction, Summarized>> = {
  edit: {
    states: { rejected: EDITED, failed: EDITED },
    unless: ['questioned', 'absent', 'missing', 'broken', 'unconfigured', 'elsewhere', 'unread'],
    sends: 'change',
    byRule: true,
    needsSeen: false,
    button: { one: 'Save and send', many: 'Set for' },
    done: 'edited',
  },
  retry: {
    summary: { one: 'Send again what was rejected or failed', many: 'send again what was rejected or failed' },
    states: { rejected: SENT_AGAIN, failed: SENT_AGAIN },
    unless: ['questioned', 'missing', 'invalid', 'kept', 'undecided', 'elsewhere'],
    sends: 'change',
    byRule: true,
    needsSeen: false,
    button: { one: 'Send again', many: 'Send again' },
    done: 'ready to be sent again',
  },
  approve: {
    summary: { one: 'Delete what is held for approval', many: 'delete what is held for approval' },
    states: { held: { one: 'deletes the job', many: 'deletes the jobs' } },
    needs: 'absent',
    unless: ['questioned', 'kept', 'undecided', 'elsewhere'],
    sends: 'delete',
    byRule: false,
    asks: { doIt: 'Delete', noun: 'job', nouns: 'jobs' },
    needsSeen: true,
    button: { one: 'Approve: delete', many: 'Approve deletes:' },
    done: 'approved, ready to be deleted',
  },
  // A create in doubt may have been done, so it is never discarded.
  discard: {
    summary: {
      one: 'Leave it as it is until the posting changes',
      many: 'discard entries: rejected and failed postings are not sent until they change, held jobs stay live; asks first if it covers several entries of a feed, or several kinds',
    },
    states: {
      rejected: UNTIL_CHANGED,
      failed: UNTIL_CHANGED,
      held: {
        one: 'keeps the job on the site until the posting comes back',
        many: 'keeps the jobs on the site until their postings come back',
      },
      unreadable: {
        one: 'the feed counts as complete without it; until it can be read, its job stays, or all deletes are held if its key is unknown',
        many: 'the feed counts as complete without them; until a record can be read, its job stays, and if its key is unknown, all deletes are held',
      },
      duplicate: {
        one: 'the first posting with this key is the right one',
        many: 'the first posting with the key still counts',
      },
    },
    unless: ['questioned'],
    sends: 'nothing',
    byRule: true,
    asks: { doIt: 'Discard', noun: 'entry', nouns: 'entries' },
    needsSeen: false,
    button: { one: 'Discard', many: 'Discard' },
    done: 'discarded',
  },
  reopen: {
    summary: { one: 'Put a discarded entry back into review', many: 'put discarded entries back into review' },
    states: { discarded: REOPENED },
    unless: [],
    sends: 'nothing',
    byRule: false,
    needsSeen: false,
    button: { one: 'Reopen', many: 'Reopen' },
    done: 'reopened, waiting for review again',
  },
  exists: {
    states: {
      in_doubt: {
        one: 'the site made the job, and this is its ID',
        many: 'adopts the jobs that a search has found',
      },
    },
    unless: [],
    sends: 'update',
    byRule: false,
    asks: { doIt: 'Adopt', noun: 'job', nouns: 'jobs' },
    needsSeen: true,
    button: { one: 'This is its job', many: 'Adopt' },
    done: 'adopted',
  },
  missing: {
    states: {
      in_doubt: {
        one: 'the site did not make it: it is sent again',
        many: 'the site has made none of these jobs: sends them again',
      },
    },
    unless: [],
    sends: 'create',
    byRule: false,
    asks: { doIt: 'Send again', noun: 'create', nouns: 'creates' },
    needsSeen: true,
    button: { one: 'The site made none: send again', many: 'The site made none: send again' },
    done: 'to be sent again',
  },
  // What the list does not have is sent again.
  check: {
    states: {
      in_doubt: {
        one: 'has the list of the site read again for it',
        many: 'has the list of the site read again for them',
      },
    },
    unless: [],
    sends: 'create',
    byRule: false,
    needsSeen: false,
    button: { one: 'Check again', many: 'Check again' },
    done: 'to be looked for in the list of the site again',
  },
};

/** The parts of the table that the conditions of the database are made of. */
export const conditionsOf = (
  operation: ReviewOperation,
): Pick<Rule, 'needs' | 'unless'> & { readonly states: ReviewState[] } => {
  const { states, needs, unless } = TABLE[operation];
  return { states: Object.keys(states) as ReviewState[], unless, ...(needs === undefined ? {} : { needs }) };
};

/** The words of an operation, whatever it is applied to. */
export const operationWords = (operation: ReviewOperation): Pick<Rule, 'button' | 'done'> => TABLE[operation];

export const effectOnState = (operation: ReviewOperation, state: ReviewState): Effect | undefined =>
  TABLE[operation].states[state];

/** What each decision does that needs nothing more. */
export const summaryOf = (action: BulkAction): Effect => TABLE[action].summary;

/** The words of the question that comes first; `undefined`: nobody is asked. */
export const questionOf = (operation: ReviewOperation): Rule['asks'] => TABLE[operation].asks;

export const asksToConfirm = (operation: ReviewOperation): boolean => TABLE[operation].asks !== undefined;

/** Whether it is done only with what the person was shown, whatever else binds it. */
export const needsSeen = (operation: ReviewOperation): boolean => TABLE[operation].needsSeen;

/** Whether a rule may do it with new entries, at least of some group. */
export const mayBeRule = (operation: ReviewOperation): boolean => TABLE[operation].byRule;

/** Whether anything is sent because of it. */
export const sendsAnything = (operation: ReviewOperation): boolean => TABLE[operation].sends !== 'nothing';

/** The questions that come first are about deletes: whether their postings are in the feed under other keys. */
export const isAskedFirst = (operation: ReviewOperation): boolean =>
  operation !== 'edit' && TABLE[operation].unless.includes('questioned');

/** What decides what can be done about an entry. */
export interface EntryFacts {
  readonly feed: FeedName;
  /** Absent for records. */
  readonly site: SiteName | undefined;
  readonly state: ReviewState;
  readonly circumstances: readonly Circumstance[];
  /** The site that its feed is configured for now, if it is. */
  readonly siteNow?: SiteName | undefined;
}

export const isAllowed = (
  operation: ReviewOperation,
  { state, circumstances }: Pick<EntryFacts, 'state' | 'circumstances'>,
) => {
  const { states, needs, unless } = TABLE[operation];
  return (
    states[state] !== undefined &&
    (needs === undefined || circumstances.includes(needs)) &&
    !unless.some((each) => circumstances.includes(each))
  );
};

/** An entry that a person may act on. */
export interface ActionableEntry extends EntryFacts {
  readonly id: number;
  /** What the person is shown, if they are shown the entry. */
  readonly version?: string | undefined;
}

/** What can be done about one entry, in the order in which it is offered. */
export function possibleActions(entry: ActionableEntry): EntryAction[] {
  if (entry.circumstances.includes('questioned')) return [actionOn('compare_keys', entry)];
  return REVIEW_OPERATIONS.flatMap((operation) =>
    operation !== 'check' && isAllowed(operation, entry) ? actionOn(operation, entry) : [],
  );
}

function actionOn(
  operation: Exclude<ReviewOperation, 'check'> | 'compare_keys',
  { id: entry, feed, state, version }: ActionableEntry,
): EntryAction {
  if (operation === 'compare_keys') return { kind: operation, entry, parameters: { feed }, effect: COMPARES };
  const seen = version === undefined ? {} : { version };
  const effect = TABLE[operation].states[state]?.one ?? '';
  switch (operation) {
    case 'edit':
      return { kind: 'edit', entry, parameters: { field: null, value: null }, effect };
    case 'exists':
      return { kind: 'settle', entry, parameters: { verdict: 'exists', site_job_id: null, ...seen }, effect };
    case 'missing':
      return { kind: 'settle', entry, parameters: { verdict: 'missing', ...seen }, effect };
    case 'approve':
      return { kind: 'approve', entry, parameters: seen, effect };
    default:
      return { kind: operation, entry, parameters: {}, effect };
  }
}

const COMPARES =
  'shows which new posting it may be: the keys of the feed seem to have changed, and its job is kept until that is answered';

/** The circumstance for which an operation that the state allows is refused. */
export const refusingCircumstance = (
  operation: ReviewOperation,
  { state, circumstances }: Pick<EntryFacts, 'state' | 'circumstances'>,
): Circumstance | undefined =>
  TABLE[operation].states[state] === undefined
    ? undefined
    : TABLE[operation].unless.find((each) => circumstances.includes(each));

/** Why the operation is not allowed, with what is; `undefined`: it is. One sentence without a full stop, to follow the entry. */
export function whyNotAllowed(operation: ReviewOperation, entry: ActionableEntry): Message | undefined {
  if (isAllowed(operation, entry)) return undefined;
  const { states, needs } = TABLE[operation];
  if (states[entry.state] === undefined) return ofState(operation, entry);
  const bar = refusingCircumstance(operation, entry);
  if (bar !== undefined) return barred(bar, entry);
  return needs === 'absent' ? 'it is no delete' : `it is not ${needs}`;
}

/** Holds until the posting is back or its job is deleted, which some feeds never do. */
export const MISSING_FROM_FEED = 'the feed no longer has it, so nothing is sent for it';
export const SOURCE_UNKNOWN = 'what the source has of it is known only after the next pull: edit it then';

/** Why an entry can't be acted on, although its state allows it. */
function barred(circumstance: Circumstance, entry: ActionableEntry): Message {
  const { feed, site, siteNow } = entry;
  switch (circumstance) {
    case 'questioned':
      return messageOf('the keys of its feed seem to have changed, and its job may belong to a new posting', [
        { words: 'compare them first', action: actionOn('compare_keys', entry) },
      ]);
    case 'absent':
      return 'it is a delete, which has no fields';
    case 'missing':
      return MISSING_FROM_FEED;
    case 'invalid':
      return messageOf(
        'it breaks a rule of the site, so sending it again would not help',
        isAllowed('edit', entry) ? [{ action: actionOn('edit', entry) }] : [],
      );
    case 'unread':
      return SOURCE_UNKNOWN;
    case 'elsewhere':
      return `it is of site ${site}, and the feed is configured for site ${siteNow} now, so nothing is sent for it`;
    case 'unconfigured':
      return `feed ${feed} is no longer configured, so nothing is sent for it`;
    case 'broken':
      return `the configuration of feed ${feed} is wrong: fix it first`;
    case 'kept':
      return `the policy of feed ${feed} is to delete nothing now, so its job stays`;
    case 'undecided':
      return `feed ${feed} is configured otherwise than in its last pull (key, skip, expiry or the way it is read), so its posting may be in the feed: pull it first`;
    case 'undo':
      return 'it is a delete of a pull that was undone';
    default:
      return circumstance satisfies never;
  }
}

const NOTHING_TO_EDIT = 'it is a record that did not become a posting, so there is nothing to edit';

/** Why nothing of this kind is done in its state, and what is instead. */
function ofState(operation: ReviewOperation, entry: ActionableEntry): Message {
  const { state, circumstances } = entry;
  const words = state.replace('_', ' ');
  if (operation === 'reopen') return `it is not discarded, but ${words}`;
  if (operation === 'exists' || operation === 'missing' || operation === 'check')
    return `it is not in doubt, but ${words}`;
  const instead = possibleActions(entry);
  switch (state) {
    case 'ready':
      return operation === 'edit' && circumstances.includes('absent')
        ? 'its job is about to be deleted'
        : 'it is waiting to be sent';
    case 'sending':
      return 'it is being sent right now';
    case 'discarded':
      return operation === 'discard'
        ? 'it is already discarded'
        : messageOf('it is discarded', [{ action: instead[0] }]);
    case 'in_doubt':
      return messageOf(
        `the site may have made the job${operation === 'discard' ? ', so it is never discarded' : ''}: check there`,
        [
          { words: 'if it has the job', action: instead[0] },
          { words: 'if not', action: instead[1] },
        ],
      );
    case 'held':
      // Nobody who wanted to edit or resend a posting may delete its job by mistake.
      return messageOf(
        'it is held',
        instead.map((action) => ({ words: action.effect, action })),
      );
    case 'rejected':
    case 'failed':
      return `it is ${state}, not held`;
    case 'unreadable':
      if (operation === 'edit') return NOTHING_TO_EDIT;
      return 'the record could not be read, so there is nothing to send: fix it at the source, or discard it';
    case 'duplicate':
      if (operation === 'edit') return NOTHING_TO_EDIT;
      return 'the record repeats a key, so there is nothing to send: fix it at the source, or discard it';
    default:
      return state satisfies never;
  }
}

/** The same for an edit of a posting: one that waits to be sent is edited like one that was rejected. */
export const whyNotEdited = (entry: ActionableEntry): Message | undefined =>
  whyNotAllowed(
    'edit',
    entry.state === 'ready' && !entry.circumstances.includes('absent') ? { ...entry, state: 'rejected' } : entry,
  );

/** Why no rule may do this with new entries in this state; `undefined`: one may. */
export function whyNoRule(operation: ReviewOperation, state: ReviewState): string | undefined {
  const { states, byRule } = TABLE[operation];
  switch (state) {
    case 'unreadable':
      return 'a record that cannot be read could be any posting: a person decides each one, no rule does';
    case 'held':
      return 'a person decides each delete, no rule does';
    case 'in_doubt':
      return 'a person resolves each doubt, no rule does';
    case 'duplicate':
      return byRule && states.duplicate !== undefined
        ? undefined
        : 'entries of this group are records: a rule can only discard them';
    default:
      return byRule && states[state] !== undefined ? undefined : `a rule can't do this: ${operation}`;
  }
}

/** What decides about the entries of a feed, as it is configured here. */
export interface FeedConfiguredHere {
  readonly site: SiteName;
  /** It deletes the jobs of postings that are gone. */
  readonly deletes: boolean;
  /** A pull has looked for its postings under the present rule; see `membershipRule`. */
  readonly isDecided: boolean;
}

/** The feeds that are configured here. */
export interface ConfiguredHere {
  readonly feeds: ReadonlyMap<FeedName, FeedConfiguredHere>;
  readonly broken: ReadonlySet<FeedName>;
  /** Feeds that other running processes are configured with: these carry out their part of an action on many. */
  readonly served: ReadonlySet<FeedName>;
}

/** What decides what can be done about an entry: what is stored about it, and how its feed is configured here. */
export function factsOf(
  entry: { readonly feed: FeedName; readonly site: SiteName | null | undefined; readonly state: ReviewState },
  stored: readonly ReadCircumstance[],
  here: ConfiguredHere,
): EntryFacts {
  const { feed, state } = entry;
  const site = entry.site ?? undefined;
  const circumstances = [...stored, ...circumstancesHere({ feed, site, state }, stored, here)];
  return { feed, site, state, circumstances, siteNow: here.feeds.get(feed)?.site };
}

function circumstancesHere(
  { feed, site, state }: Pick<EntryFacts, 'feed' | 'site' | 'state'>,
  stored: readonly ReadCircumstance[],
  { feeds, broken }: ConfiguredHere,
): readonly Circumstance[] {
  const here = feeds.get(feed);
  if (here === undefined) return [broken.has(feed) ? 'broken' : 'unconfigured'];
  const elsewhere = site !== undefined && site !== here.site ? (['elsewhere'] as const) : [];
  const waits = state === 'held' || state === 'rejected' || state === 'failed';
  const isPlanned = waits && stored.includes('absent') && !stored.includes('undo');
  if (!isPlanned) return elsewhere;
  if (!here.deletes) return [...elsewhere, 'kept'];
  return here.isDecided ? elsewhere : [...elsewhere, 'undecided'];
}
