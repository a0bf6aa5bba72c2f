// Reads a backup file frame by frame, and finds out whether it is whole: checksums, row counts, and its end.
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { explainOlder, readMigrations, replaceFormer } from '../postgres/migrate.ts';
import {
  ANY_MAGIC,
  BACKUP_MAGIC,
  type BackupEnd,
  type BackupHeader,
  type BackupSequence,
  type BackupTable,
  type BackupTableEnd,
  countRows,
  FRAME_HEAD_BYTES,
  FRAME_KINDS,
  type FrameKind,
  MOST_FRAME_BYTES,
} from './backup-frames.ts';

/** The file can't be used: it is no backup, is damaged or cut, or was written by a newer version. Its message says which. */
export class BackupFileError extends Error {
  override name = 'BackupFileError';
}

/** What a backup has, in the order of the file. */
export type BackupPart =
  | { readonly kind: 'header'; readonly header: BackupHeader }
  | { readonly kind: 'table'; readonly table: BackupTable }
  /** A piece of the rows of the last table, as COPY's text. */
  | { readonly kind: 'rows'; readonly text: Buffer }
  | { readonly kind: 'table_end'; readonly end: BackupTableEnd }
  | { readonly kind: 'sequence'; readonly sequence: BackupSequence };

/** A whole backup, in brief. */
export interface BackupSummary {
  readonly header: BackupHeader;
  readonly tables: number;
  readonly rows: number;
  readonly bytes: number;
}

/**
 * Passes on the parts of a backup one after another, and at the end returns its summary: only then is it certain that the file
 * is whole. An error that `take` throws ends the reading.
 * @throws BackupFileError, and the reason of the signal
 */
export async function readBackup(
  path: string,
  take: (part: BackupPart) => Promise<void> | void,
  signal: AbortSignal,
): Promise<BackupSummary> {
  const file = await open(path, 'r');
  try {
    const bytes = (await file.stat()).size;
    await expectMagic(file);
    const check = new BackupCheck();
    for await (const { kind, content, head } of readFrames(file, bytes)) {
      signal.throwIfAborted();
      const part = check.take(kind, head, content);
      if (part !== undefined) await take(part);
    }
    return { ...check.summary(), bytes };
  } finally {
    await file.close();
  }
}

/** Reads the whole file and checks it. @throws BackupFileError also if a newer version wrote it */
export function checkBackup(path: string, signal: AbortSignal): Promise<BackupSummary> {
  const take = async (part: BackupPart) => {
    if (part.kind === 'header') await refuseUnknownMigrations(part.header);
  };
  return readBackup(path, take, signal);
}

/** @throws BackupFileError if the migrations of the backup are not all known: a newer version wrote it, or one too old to be taken over. */
export async function refuseUnknownMigrations({ jobmirror, migrations }: BackupHeader): Promise<void> {
  const known = await readMigrations();
  const unknown = replaceFormer(migrations).filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  const older = explainOlder(unknown);
  throw new BackupFileError(
    older === undefined
      ? `jobmirror ${jobmirror} wrote it, with tables that this version does not know (${unknown.join(', ')}): update jobmirror`
      : `jobmirror ${jobmirror} wrote it, and ${older}`,
  );
}

async function expectMagic(file: FileHandle): Promise<void> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(BACKUP_MAGIC.length), 0, BACKUP_MAGIC.length, 0);
  const start = buffer.subarray(0, bytesRead);
  if (start.equals(BACKUP_MAGIC)) return;
  if (start.subarray(0, ANY_MAGIC.length).equals(ANY_MAGIC) && bytesRead === BACKUP_MAGIC.length)
    throw new BackupFileError(
      'it was written by a newer version of jobmirror, in a format that this one does not know',
    );
  throw new BackupFileError(
    bytesRead < BACKUP_MAGIC.length && BACKUP_MAGIC.subarray(0, bytesRead).equals(start)
      ? 'it is cut: it has no content'
      : 'it is no backup of jobmirror',
  );
}

interface Frame {
  readonly kind: FrameKind;
  readonly head: Buffer;
  readonly content: Buffer;
}

async function* readFrames(file: FileHandle, size: number): AsyncGenerator<Frame> {
  const gunzip = createGunzip();
  const stream = file.createReadStream({ start: BACKUP_MAGIC.length, autoClose: false });
  stream.on('error', (error) => gunzip.destroy(error));
  stream.pipe(gunzip);
  let waiting: Buffer = Buffer.alloc(0);
  try {
    for await (const piece of gunzip) {
      waiting = waiting.length === 0 ? (piece as Buffer) : Buffer.concat([waiting, piece as Buffer]);
      while (waiting.length >= FRAME_HEAD_BYTES) {
        const head = waiting.subarray(0, FRAME_HEAD_BYTES);
        const kind = head.toString('latin1', 0, 1);
        const length = head.readUInt32BE(1);
        if (!FRAME_KINDS.includes(kind) || length > MOST_FRAME_BYTES)
          throw damaged('a frame has no known kind or length');
        if (waiting.length < FRAME_HEAD_BYTES + length) break;
        yield { kind: kind as FrameKind, head, content: waiting.subarray(FRAME_HEAD_BYTES, FRAME_HEAD_BYTES + length) };
        waiting = waiting.subarray(FRAME_HEAD_BYTES + length);
      }
    }
  } catch (error) {
    throw explained(error);
  } finally {
    stream.destroy();
    gunzip.destroy();
  }
  if (waiting.length > 0) throw new BackupFileError('it is cut: its last frame is not whole');
  if (gunzip.bytesWritten !== size - BACKUP_MAGIC.length) throw damaged('something follows its end');
}

const damaged = (how: string): BackupFileError => new BackupFileError(`it is damaged: ${how}`);

function explained(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR') return new BackupFileError('it is cut: its compressed content does not end');
  if (code?.startsWith('Z_') === true) return damaged(message);
  return error;
}

/** Checks that the frames follow one another as they must, and that counts and checksums are right. */
class BackupCheck {
  readonly #all = createHash('sha256');
  #header: BackupHeader | undefined;
  #table:
    | { readonly name: string; readonly hash: ReturnType<typeof createHash>; rows: number; bytes: number }
    | undefined;
  #tables = 0;
  #rows = 0;
  #ended = false;

  take(kind: FrameKind, head: Buffer, content: Buffer): BackupPart | undefined {
    if (this.#ended) throw damaged('something follows its end');
    if ((kind === 'H') !== (this.#header === undefined)) throw damaged('its header is not at its beginning');
    if ((kind === 'D' || kind === 'E') !== (this.#table !== undefined)) throw damaged('its tables are mixed up');
    if (kind === 'Z') return this.#end(parse<BackupEnd>(content));
    this.#all.update(head).update(content);
    switch (kind) {
      case 'H':
        this.#header = parse<BackupHeader>(content);
        return { kind: 'header', header: this.#header };
      case 'T': {
        const table = parse<BackupTable>(content);
        this.#table = { name: table.name, hash: createHash('sha256'), rows: 0, bytes: 0 };
        return { kind: 'table', table };
      }
      case 'D':
        return this.#takeRows(content);
      case 'E':
        return this.#endTable(parse<BackupTableEnd>(content));
      case 'S':
        return { kind: 'sequence', sequence: parse<BackupSequence>(content) };
      default:
        return kind satisfies never;
    }
  }

  summary(): Omit<BackupSummary, 'bytes'> {
    if (!this.#ended || this.#header === undefined) throw new BackupFileError('it is cut: its end is missing');
    return { header: this.#header, tables: this.#tables, rows: this.#rows };
  }

  #takeRows(text: Buffer): BackupPart {
    const table = this.#table;
    if (table === undefined) throw damaged('its tables are mixed up');
    table.hash.update(text);
    table.rows += countRows(text);
    table.bytes += text.length;
    return { kind: 'rows', text };
  }

  #endTable(end: BackupTableEnd): BackupPart {
    const table = this.#table;
    if (table === undefined) throw damaged('its tables are mixed up');
    if (end.rows !== table.rows || end.bytes !== table.bytes || end.sha256 !== table.hash.digest('hex'))
      throw damaged(`the rows of the table ${table.name} are not those that were written`);
    this.#table = undefined;
    this.#tables++;
    this.#rows += table.rows;
    return { kind: 'table_end', end };
  }

  #end(end: BackupEnd): undefined {
    if (end.tables !== this.#tables || end.rows !== this.#rows || end.sha256 !== this.#all.digest('hex'))
      throw damaged('its content is not what was written');
    this.#ended = true;
  }
}

function parse<T>(content: Buffer): T {
  try {
    return JSON.parse(content.toString('utf8')) as T;
  } catch {
    throw damaged('a frame can’t be read');
  }
}
