// Keeps the files that were uploaded as the source of a feed: the last ones of each feed, of which the newest is read. One that comes with
// new settings is staged first, and read once the feed's file has them.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';
import type { FeedName } from '../../posting/identifiers.ts';
import { auditAction } from '../access/audit.ts';
import { lockKey } from '../locks/advisory-locks.ts';
import { type Queryable, readNumber } from '../postgres/database.ts';

/** Files that are kept of each feed; the oldest goes when a newer one is added. */
export const MOST_UPLOADS = 10;

export interface StoredUpload {
  readonly version: number;
  readonly at: Date;
  readonly actor: string;
  /** The name that the person who uploaded it gave it. */
  readonly name: string;
  readonly bytes: number;
  /** The database was restored from a backup that has it: a newer one may have been uploaded since. */
  readonly ofBackup: boolean;
}

const COLUMNS = 'version, at, actor, name, bytes, of_backup as "ofBackup"';

/** Newest first. */
export const readUploads = (db: Queryable, feed: FeedName): Promise<StoredUpload[]> =>
  db.query<StoredUpload>(
    `select ${COLUMNS} from feed_upload where feed = $1 and awaits is null order by version desc`,
    [feed],
  );

/** The newest one; `undefined`: there is none. */
export async function findUpload(
  db: Queryable,
  feed: FeedName,
): Promise<(StoredUpload & { readonly chunks: AsyncIterable<Buffer> }) | undefined> {
  const [upload] = await db.query<StoredUpload>(
    `select ${COLUMNS} from feed_upload where feed = $1 and awaits is null order by version desc limit 1`,
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

/** An uploaded file, as it is added. */
export interface NewUpload {
  readonly name: string;
  readonly content: Buffer;
  readonly actor: string;
}

/**
 * Adds a file that the feed reads from now on. Returns its number, and whether the newest one had the same content already; one that came
 * back with a backup is not read, so the same content is added anew.
 */
export async function addUpload(
  tx: Queryable,
  feed: FeedName,
  upload: NewUpload,
): Promise<{ readonly version: number; readonly isNew: boolean }> {
  await lockUploads(tx, feed);
  const same = await newestIfSame(tx, feed, digestOfFile(upload.content));
  if (same !== undefined) return { version: same, isNew: false };
  const version = await insertUpload(tx, feed, upload, null);
  await keepNewest(tx, feed, MOST_UPLOADS);
  await auditUpload(tx, feed, { ...upload, version, bytes: upload.content.length });
  return { version, isNew: true };
}

/** Adds a file that the feed reads once its own file has the text: see {@link readStagedUpload}. */
export async function stageUpload(tx: Queryable, feed: FeedName, upload: NewUpload, text: string): Promise<void> {
  await lockUploads(tx, feed);
  await insertUpload(tx, feed, upload, digestOfText(text));
}

/**
 * The feed's file has the text: a file that was staged with it is read from now on, unless a newer one was uploaded meanwhile, and no other
 * one that was staged. Returns whether there was one.
 */
export async function readStagedUpload(tx: Queryable, feed: FeedName, text: string): Promise<boolean> {
  await lockUploads(tx, feed);
  const [staged] = await tx.query<StoredUpload & { readonly digest: Buffer }>(
    `select ${COLUMNS}, digest from feed_upload where feed = $1 and awaits = $2 order by version desc limit 1`,
    [feed, digestOfText(text)],
  );
  if (staged !== undefined && (await newestIfSame(tx, feed, staged.digest)) === undefined) {
    await tx.query('update feed_upload set awaits = null where feed = $1 and version = $2', [feed, staged.version]);
    await keepNewest(tx, feed, MOST_UPLOADS);
    await auditUpload(tx, feed, staged);
  }
  await removeStaged(tx, feed);
  return staged !== undefined;
}

/** The feed's file was not replaced by the text; `undefined`: by none that a file was staged with. */
export async function removeStaged(tx: Queryable, feed: FeedName, text?: string): Promise<void> {
  await tx.query(
    `with removed as (delete from feed_upload where feed = $1 and awaits is not null and awaits = coalesce($2::bytea, awaits)
       returning version)
     delete from feed_upload_part where feed = $1 and version in (select version from removed)`,
    [feed, text === undefined ? null : digestOfText(text)],
  );
}

export async function hasStagedUpload(db: Queryable, feed: FeedName): Promise<boolean> {
  const [staged] = await db.query('select from feed_upload where feed = $1 and awaits is not null limit 1', [feed]);
  return staged !== undefined;
}

const digestOfFile = (content: Buffer): Buffer => createHash('sha256').update(content).digest();
const digestOfText = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The number of the file that is read, if its content has the digest. */
async function newestIfSame(tx: Queryable, feed: FeedName, digest: Buffer): Promise<number | undefined> {
  const [newest] = await tx.query<{ version: number; isSame: boolean }>(
    `select version, digest = $2 and not of_backup as "isSame" from feed_upload
     where feed = $1 and awaits is null order by version desc limit 1`,
    [feed, digest],
  );
  return newest?.isSame === true ? newest.version : undefined;
}

async function nextVersion(tx: Queryable, feed: FeedName): Promise<number> {
  const [row] = await tx.query<{ next: number }>(
    'select coalesce(max(version), 0) + 1 as next from feed_upload where feed = $1',
    [feed],
  );
  return row?.next ?? 1;
}

/** Returns its number. */
async function insertUpload(
  tx: Queryable,
  feed: FeedName,
  { name, content, actor }: NewUpload,
  awaits: Buffer | null,
): Promise<number> {
  const packed = await pack(content);
  const version = await nextVersion(tx, feed);
  await tx.query(
    'insert into feed_upload (feed, version, actor, name, bytes, digest, awaits) values ($1, $2, $3, $4, $5, $6, $7)',
    [feed, version, actor, name, content.length, digestOfFile(content), awaits],
  );
  for (let at = 0, part = 0; at < packed.length; at += PART_BYTES, part++) {
    await tx.query('insert into feed_upload_part (feed, version, part, content) values ($1, $2, $3, $4)', [
      feed,
      version,
      part,
      packed.subarray(at, at + PART_BYTES),
    ]);
  }
  return version;
}

const auditUpload = (
  tx: Queryable,
  feed: FeedName,
  added: Pick<StoredUpload, 'version' | 'name' | 'bytes' | 'actor'> & { readonly restores?: number },
): Promise<unknown> => {
  const { actor, version, name, bytes, restores } = added;
  const detail = { version, name, bytes, ...(restores === undefined ? {} : { restores }) };
  return auditAction(tx, { actor, action: 'upload feed', feed, detail });
};

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
  const version = await nextVersion(tx, feed);
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
  await auditUpload(tx, feed, { ...found, actor, version, restores: former });
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
export async function stopReadingUploads(tx: Queryable): Promise<number> {
  await tx.query('update feed_upload set of_backup = true');
  return readNumber(tx, 'select count(distinct feed) as n from feed_upload where awaits is null');
}

/** Removes the older ones. Those that are staged are none of the newest: nothing reads them yet. */
export async function keepNewest(tx: Queryable, feed: FeedName, most: number): Promise<void> {
  for (const table of ['feed_upload', 'feed_upload_part']) {
    await tx.query(
      `delete from ${table} where feed = $1 and version <=
         (select max(version) from feed_upload where feed = $1 and awaits is null) - $2::integer`,
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
