// Keeps the texts that a feed's file has had: who saved which, and what was found there before.
import type { FeedName } from '../../posting/identifiers.ts';
import { auditAction } from '../access/audit.ts';
import { lockKey } from '../locks/advisory-locks.ts';
import { type Database, type Queryable, readColumn, type Stored, withoutNulls } from '../postgres/database.ts';
import { addUpload, type NewUpload, readStagedUpload, removeStaged, stageUpload } from './feed-uploads.ts';

/** Versions that are kept of each feed, besides the last that was saved from here; an older one goes when a newer one is added. */
export const MOST_VERSIONS = 100;

export interface StoredVersion {
  readonly version: number;
  readonly at: Date;
  /** `undefined`: found in the file, written by hand. */
  readonly actor: string | undefined;
  readonly text: string;
  /** The addresses in it that nobody has written by hand; `undefined`: not recorded. */
  readonly addresses: readonly string[] | undefined;
  /** Otherwise it is not known whether the file was replaced by it. */
  readonly isSettled: boolean;
}

/** Newest first. */
export async function readVersions(db: Queryable, feed: FeedName): Promise<StoredVersion[]> {
  const rows = await db.query<Stored<StoredVersion>>(
    `select version, at, actor, text, addresses, settled as "isSettled" from feed_file_version
     where feed = $1 order by version desc`,
    [feed],
  );
  return rows.map(withoutNulls<StoredVersion>);
}

/** The addresses of the text saved from here last that nobody has written by hand, and of each that may have replaced it. */
export const addressesOfLastSave = async (db: Queryable, feed: FeedName): Promise<ReadonlySet<string>> =>
  new Set(
    await readColumn<string>(
      db,
      `select distinct unnest(addresses) as address from feed_file_version v
     where feed = $1 and addresses is not null and (not settled or version =
       (select max(version) from feed_file_version where feed = $1 and addresses is not null and settled))`,
      [feed],
    ),
  );

/** Runs `work` while nobody else on this database saves the file of the feed. */
export async function withFileLock<Result>(
  db: Database,
  feed: FeedName,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result> {
  return db.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [lockKey('file', feed)]);
    return work(tx);
  });
}

/** The file has the text: completes the saving of it if its process could not. Returns whether it was announced. */
export async function settleFound(tx: Queryable, feed: FeedName, text: string): Promise<boolean> {
  const [replaced] = await tx.query<{ version: number; actor: string }>(
    `update feed_file_version set settled = true where feed = $1 and not settled and text = $2 returning version, actor`,
    [feed, text],
  );
  if (replaced === undefined) return false;
  const { actor, version } = replaced;
  await readStagedUpload(tx, feed, text);
  await auditAction(tx, { actor, action: SAVED, feed, detail: { version } });
  return true;
}

/** Adds a text found in the file, unless the newest version has it. Returns whether it was added. */
export async function addFoundVersion(tx: Queryable, feed: FeedName, text: string): Promise<boolean> {
  if (await settleFound(tx, feed, text)) return false;
  const [newest] = await tx.query<{ text: string }>(
    'select text from feed_file_version where feed = $1 and settled order by version desc limit 1',
    [feed],
  );
  if (newest?.text === text) return false;
  // What is announced may be in it, and is forgotten once something else is saved.
  const [announced] = await tx.query('select from feed_file_version where feed = $1 and not settled limit 1', [feed]);
  const addresses = announced === undefined ? null : [...(await addressesOfLastSave(tx, feed))];
  await addVersion(tx, feed, { actor: null, text, addresses, settled: true });
  return true;
}

const SAVED = 'save feed file';

interface SavedVersion {
  readonly actor: string;
  readonly text: string;
  /** The addresses in it that nobody has written by hand. */
  readonly addresses: readonly string[];
  /** An upload that is read together with the text, neither before nor without it. */
  readonly upload: NewUpload | undefined;
}

/**
 * Adds a text that is about to replace the file, with the addresses of the text that the file has meanwhile: whichever of the two a crash
 * leaves there, its addresses are known. Returns its number.
 */
export async function announceVersion(
  tx: Queryable,
  feed: FeedName,
  { actor, text, addresses, upload }: SavedVersion,
): Promise<number> {
  // Of processes that have ended before they replaced the file: no saving takes so long.
  const ended = await tx.query<{ text: string }>(
    `delete from feed_file_version where feed = $1 and not settled and at < now() - interval '10 minutes' returning text`,
    [feed],
  );
  for (const each of ended) await removeStaged(tx, feed, each.text);
  if (upload !== undefined) await stageUpload(tx, feed, upload, text);
  const all = [...new Set([...addresses, ...(await addressesOfLastSave(tx, feed))])];
  return addVersion(tx, feed, { actor, text, addresses: all, settled: false });
}

/** The file was not replaced by it. */
export async function withdrawVersion(tx: Queryable, feed: FeedName, version: number): Promise<void> {
  const [withdrawn] = await tx.query<{ text: string }>(
    'delete from feed_file_version where feed = $1 and version = $2 and not settled returning text',
    [feed, version],
  );
  if (withdrawn !== undefined) await removeStaged(tx, feed, withdrawn.text);
}

/** The file was replaced by the text that was announced: any other that was announced was not. */
export async function settleVersion(
  tx: Queryable,
  feed: FeedName,
  announced: number,
  saved: SavedVersion & { readonly isNew: boolean; readonly restores: number | undefined },
): Promise<number> {
  const { actor, text, addresses, isNew, restores, upload } = saved;
  const [row] = await tx.query(
    'update feed_file_version set settled = true, addresses = $3 where feed = $1 and version = $2 returning version',
    [feed, announced, addresses],
  );
  const version = row === undefined ? await addVersion(tx, feed, { ...saved, settled: true }) : announced;
  await tx.query('delete from feed_file_version where feed = $1 and not settled', [feed]);
  if (upload === undefined) await removeStaged(tx, feed);
  else if (!(await readStagedUpload(tx, feed, text))) await addUpload(tx, feed, upload);
  const detail = { version, ...(isNew ? { new: true } : {}), ...(restores === undefined ? {} : { restores }) };
  await auditAction(tx, { actor, action: SAVED, feed, detail });
  return version;
}

async function addVersion(
  tx: Queryable,
  feed: FeedName,
  added: {
    readonly actor: string | null;
    readonly text: string;
    readonly addresses: readonly string[] | null;
    readonly settled: boolean;
  },
): Promise<number> {
  const { actor, text, addresses, settled } = added;
  const [row] = await tx.query<{ version: number }>(
    `insert into feed_file_version (feed, version, actor, text, addresses, settled)
     select $1, coalesce(max(version), 0) + 1, $2, $3, $4, $5 from feed_file_version where feed = $1 returning version`,
    [feed, actor, text, addresses, settled],
  );
  const version = row?.version ?? 0;
  // The newest one with addresses tells which of them must be public, however often the file is edited by hand after it.
  await tx.query(
    `delete from feed_file_version where feed = $1 and version <= $2 and version is distinct from
       (select max(version) from feed_file_version where feed = $1 and addresses is not null and settled)`,
    [feed, version - MOST_VERSIONS],
  );
  return version;
}
