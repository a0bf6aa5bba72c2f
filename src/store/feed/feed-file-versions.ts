// Keeps the texts that a feed's file has had: who saved which, and what was found there before.
import type { FeedName } from '../../posting/identifiers.ts';
import { auditAction } from '../access/audit.ts';
import { lockKey } from '../locks/advisory-locks.ts';
import type { Database, Queryable } from '../postgres/database.ts';

/** Versions that are kept of each feed, besides the last that was saved from here; an older one goes when a newer one is added. */
export const MOST_VERSIONS = 100;

export interface StoredVersion {
  readonly version: number;
  readonly at: Date;
  /** `undefined`: found in the file, written by hand. */
  readonly actor: string | undefined;
  readonly text: string;
}

/** Newest first. */
export async function readVersions(db: Queryable, feed: FeedName): Promise<StoredVersion[]> {
  const rows = await db.query<Omit<StoredVersion, 'actor'> & { actor: string | null }>(
    'select version, at, actor, text from feed_file_version where feed = $1 order by version desc',
    [feed],
  );
  return rows.map(({ actor, ...row }) => ({ ...row, actor: actor ?? undefined }));
}

/** The addresses of the newest text saved from here that nobody has written by hand. */
export async function addressesFromHere(db: Queryable, feed: FeedName): Promise<ReadonlySet<string>> {
  const [row] = await db.query<{ addresses: string[] }>(
    'select addresses from feed_file_version where feed = $1 and addresses is not null order by version desc limit 1',
    [feed],
  );
  return new Set(row?.addresses);
}

/** Runs `work` while nobody else on this database saves the file of the feed. */
export async function whileNobodySaves<Result>(
  db: Database,
  feed: FeedName,
  work: (tx: Queryable) => Promise<Result>,
): Promise<Result> {
  return db.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [lockKey('file', feed)]);
    return work(tx);
  });
}

/** Adds a text found in the file, unless the newest version has it. Returns whether it was added. */
export async function addFoundVersion(tx: Queryable, feed: FeedName, text: string): Promise<boolean> {
  const [newest] = await tx.query<{ text: string }>(
    'select text from feed_file_version where feed = $1 order by version desc limit 1',
    [feed],
  );
  if (newest?.text === text) return false;
  await addVersion(tx, feed, { actor: null, text, addresses: null });
  return true;
}

/** Adds a text that somebody saved. Returns its number. */
export async function addSavedVersion(
  tx: Queryable,
  feed: FeedName,
  saved: {
    readonly actor: string;
    readonly text: string;
    readonly isNew: boolean;
    readonly restores: number | undefined;
    /** Those in it that nobody has written by hand. */
    readonly addresses: readonly string[];
  },
): Promise<number> {
  const { actor, text, isNew, restores, addresses } = saved;
  const version = await addVersion(tx, feed, { actor, text, addresses });
  const detail = { version, ...(isNew ? { new: true } : {}), ...(restores === undefined ? {} : { restores }) };
  await auditAction(tx, { actor, action: 'save feed file', feed, detail });
  return version;
}

async function addVersion(
  tx: Queryable,
  feed: FeedName,
  {
    actor,
    text,
    addresses,
  }: Pick<StoredVersion, 'text'> & { readonly actor: string | null; readonly addresses: readonly string[] | null },
): Promise<number> {
  const [row] = await tx.query<{ version: number }>(
    `insert into feed_file_version (feed, version, actor, text, addresses)
     select $1, coalesce(max(version), 0) + 1, $2, $3, $4 from feed_file_version where feed = $1 returning version`,
    [feed, actor, text, addresses],
  );
  const version = row?.version ?? 0;
  // The newest one with addresses tells which of them must be public, however often the file is edited by hand after it.
  await tx.query(
    `delete from feed_file_version where feed = $1 and version <= $2 and version is distinct from
       (select max(version) from feed_file_version where feed = $1 and addresses is not null)`,
    [feed, version - MOST_VERSIONS],
  );
  return version;
}
