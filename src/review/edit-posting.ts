// Edits fields of postings: of review entries, one or many; or of one posting in whatever state, also the job of one that the site has
// accepted. An edit holds until the source changes the field.
import { createHash } from 'node:crypto';
import type { Config, FeedConfig } from '../config/config.ts';
import type { CreateOnlyFields } from '../plan/desired-change.ts';
import type { Message } from '../plan/message.ts';
import { type FeedPolicy, updatesJobs } from '../plan/policy.ts';
import type { FieldMapping } from '../posting/field-mapping.ts';
import { nearestName } from '../posting/id-and-name.ts';
import type { FeedName, PostingKey, PostingRef } from '../posting/identifiers.ts';
import { excerpt } from '../posting/markup.ts';
import type { Fields, PostingReader, Problem } from '../posting/posting.ts';
import { compileReader } from '../posting/reader.ts';
import { stateValues } from '../posting/site-rules.ts';
import { auditAction, auditActions } from '../store/access/audit.ts';
import { type AuditNote, findEntries } from '../store/change/act-in-review.ts';
import {
  blockDetails,
  blockPulls,
  blockPullsAndDetails,
  type EditRow,
  editsOfPosting,
  editsOfPostings,
  lockJob,
  openEditedUpdate,
  type PlannedEdit,
  planAgain,
  removeEdits,
  writeEdits,
} from '../store/change/edit.ts';
import { findChange, findChangeOf, lockChange, type OpenChangeRow, readChanges } from '../store/change/open-change.ts';
import { hasJob } from '../store/mapping/find-jobs.ts';
import type { Database, Queryable } from '../store/postgres/database.ts';
import { expiryOf } from '../store/pull/posting-expiry.ts';
import type { BulkEdit } from '../store/review/bulk-actions.ts';
import { findLiveJob } from '../store/review/posting-history.ts';
import { whyNothingDone } from './entry-facts.ts';
import { configuredHere, readConfiguredHere } from './health/configured-policy.ts';
import {
  type DesiredPosting,
  type EditablePosting,
  type EditPlan,
  editableFeed,
  editBase,
  editsThatHold,
  planEdit,
  planEditOf,
} from './plan-edit.ts';
import { CHANGED_SINCE_SHOWN, isUnseen, type Seen, tokenOfChange, tokenOfPosting } from './seen.ts';

export type EditReport =
  | {
      readonly kind: 'edited';
      /** The number of the change. */
      readonly entry: number;
      readonly feed: FeedName;
      readonly key: PostingKey;
      /** What still prevents sending it; `undefined`: it is ready. */
      readonly remaining: string | undefined;
    }
  /** Nothing was changed: the site's rules would be broken. */
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[]; readonly message: string }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly message: Message; readonly stale?: true };

export interface EditOptions {
  readonly actor: string;
  /** See {@link tokenOfPosting}. */
  readonly seen?: Seen | undefined;
  /** Edit nothing if the posting would still break rules of the site. */
  readonly onlyIfValid?: boolean;
}

/** Who edits, and what the audit says besides. */
interface EditedBy {
  readonly actor: string;
  readonly note?: Pick<AuditNote, 'bulk' | 'rule'>;
}

/** What becomes of entries that are edited together. */
interface EntriesEdited {
  readonly planned: readonly EditOfChange[];
  readonly left: readonly { readonly entry: number; readonly why: Message }[];
}

/** Compiles the reader of each feed once for all entries. */
export function entryEditor(config: Config) {
  const readers = new Map<FeedName, PostingReader>();
  const readerOf = ({ name, mapping }: FeedConfig): PostingReader => {
    const reader = readers.get(name) ?? compileReader(mapping);
    readers.set(name, reader);
    return reader;
  };

  /** A rule never replaces what a person has set in this posting. */
  const planFor = (
    change: OpenChangeRow,
    earlier: readonly EditRow[],
    edit: BulkEdit,
    byRule: boolean,
  ): PlannedFields => {
    const edits = editsFor(edit, change);
    if (typeof edits === 'string') return refused(edits);
    const feed = editableFeed(config, change.feed);
    if (typeof feed === 'string') return refused(feed);
    const reader = readerOf(feed);
    const own = byRule ? ownEdit(reader, change, earlier, edits) : undefined;
    if (own !== undefined) return refused(`its ${own} was edited before`);
    const plan = planEdit(config, feed, reader, change, earlier, edits);
    return plan.kind === 'refused' ? plan : { ...plan, edits };
  };

  const plan = async (
    tx: Queryable,
    ids: readonly number[],
    edit: BulkEdit,
    byRule: boolean,
  ): Promise<EntriesEdited> => {
    const changes = await readChanges(tx, ids);
    const rows = [...changes.values()];
    const earlier = await editsOfPostings(tx, rows);
    const others = await findEntries(
      tx,
      ids.filter((id) => !changes.has(id)),
    );
    const here = configuredHere(config);
    const left = others.map((entry) => ({ entry: entry.id, why: whyNothingDone('edit', entry, here) }));
    const planned: EditOfChange[] = [];
    for (const [at, change] of rows.entries()) {
      const own = planFor(change, earlier[at] ?? [], edit, byRule);
      if (own.kind === 'refused') left.push({ entry: change.id, why: own.message });
      else planned.push({ change, edited: own.edited, edits: own.edits });
    }
    return { planned, left };
  };
  return {
    /** What an edit would make of these entries. Writes nothing. */
    plan,
    /** Edits the changes among these entries, which the transaction has locked; it keeps pulls of their feeds out. */
    async edit(tx: Queryable, ids: readonly number[], edit: BulkEdit, by: EditedBy): Promise<EntriesEdited> {
      const edited = await plan(tx, ids, edit, by.note?.rule !== undefined);
      await writeToChanges(tx, edited.planned, by);
      return edited;
    },
  };
}

type PlannedFields =
  | (Extract<EditPlan, { kind: 'planned' }> & { readonly edits: Fields })
  | Extract<EditPlan, { kind: 'refused' }>;

/** A field that the rule would set, and that has an edit which still holds. */
function ownEdit(
  reader: PostingReader,
  { key, fields = {} }: Pick<OpenChangeRow, 'key' | 'fields'>,
  earlier: readonly EditRow[],
  edits: Fields,
): string | undefined {
  const desired: DesiredPosting = { key, fields };
  return editsThatHold(reader, desired, earlier).find(({ field }) => Object.hasOwn(edits, field))?.field;
}

/** The fields to set in one posting, or why none. */
function editsFor({ set = {}, map }: BulkEdit, { fields = {} }: OpenChangeRow): Fields | string {
  if (map === undefined) return set;
  const value = Object.hasOwn(fields, map.field) ? (fields[map.field] ?? '') : '';
  if (!Object.hasOwn(map.values, value)) return `the table has no line for ${map.field} "${value.slice(0, 60)}"`;
  return { ...set, [map.field]: map.values[value] ?? '' };
}

/** Edits one review entry. @param edits site field → its new text; an empty text removes the field */
export async function editEntry(
  db: Database,
  config: Config,
  entry: number,
  edits: Fields,
  { actor, seen, onlyIfValid }: EditOptions,
): Promise<EditReport> {
  const found = await findChange(db, entry);
  if (found === undefined) return refuseMissing(db, config, entry);
  return inFeed<EditReport>(db, config, found.feed, async (tx, feed) => {
    const change = await lockChange(tx, entry);
    if (change === undefined) return refused('it is already resolved');
    if (isUnseen(seen, tokenOfChange(change))) return { ...refused(CHANGED_SINCE_SHOWN), stale: true };
    const { planned, left } = await entryEditor(config).plan(tx, [entry], { set: edits }, false);
    const [own] = planned;
    if (own === undefined) return refused(left[0]?.why ?? CHANGED_SINCE_SHOWN);
    if (onlyIfValid === true && own.edited.reason !== undefined)
      return invalid(feed, own.edited.reason.problems, edits);
    await writeToChanges(tx, planned, { actor });
    return reportOf(own);
  });
}

/**
 * Edits a posting in whatever state it is. One that is not rejected stays as it is if the edit would break rules of the site: `invalid`.
 * @param edits as for {@link editEntry}
 */
export async function editPosting(
  db: Database,
  config: Config,
  { feed: name, key }: PostingRef,
  edits: Fields,
  options: EditOptions,
): Promise<EditReport> {
  return inFeed<EditReport>(db, config, name, async (tx, feed) => {
    const { posting, earlier } = await lockPosting(tx, name, key);
    const { change } = posting;
    if (isUnseen(options.seen, tokenOfPosting({ ...posting, edits: earlier })))
      return { ...refused(CHANGED_SINCE_SHOWN), stale: true };
    const plan = planOf(config, feed, posting, earlier, edits);
    if (plan.kind === 'refused') return plan;
    const { edited } = plan;
    const isRejected = change !== undefined && change.state !== 'ready';
    if (edited.reason !== undefined && (options.onlyIfValid === true || !isRejected)) {
      return invalid(feed, edited.reason.problems, edits);
    }
    if (change !== undefined) {
      await writeToChanges(tx, [{ change, edited, edits }], options);
      return reportOf({ change, edited });
    }
    if (!(await blockDetails(tx, name))) return refused(beingPulled(name));
    const entry = await openEditedUpdate(tx, name, key, edited);
    if (entry === undefined) return refused('it has just been changed; try again');
    await audit(tx, [{ entry, feed: name, key, former: posting.live?.fields, edits }], options);
    return { kind: 'edited', entry, feed: name, key, remaining: undefined };
  });
}

/** Calls `work` in a transaction that keeps pulls of the feed out, unless nothing of the feed can be edited now. */
async function inFeed<Report>(
  db: Database,
  config: Config,
  name: FeedName,
  work: (tx: Queryable, feed: FeedConfig) => Promise<Report>,
): Promise<Report | Refused> {
  const feed = editableFeed(config, name);
  if (typeof feed === 'string') return refused(feed);
  return db.transaction(async (tx) => ((await blockPulls(tx, name)) ? work(tx, feed) : refused(beingPulled(name))));
}

/** No pull and no attempt changes what this returns until the transaction ends. */
async function lockPosting(
  tx: Queryable,
  feed: FeedName,
  key: PostingKey,
): Promise<{ readonly posting: EditablePosting; readonly earlier: readonly EditRow[] }> {
  const change = await lockChangeOf(tx, feed, key);
  await lockJob(tx, feed, key);
  const live = await findLiveJob(tx, feed, key);
  const expiry = await expiryOf(tx, feed, key);
  return { posting: { feed, key, change, live, expiry }, earlier: await editsOfPosting(tx, feed, key) };
}

async function lockChangeOf(tx: Queryable, feed: FeedName, key: PostingKey): Promise<OpenChangeRow | undefined> {
  const found = await findChangeOf(tx, feed, key);
  return found && lockChange(tx, found.id);
}

function planOf(
  config: Config,
  feed: FeedConfig,
  posting: EditablePosting,
  earlier: readonly EditRow[],
  edits: Fields,
): EditPlan {
  const editable = editBase(config, feed, posting);
  if (editable.kind === 'refused') return editable;
  return planEditOf(feed, compileReader(feed.mapping), editable.base, earlier, edits);
}

interface EditOfChange extends PlannedEdit {
  readonly change: OpenChangeRow;
  readonly edits: Fields;
}

async function writeToChanges(tx: Queryable, planned: readonly EditOfChange[], by: EditedBy): Promise<void> {
  await writeEdits(tx, planned);
  const audited = planned.map(({ change: { id: entry, feed, key, fields: former }, edits }) => {
    return { entry, feed, key, former, edits };
  });
  await audit(tx, audited, by);
}

const reportOf = ({ change: { id: entry, feed, key }, edited }: PlannedEdit) =>
  ({ kind: 'edited', entry, feed, key, remaining: edited.reason?.message }) as const;

/** What an edit has done, for people. @param remaining see {@link EditReport} */
export const editedMessage = (remaining: string | undefined): string =>
  remaining === undefined ? 'edited, ready to be sent' : `edited, still rejected: ${remaining}`;

interface Audited extends PostingRef {
  readonly entry: number;
  readonly former: Fields | undefined;
  readonly edits: Fields;
}

const audit = (tx: Queryable, edited: readonly Audited[], { actor, note }: EditedBy): Promise<void> =>
  auditActions(
    tx,
    actor,
    'edit',
    edited.map(({ feed, key, entry, edits, former }) => {
      return { feed, key, detail: { entry, edits, former: formerValues(former, edits), ...note } };
    }),
  );

/** Longer values are cut: the audit has one row for each of perhaps 100,000 edited postings. */
const MOST_CHARACTERS = 1_000;

/** Field → what it had before the edit; `null`: the posting had no such field. */
const formerValues = (fields: Fields | undefined, edits: Fields): Readonly<Record<string, string | null>> =>
  Object.fromEntries(
    Object.keys(edits).map((field) => [
      field,
      fields !== undefined && Object.hasOwn(fields, field) ? excerpt(fields[field] ?? '', MOST_CHARACTERS) : null,
    ]),
  );

type Refused = Extract<EditReport, { kind: 'refused' }>;

async function refuseMissing(db: Database, config: Config, entry: number): Promise<Refused> {
  const [record] = await findEntries(db, [entry]);
  return refused(
    record === undefined
      ? `there is no open review entry ${entry}`
      : whyNothingDone('edit', record, await readConfiguredHere(db, config)),
  );
}

/** Nothing is saved. A state that was mistyped is named with the one that was probably meant. */
function invalid({ mapping }: FeedConfig, problems: readonly Problem[], edits: Fields): EditReport {
  const said = problems.map((problem) => {
    const meant = nearestState(mapping, problem.field, edits);
    return meant === undefined ? problem : { ...problem, message: `${problem.message}; did you mean ${meant}?` };
  });
  const message = `nothing was saved, as the site would refuse it: ${said.map((each) => each.message).join('; ')}`;
  return { kind: 'invalid', problems: said, message };
}

/** The state that was probably meant, if the field has one and it is mistyped. */
export function nearestState(mapping: FieldMapping, field: string | undefined, edits: Fields): string | undefined {
  const typed = field === mapping.stateField.name && Object.hasOwn(edits, field) ? edits[field] : undefined;
  return typed === undefined ? undefined : nearestName(typed, stateValues(mapping));
}

const beingPulled = (feed: FeedName): string => `feed ${feed} is being pulled right now; try again when that has ended`;

const refused = (message: Message) => ({ kind: 'refused', message }) as const;

// Undoes edits of a posting: the next pull of its feed brings back what the source has.

export type UndoEditReport =
  /** `message`: what follows. */
  | { readonly kind: 'undone'; readonly fields: readonly string[]; readonly message: string }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly message: Message; readonly stale?: true };

export interface UndoEditOptions {
  readonly actor: string;
  /** Only these fields; `undefined`: all that were edited. */
  readonly fields?: readonly string[] | undefined;
  /** Undo nothing if the edits are no longer those that a person saw: {@link editsVersion}. */
  readonly version?: string | undefined;
  /** Fields of the feed that are left to the site once there is a job. */
  readonly createOnly?: CreateOnlyFields;
  readonly policy?: FeedPolicy | undefined;
}

/** Another one after each edit of the posting. */
export const editsVersion = (edits: readonly EditRow[]): string =>
  createHash('sha256')
    .update(JSON.stringify(edits.map(({ field, value, sourceValue }) => [field, value, sourceValue])))
    .digest('hex')
    .slice(0, 32);

/**
 * The same in every state: what was edited and waits is replaced by the next pull, what the site has accepted is updated by it, and
 * what was discarded is sent again if the source has something else. Where the source has changed the field since, the edit is without effect already.
 */
export async function undoEdits(
  db: Database,
  feed: FeedName,
  key: PostingKey,
  { actor, fields, version, createOnly, policy }: UndoEditOptions,
): Promise<UndoEditReport> {
  return db.transaction(async (tx): Promise<UndoEditReport> => {
    if (!(await blockPullsAndDetails(tx, feed))) {
      return refused(beingPulled(feed));
    }
    const change = await lockChangeOf(tx, feed, key);
    const edits = await editsOfPosting(tx, feed, key);
    if (version !== undefined && version !== editsVersion(edits)) {
      return {
        ...refused('its edits have changed since you saw them; look at them again. Nothing was changed'),
        stale: true,
      };
    }
    const names = fields ?? edits.map(({ field }) => field);
    const strange = names.filter((name) => !edits.some(({ field }) => field === name));
    if (strange.length > 0) return refused(`there is no edit of ${strange.join(', ')}`);
    if (names.length === 0) return refused(`posting ${key} of feed ${feed} has no edits`);
    if (change?.state === 'in_doubt')
      return refused('whether the site has made its job is not known: resolve the doubt first');
    if (change?.state === 'sending') return refused('it is being sent right now; try again when that has ended');
    await removeEdits(tx, { feed, key }, names);
    await planAgain(tx, feed, [key]);
    const live = await findLiveJob(tx, feed, key);
    const isMissing = change?.missing === true || (live?.missingPulls ?? 0) > 0;
    const message = whatFollows(names, { createOnly, policy, hasJob: await hasJob(tx, feed, key), isMissing });
    const reason = `${names.join(', ')}; ${message}`;
    await auditAction(tx, { actor, action: 'undo edit', feed, key, detail: { fields: names, edits, reason } });
    return { kind: 'undone', fields: names, message };
  });
}

const BROUGHT_BACK = 'the next pull brings back what the source has';

interface Effect extends Pick<UndoEditOptions, 'createOnly' | 'policy'> {
  readonly hasJob: boolean;
  /** From the feed, within its grace, which does not end under some policies. */
  readonly isMissing: boolean;
}

function whatFollows(names: readonly string[], { createOnly, policy, hasJob, isMissing }: Effect): string {
  if (hasJob && !updatesJobs(policy)) return "the job keeps what it has, as the feed's policy is create_only";
  const left = hasJob ? names.filter((name) => createOnly?.has(name) === true) : [];
  const broughtBack = isMissing ? `once the feed has the posting again, ${BROUGHT_BACK}` : BROUGHT_BACK;
  if (left.length === 0) return broughtBack;
  const keeps = `the job keeps ${left.join(', ')}, which ${left.length === 1 ? 'is' : 'are'} set only on create`;
  return left.length === names.length ? keeps : `${broughtBack}, but ${keeps}`;
}
