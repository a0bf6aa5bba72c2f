// Edits fields of a posting that was rejected or failed; an edit holds until the source changes the field.
import type { Config, FeedConfig } from '../config/config.ts';
import type { Message } from '../plan/message.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import type { Fields } from '../posting/posting.ts';
import { compileReader } from '../posting/reader.ts';
import { findChange, lockChange, type OpenChangeRow } from '../store/backlog/open-change.ts';
import { findEntries } from '../store/change/act-in-review.ts';
import { keepPullsOut, writeEdit } from '../store/change/edit.ts';
import type { Database } from '../store/postgres/database.ts';
import { auditAction } from '../store/review/audit.ts';
import { editsOfPosting } from '../store/review/override.ts';
import { recompute } from './recompute.ts';
import { whyNot } from './why-not.ts';

export type EditReport =
  | {
      readonly kind: 'edited';
      readonly feed: FeedName;
      readonly key: PostingKey;
      /** What still prevents sending it; `undefined`: it is ready. */
      readonly remaining: string | undefined;
    }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly message: Message };

export interface EditOptions {
  readonly actor: string;
}

/** `edits`: site field → its new text; an empty text removes the field. */
export async function editEntry(
  db: Database,
  config: Config,
  entry: number,
  edits: Fields,
  options: EditOptions,
): Promise<EditReport> {
  const found = await findChange(db, entry);
  if (found === undefined) return refuseMissing(db, entry);
  const feed = config.feeds.get(found.feed);
  if (config.brokenFeeds.has(found.feed))
    return refused(`the configuration of feed ${found.feed} is wrong: fix it first`);
  if (feed === undefined) return refused(`feed ${found.feed} is no longer configured, so nothing is sent for it`);
  return db.transaction(async (tx): Promise<EditReport> => {
    if (!(await keepPullsOut(tx, feed.name))) {
      return refused(`feed ${feed.name} is being pulled right now; try again when that has ended`);
    }
    const change = await lockChange(tx, entry);
    const obstacle = obstacleOf(change);
    if (change === undefined || change.fields === undefined || obstacle !== undefined) {
      return refused(obstacle ?? 'it is already resolved');
    }
    const { key, fields } = change;
    const strange = Object.keys(edits).filter((name) => !namesOf(feed, change).has(name));
    if (strange.length > 0) {
      const known = [...namesOf(feed, change)].sort().join(', ');
      return refused(`feed ${feed.name} has no field ${strange.join(', ')}; fields: ${known}`);
    }
    const earlier = await editsOfPosting(tx, feed.name, key);
    const problems = change.reason?.kind === 'rules' ? change.reason.problems : [];
    const edited = recompute(compileReader(feed.mapping), { key, fields, problems }, earlier, edits);
    if (edited === undefined) return refused('nothing would change: the posting already has these values');
    await writeEdit(tx, change, edited);
    await auditAction(tx, { actor: options.actor, action: 'edit', feed: feed.name, key, detail: { entry, edits } });
    return { kind: 'edited', feed: feed.name, key, remaining: edited.reason?.message };
  });
}

/** Why the entry cannot be edited, if it cannot. */
function obstacleOf(change: OpenChangeRow | undefined): Message | undefined {
  if (change === undefined) return undefined;
  if (change.state !== 'rejected' && change.state !== 'failed') {
    return whyNot('retry', { ...change, reason: null });
  }
  return change.desired === 'absent' ? 'it is a delete, which has no fields' : undefined;
}

/** Fields that a posting of the feed can have: those of the mapping, of the site, and of the reported problems. */
function namesOf({ mapping }: FeedConfig, change: OpenChangeRow): Set<string> {
  return new Set([
    ...Object.keys(mapping.fields),
    mapping.stateField.name,
    ...mapping.requiredFields,
    ...Object.keys(mapping.maxLengths),
    ...Object.keys(change.fields ?? {}),
    ...(change.reason?.problems ?? []).flatMap(({ field }) => field ?? []),
  ]);
}

async function refuseMissing(db: Database, entry: number): Promise<EditReport> {
  const [record] = await findEntries(db, [entry]);
  return refused(record === undefined ? `there is no open review entry ${entry}` : whyNot('retry', record));
}

const refused = (message: Message): EditReport => ({ kind: 'refused', message });
