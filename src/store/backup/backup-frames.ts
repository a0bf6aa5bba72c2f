// The format of a backup file: a line that names it, then one gzip stream of frames, each with its kind and length.
//
//   header    H  who wrote it and when, and which migrations its tables have
//   table     T  a table and its columns; its rows follow in `D` frames as COPY's text, then `E` with their number and checksum
//   sequence  S  the numbers that are given out next
//   end       Z  how many tables and rows the file has, and the checksum of all frames before it: without it, the file was cut

export const BACKUP_MAGIC = Buffer.from('jobmirror-backup 1\n');
/** What all versions of the format begin with. */
export const ANY_MAGIC = Buffer.from('jobmirror-backup ');

export type FrameKind = 'H' | 'T' | 'D' | 'E' | 'S' | 'Z';
export const FRAME_KINDS: readonly string[] = ['H', 'T', 'D', 'E', 'S', 'Z'] satisfies readonly FrameKind[];

/** A kind, and the length of the content as four bytes. */
export const FRAME_HEAD_BYTES = 5;
/** Whoever reads a frame holds it in memory. */
export const MOST_FRAME_BYTES = 1 << 20;

export interface BackupHeader {
  /** Version of jobmirror that wrote it. */
  readonly jobmirror: string;
  /** Major and minor version of the Postgres server. */
  readonly postgres: string;
  readonly installation: string;
  /** When the snapshot was taken, by the database clock, in ISO 8601. */
  readonly at: string;
  /** Names of the migrations that made its tables. */
  readonly migrations: readonly string[];
}

export interface BackupTable {
  readonly name: string;
  readonly columns: readonly string[];
}

export interface BackupTableEnd {
  readonly rows: number;
  readonly bytes: number;
  /** SHA-256 of the rows' text, in hex. */
  readonly sha256: string;
}

export interface BackupSequence {
  readonly name: string;
  /** As text: beyond 2^53 a number would lose digits. */
  readonly last: string;
  readonly called: boolean;
}

export interface BackupEnd {
  readonly tables: number;
  readonly rows: number;
  /** SHA-256 of all frames before this one, in hex. */
  readonly sha256: string;
}

export function frameHead(kind: FrameKind, length: number): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES, kind, 'latin1');
  head.writeUInt32BE(length, 1);
  return head;
}

/** Rows in a piece of COPY's text format, in which a line break in a value is escaped. */
export function countRows(text: Buffer): number {
  let rows = 0;
  for (let at = text.indexOf(0x0a); at !== -1; at = text.indexOf(0x0a, at + 1)) rows++;
  return rows;
}

/** What our migrations have created so far, by kind. Some may exist no more. */
export interface OwnObjects {
  readonly tables: readonly string[];
  readonly sequences: readonly string[];
  readonly functions: readonly string[];
}

export function objectsOf(migrations: ReadonlyMap<string, string>): OwnObjects {
  const named = (kind: string): string[] => [
    ...new Set(
      [...migrations.values()].flatMap((text) =>
        [...text.matchAll(new RegExp(`^create (?:or replace )?${kind} (?:if not exists )?(\\w+)`, 'gm'))].map(
          ([, name = '']) => name,
        ),
      ),
    ),
  ];
  return { tables: named('table'), sequences: named('sequence'), functions: named('function') };
}

/**
 * Tables that a backup leaves out: what only lives as long as a process or a session, the stamp by which jobmirror notices that data
 * was restored, what never has a row, and what is computed again from other tables (`compareRekey`).
 */
export const TABLES_LEFT_OUT: readonly string[] = [
  'process',
  'process_feed',
  'web_session',
  'web_request',
  'data_stamp',
  'send_gate',
  'rekey_survey',
  'rekey_line',
  'rekey_total',
  'rekey_touched',
  'reload',
  'reload_report',
];

/** Texts must not depend on settings of the server, the database or the user. */
export const COPY_SETTINGS = `set local client_encoding = 'UTF8'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
  set local timezone = 'UTC'; set local extra_float_digits = 1; set local bytea_output = 'hex'; set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = 0; set local row_security = off`;
