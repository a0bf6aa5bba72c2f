// Edits fields of a posting: one that was rejected, failed or waits to be sent, or the job of one that the site has accepted. An edit holds
// until the source changes the field.
import type { Config, FeedConfig } from '../config/config.ts';
import type { Message } from '../plan/message.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import type { Fields, Problem } from '../posting/posting.ts';
import { compileReader } from '../posting/reader.ts';
import { auditAction } from '../store/access/audit.ts';
import { findEntries } from '../store/change/act-in-review.ts';
import {
  type Edited,
  keepDetailsOut,
  keepPullsOut,
  lockJob,
  openEditedUpdate,
  writeEdits,
} from '../store/change/edit.ts';
import { findChange, findChangeOf, lockChange, type OpenChangeRow } from '../store/change/open-change.ts';
import { type EditRow, editsOfPosting, type PostingName } from '../store/change/override.ts';
import type { Database, Queryable } from '../store/postgres/database.ts';
import { expiryOf } from '../store/pull/posting-expiry.ts';
import { findLiveJob } from '../store/review/posting-history.ts';
import { readHere } from './configured-policy.ts';
import { whyNot } from './entry-facts.ts';
import { formerValues } from './former-values.ts';
import { type EditablePosting, type EditPlan, editableFeed, editBase, planEdit, planEditOf } from './plan-edit.ts';
import { isUnseen, type Seen, STALE, tokenOfChange, tokenOfPosting } from './seen.ts';

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
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly message: Message; readonly stale?: true };

export interface EditOptions {
  readonly actor: string;
  /** See {@link tokenOfPosting}. */
  readonly seen?: Seen | undefined;
  /** Edit nothing if the posting would still break rules of the site. */
  readonly onlyIfValid?: true;
}

/** Edits a review entry. @param edits site field → its new text; an empty text removes the field */
export async function editEntry(
  db: Database,
  config: Config,
  entry: number,
  edits: Fields,
  options: Omit<EditOptions, 'onlyIfValid'>,
): Promise<Exclude<EditReport, { kind: 'invalid' }>> {
  const found = await findChange(db, entry);
  if (found === undefined) return refuseMissing(db, config, entry);
  return inFeed<Exclude<EditReport, { kind: 'invalid' }>>(db, config, found.feed, async (tx, feed) => {
    const change = await lockChange(tx, entry);
    if (change === undefined) return refused('it is already resolved');
    if (isUnseen(options.seen, tokenOfChange(change))) return { ...refused(STALE), stale: true };
    const earlier = await editsOfPosting(tx, change.feed, change.key);
    const plan = planEdit(config, feed, compileReader(feed.mapping), change, earlier, edits);
    if (plan.kind === 'refused') return plan;
    return writeToChange(tx, change, plan.edited, edits, options.actor);
  });
}

/**
 * Edits a posting in whatever state it is. One that is not rejected stays as it is if the edit would break rules of the site: `invalid`.
 * @param edits as for {@link editEntry}
 */
export async function editPosting(
  db: Database,
  config: Config,
  { feed: name, key }: PostingName,
  edits: Fields,
  options: EditOptions,
): Promise<EditReport> {
  return inFeed<EditReport>(db, config, name, async (tx, feed) => {
    const { posting, earlier } = await lockPosting(tx, name, key);
    const { change } = posting;
    if (isUnseen(options.seen, tokenOfPosting({ ...posting, edits: earlier })))
      return { ...refused(STALE), stale: true };
    const plan = planOf(config, feed, posting, earlier, edits);
    if (plan.kind === 'refused') return plan;
    const { edited } = plan;
    const isRejected = change !== undefined && change.state !== 'ready';
    if (edited.reason !== undefined && (options.onlyIfValid === true || !isRejected)) {
      return { kind: 'invalid', problems: edited.reason.problems };
    }
    if (change !== undefined) return writeToChange(tx, change, edited, edits, options.actor);
    if (!(await keepDetailsOut(tx, name))) return refused(beingPulled(name));
    const entry = await openEditedUpdate(tx, name, key, edited);
    if (entry === undefined) return refused('it has just been changed; try again');
    await audit(tx, { entry, feed: name, key, former: posting.live?.fields, edits, actor: options.actor });
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
  return db.transaction(async (tx) => ((await keepPullsOut(tx, name)) ? work(tx, feed) : refused(beingPulled(name))));
}

/** No pull and no attempt changes what this returns until the transaction ends. */
async function lockPosting(
  tx: Queryable,
  feed: FeedName,
  key: PostingKey,
): Promise<{ readonly posting: EditablePosting; readonly earlier: readonly EditRow[] }> {
  const found = await findChangeOf(tx, feed, key);
  const change = found === undefined ? undefined : await lockChange(tx, found.id);
  await lockJob(tx, feed, key);
  const live = await findLiveJob(tx, feed, key);
  const expiry = await expiryOf(tx, feed, key);
  return { posting: { feed, key, change, live, expiry }, earlier: await editsOfPosting(tx, feed, key) };
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

async function writeToChange(tx: Queryable, change: OpenChangeRow, edited: Edited, edits: Fields, actor: string) {
  const { id: entry, feed, key, fields } = change;
  await writeEdits(tx, [{ change, edited }]);
  await audit(tx, { entry, feed, key, former: fields, edits, actor });
  return { kind: 'edited', entry, feed, key, remaining: edited.reason?.message } as const;
}

/** What an edit has done, for people. @param remaining see {@link EditReport} */
export const editedMessage = (remaining: string | undefined): string =>
  remaining === undefined ? 'edited, ready to be sent' : `edited, still rejected: ${remaining}`;

interface Audited extends PostingName {
  readonly entry: number;
  readonly former: Fields | undefined;
  readonly edits: Fields;
  readonly actor: string;
}

const audit = (tx: Queryable, { entry, feed, key, former, edits, actor }: Audited): Promise<void> =>
  auditAction(tx, {
    actor,
    action: 'edit',
    feed,
    key,
    detail: { entry, edits, former: formerValues(former, edits) },
  });

type Refused = Extract<EditReport, { kind: 'refused' }>;

async function refuseMissing(db: Database, config: Config, entry: number): Promise<Refused> {
  const [record] = await findEntries(db, [entry]);
  return refused(
    record === undefined
      ? `there is no open review entry ${entry}`
      : whyNot('edit', record, await readHere(db, config)),
  );
}

const beingPulled = (feed: FeedName): string => `feed ${feed} is being pulled right now; try again when that has ended`;

const refused = (message: Message) => ({ kind: 'refused', message }) as const;
