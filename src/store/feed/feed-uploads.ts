// Keeps the files that were uploaded as the source of a feed: the last ones of each feed, of which the newest is read.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';
import type { FeedName } from '../../posting/identifiers.ts';
import { auditAction } from '../access/audit.ts';
import { lockKey } from '../locks/advisory-locks.ts';
import type { Queryable } from '../postgres/database.ts';

/** Files that are kept of each feed; the oldest goes when a newer one is added. */
export const MOST_UPLOADS = 10;

export interface StoredUpload {
  readonly version: number;
  readonly at: Date;
  readonly actor: string;
  /** As whoever uploaded it named it. */
  readonly name: string;
  readonly bytes: number;
  /** The database was restored from a backup that has it: a newer one may have been uploaded since. */
  readonly ofBackup: boolean;
}

const COLUMNS = 'version, at, actor, name, bytes, of_backup as "ofBackup"';

/** Newest first. */
export const readUploads = (db: Queryable, feed: FeedName): Promise<StoredUpload[]> =>
  db.query<StoredUpload>(`select ${COLUMNS} from feed_upload where feed = $1 order by version desc`, [feed]);

/** The newest one; `undefined`: there is none. */
export async function findUpload(
  db: Queryable,
  feed: FeedName,
): Promise<(StoredUpload & { readonly chunks: AsyncIterable<Buffer> }) | undefined> {
  const [upload] = await db.query<StoredUpload>(
    `select ${COLUMNS} from feed_upload where feed = $1 order by version desc limit 1`,
    [feed],
  );
  return upload && { ...upload, chunks: unpacked(db, feed, upload.version) };
}

/** Compressed content is stored in parts of this size, which are held in memory one after the other. */
const PART_BYTES = 256 * 1024;
const pack = promisify(gzip);

async function* unpacked(db: Queryable, feed: FeedName, version: number): AsyncGenerator<Buffer> {
  const packed = Readable.from(partsOf(db, feed, version));
  const content = createGunzip();
  packed.on('error', (error) => content.destroy(error));
  packed.pipe(content);
  try {
    yield* content;
  } finally {
    packed.destroy();
    content.destroy();
  }
}

async function* partsOf(db: Queryable, feed: FeedName, version: number): AsyncGenerator<Buffer> {
  for (let part = 0; ; part++) {
    const [row] = await db.query<{ content: Buffer }>(
      'select content from feed_upload_part where feed = $1 and version = $2 and part = $3',
      [feed, version, part],
    );
    // If it was removed meanwhile, because newer ones came, the end of gzip is missing as well.
    if (row === undefined) return;
    yield row.content;
  }
}

/**
 * Adds a file that the feed reads from now on. Returns its number, and whether the newest one had the same content already; one that came
 * back with a backup is not read, so the same content is added anew.
 */
export async function addUpload(
  tx: Queryable,
  feed: FeedName,
  { name, content, actor }: { readonly name: string; readonly content: Buffer; readonly actor: string },
): Promise<{ readonly version: number; readonly isNew: boolean }> {
  const digest = createHash('sha256').update(content).digest();
  const packed = await pack(content);
  await lockUploads(tx, feed);
  const [newest] = await tx.query<{ version: number; isSame: boolean }>(
    'select version, digest = $2 and not of_backup as "isSame" from feed_upload where feed = $1 order by version desc limit 1',
    [feed, digest],
  );
  if (newest?.isSame === true) return { version: newest.version, isNew: false };
  const version = (newest?.version ?? 0) + 1;
  await tx.query(
    'insert into feed_upload (feed, version, actor, name, bytes, digest) values ($1, $2, $3, $4, $5, $6)',
    [feed, version, actor, name, content.length, digest],
  );
  for (let at = 0, part = 0; at < packed.length; at += PART_BYTES, part++) {
    await tx.query('insert into feed_upload_part (feed, version, part, content) values ($1, $2, $3, $4)', [
      feed,
      version,
      part,
      packed.subarray(at, at + PART_BYTES),
    ]);
  }
  await keepNewest(tx, feed, MOST_UPLOADS);
  const detail = { version, name, bytes: content.length };
  await auditAction(tx, { actor, action: 'upload feed', feed, detail });
  return { version, isNew: true };
}

/** Adds a former file anew. Returns its new number; `undefined`: it is not kept any more. */
export async function restoreUpload(
  tx: Queryable,
  feed: FeedName,
  { version: former, actor }: { readonly version: number; readonly actor: string },
): Promise<{ readonly version: number; readonly isNew: boolean } | undefined> {
  await lockUploads(tx, feed);
  const uploads = await readUploads(tx, feed);
  const [newest] = uploads;
  const found = uploads.find((each) => each.version === former);
  if (newest === undefined || found === undefined) return undefined;
  if (newest.version === former && !newest.ofBackup) return { version: former, isNew: false };
  const version = newest.version + 1;
  await tx.query(
    `insert into feed_upload (feed, version, actor, name, bytes, digest)
     select feed, $3, $4, name, bytes, digest from feed_upload where feed = $1 and version = $2`,
    [feed, former, version, actor],
  );
  await tx.query(
    `insert into feed_upload_part (feed, version, part, content)
     select feed, $3, part, content from feed_upload_part where feed = $1 and version = $2`,
    [feed, former, version],
  );
  await keepNewest(tx, feed, MOST_UPLOADS);
  const detail = { version, name: found.name, bytes: found.bytes, restores: former };
  await auditAction(tx, { actor, action: 'upload feed', feed, detail });
  return { version, isNew: true };
}

/** Nothing is uploaded for the feed meanwhile, until the transaction ends. `undefined`: nothing was yet. */
export async function lockNewestUpload(tx: Queryable, feed: FeedName): Promise<StoredUpload | undefined> {
  await lockUploads(tx, feed);
  return (await readUploads(tx, feed))[0];
}

const lockUploads = (tx: Queryable, feed: FeedName): Promise<unknown> =>
  tx.query('select pg_advisory_xact_lock($1)', [lockKey('upload', feed)]);

/** Within the transaction of a restore. Returns how many feeds read no file until somebody says which is the newest. */
export async function distrustUploads(tx: Queryable): Promise<number> {
  await tx.query('update feed_upload set of_backup = true');
  const [row] = await tx.query<{ n: number }>('select count(distinct feed) as n from feed_upload');
  return row?.n ?? 0;
}

/** Removes the older ones. */
export async function keepNewest(tx: Queryable, feed: FeedName, most: number): Promise<void> {
  for (const table of ['feed_upload', 'feed_upload_part']) {
    await tx.query(
      `delete from ${table} where feed = $1 and version <=
         (select max(version) from feed_upload where feed = $1) - $2::integer`,
      [feed, most],
    );
  }
}

/** Files of the new name become later versions than those of the former one: they were uploaded after it. */
export async function moveUploadsBehind(tx: Queryable, from: FeedName, to: FeedName): Promise<void> {
  for (const feed of [from, to].sort()) await lockUploads(tx, feed);
  for (const table of ['feed_upload_part', 'feed_upload']) {
    // Further than the last file of either, so that no number is taken meanwhile.
    await tx.query(
      `update ${table} set version = version + (select sum(newest) from
         (select max(version) as newest from feed_upload where feed in ($1, $2) group by feed) each) where feed = $2`,
      [from, to],
    );
  }
}
