// Edits fields of a posting that was rejected or failed; an edit holds until the source changes the field.
import type { Config } from '../config/config.ts';
import type { Message } from '../plan/message.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import type { Fields, Problem } from '../posting/posting.ts';
import { compileReader } from '../posting/reader.ts';
import { findChange, lockChange } from '../store/backlog/open-change.ts';
import { findEntries } from '../store/change/act-in-review.ts';
import { keepPullsOut, writeEdits } from '../store/change/edit.ts';
import type { Database } from '../store/postgres/database.ts';
import { auditAction } from '../store/review/audit.ts';
import { editsOfPosting } from '../store/review/override.ts';
import { changeVersion, STALE } from './entry-version.ts';
import { formerValues } from './former-values.ts';
import { editableFeed, planEdit } from './plan-edit.ts';
import { whyNot } from './why-not.ts';

export type EditReport =
  | {
      readonly kind: 'edited';
      readonly feed: FeedName;
      readonly key: PostingKey;
      /** What still prevents sending it; `undefined`: it is ready. */
      readonly remaining: string | undefined;
    }
  /** Nothing was changed: the site's rules would still be broken. */
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly message: Message; readonly stale?: true };

export interface EditOptions {
  readonly actor: string;
  /** Edit only this version of the entry. */
  readonly version?: string | undefined;
  /** Edit nothing if the posting would still break rules of the site. */
  readonly onlyIfValid?: true;
}

type Refused = Extract<EditReport, { kind: 'refused' }>;

/** `edits`: site field → its new text; an empty text removes the field. */
export function editEntry(
  db: Database,
  config: Config,
  entry: number,
  edits: Fields,
  options: EditOptions & { readonly onlyIfValid?: never },
): Promise<Exclude<EditReport, { kind: 'invalid' }>>;
export function editEntry(
  db: Database,
  config: Config,
  entry: number,
  edits: Fields,
  options: EditOptions,
): Promise<EditReport>;
export async function editEntry(
  db: Database,
  config: Config,
  entry: number,
  edits: Fields,
  options: EditOptions,
): Promise<EditReport> {
  const found = await findChange(db, entry);
  if (found === undefined) return refuseMissing(db, entry);
  const feed = editableFeed(config, found.feed);
  if (typeof feed === 'string') return refused(feed);
  return db.transaction(async (tx): Promise<EditReport> => {
    if (!(await keepPullsOut(tx, feed.name))) {
      return refused(`feed ${feed.name} is being pulled right now; try again when that has ended`);
    }
    const change = await lockChange(tx, entry);
    if (change !== undefined && options.version !== undefined && options.version !== changeVersion(change)) {
      return { ...refused(STALE), stale: true };
    }
    const earlier = change === undefined ? [] : await editsOfPosting(tx, feed.name, change.key);
    const plan = planEdit(feed, compileReader(feed.mapping), change, earlier, edits);
    if (plan.kind === 'refused' || change === undefined) {
      return refused(plan.kind === 'refused' ? plan.message : 'it is already resolved');
    }
    const { edited } = plan;
    if (options.onlyIfValid === true && edited.reason !== undefined) {
      return { kind: 'invalid', problems: edited.reason.problems };
    }
    const { key } = change;
    await writeEdits(tx, [{ change, edited }]);
    const detail = { entry, edits, former: formerValues(change.fields, edits) };
    await auditAction(tx, { actor: options.actor, action: 'edit', feed: feed.name, key, detail });
    return { kind: 'edited', feed: feed.name, key, remaining: edited.reason?.message };
  });
}

async function refuseMissing(db: Database, entry: number): Promise<Refused> {
  const [record] = await findEntries(db, [entry]);
  return refused(record === undefined ? `there is no open review entry ${entry}` : whyNot('retry', record));
}

const refused = (message: Message) => ({ kind: 'refused', message }) as const;
