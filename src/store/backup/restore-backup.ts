// Restores a backup into a database, in one transaction: it has everything of the backup afterwards, or is as it was.
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { pause } from '../../flow/pause.ts';
import { type Message, messageOf, plural } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { auditAction } from '../access/audit.ts';
import { holdRestoredDeletes } from '../change/restored-database.ts';
import { stopReadingUploads } from '../feed/feed-uploads.ts';
import { type Database, type Queryable, readNumber, type Session } from '../postgres/database.ts';
import {
  applyMigrations,
  explainOlder,
  FORMER_TABLE,
  isFormer,
  openMigrations,
  readMigrations,
  replaceFormer,
  takeOverFormer,
} from '../postgres/migrate.ts';
import { addFormerPart, PARTED_TABLES, type PartedTable } from '../status/parts.ts';
import { type BackupSequence, type BackupTable, COPY_SETTINGS, type OwnObjects, objectsOf } from './backup-frames.ts';
import {
  BackupFileError,
  type BackupPart,
  type BackupSummary,
  readBackup,
  refuseUnknownMigrations,
} from './read-backup.ts';

/** Why a database can't be restored into; nothing was changed. */
export type RestoreRefusal =
  /** Other connections of jobmirror are open. */
  | { readonly kind: 'in_use'; readonly processes: readonly string[] }
  | { readonly kind: 'not_empty'; readonly jobs: number; readonly pulls: number }
  /** Its tables were made by a newer version. */
  | { readonly kind: 'newer_database'; readonly migrations: readonly string[] }
  /** Its tables are too old to be taken over. */
  | { readonly kind: 'older_database'; readonly reason: string };

export interface Restored {
  readonly kind: 'restored';
  readonly backup: BackupSummary;
  readonly setAside: SetAsideData;
}

export interface RestoreOptions {
  /** Replace what the database has. */
  readonly replace: boolean;
  /** Who acts, for the audit. */
  readonly actor: string;
  /** Ends the restore, which then has changed nothing. */
  readonly signal: AbortSignal;
}

/** Whoever calls has read the whole file before (`checkBackup`); it is checked again while it is loaded. */
export async function restoreBackup(
  db: Database,
  path: string,
  { replace, actor, signal }: RestoreOptions,
): Promise<Restored | RestoreRefusal> {
  const texts = await readMigrations();
  const session = await db.session();
  try {
    await session.query('begin');
    await session.query(COPY_SETTINGS);
    // Whoever starts now waits for this restore before it touches the tables.
    const applied = await openMigrations(session, texts);
    const refusal = await whyNot(session, texts, applied, replace);
    if (refusal !== undefined) {
      await session.query('rollback');
      return refusal;
    }
    // Otherwise tables of these names would be another application's.
    if (applied.length > 0) await dropOwn(session, objectsOf(texts));
    const backup = await load(session, path, texts, signal);
    const setAside = await makeSafe(session, { actor, madeAt: backup.header.at });
    await session.query('commit');
    return { kind: 'restored', backup, setAside };
  } catch (error) {
    await session.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    await session.end().catch(() => undefined);
  }
}

async function whyNot(
  session: Session,
  texts: ReadonlyMap<string, string>,
  applied: readonly string[],
  replace: boolean,
): Promise<RestoreRefusal | undefined> {
  const others = await otherConnections(session);
  if (others.length > 0) {
    const about = await describeProcesses(session);
    return {
      kind: 'in_use',
      processes: about.length > 0 ? about : others.map(({ name, pid }) => `${name}, server process ${pid}`),
    };
  }
  if (applied.length === 0) return undefined;
  const unknown = replaceFormer(applied).filter((name) => !texts.has(name));
  if (unknown.length > 0) {
    const reason = explainOlder(unknown);
    return reason === undefined ? { kind: 'newer_database', migrations: unknown } : { kind: 'older_database', reason };
  }
  if (isFormer(applied)) await takeOverFormer(session);
  await session.query(`lock table mapping, change, pull in access exclusive mode`);
  const [has] = await session.query<{ jobs: number; pulls: number; any: boolean }>(
    `select (select count(*) from mapping) as jobs, (select count(*) from pull) as pulls,
       exists (select from mapping) or exists (select from change) or exists (select from pull) or exists (select from audit) as any`,
  );
  return has?.any === true && !replace ? { kind: 'not_empty', jobs: has.jobs, pulls: has.pulls } : undefined;
}

/** Asks several times, as the connections of a command that has just ended are about to close. */
async function otherConnections(session: Session): Promise<{ readonly name: string; readonly pid: number }[]> {
  for (let left = 15; ; left--) {
    await session.query('select pg_stat_clear_snapshot()');
    const others = await session.query<{ name: string; pid: number }>(
      `select application_name as name, pid from pg_stat_activity
       where datname = current_database() and application_name like 'jobmirror%' and pid <> pg_backend_pid() order by pid`,
    );
    if (others.length === 0 || left === 0) return others;
    await pause(200);
  }
}

async function describeProcesses(session: Session): Promise<string[]> {
  const [known] = await session.query<{ any: boolean }>(`select to_regclass('process') is not null as any`);
  if (known?.any !== true) return [];
  const rows = await session.query<{ command: string; host: string; pid: number }>(
    `select p.command, p.host, p.pid from process p join pg_locks l on l.objid = p.worker
     where l.locktype = 'advisory' and l.granted and l.database = (select oid from pg_database where datname = current_database())
     group by 1, 2, 3 order by 2, 3`,
  );
  return rows.map(({ command, host, pid }) => `${command} on ${host}, process ${pid}`);
}

/** Without `cascade`: what others have built on our tables is not dropped, but ends the restore. */
async function dropOwn(tx: Queryable, own: OwnObjects): Promise<void> {
  await tx.query(`drop table if exists ${own.tables.join(', ')}`);
  if (own.functions.length > 0) await tx.query(`drop function if exists ${own.functions.join(', ')}`);
  if (own.sequences.length > 0) await tx.query(`drop sequence if exists ${own.sequences.join(', ')}`);
  await tx.query('delete from migration');
}

/** Makes the tables as they were when the backup was written, fills them, and then brings them to this version's schema. */
async function load(
  session: Session,
  path: string,
  texts: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<BackupSummary> {
  let loading: TableLoad | undefined;
  let had: ReadonlySet<string> = new Set();
  let former = false;
  const tables: string[] = [];
  const take = async (part: BackupPart): Promise<void> => {
    switch (part.kind) {
      case 'header':
        await refuseUnknownMigrations(part.header);
        had = new Set(replaceFormer(part.header.migrations));
        await applyMigrations(session, new Map([...texts].filter(([name]) => had.has(name))));
        former = isFormer(part.header.migrations);
        if (former) await session.query(FORMER_TABLE);
        await makeFormerParts(session, new Date(part.header.at));
        break;
      case 'table':
        loading = await TableLoad.open(session, part.table);
        tables.push(part.table.name);
        break;
      case 'rows':
        await loading?.write(part.text);
        break;
      case 'table_end':
        await loading?.end(part.end.rows);
        loading = undefined;
        break;
      case 'sequence':
        await setSequence(session, part.sequence);
        break;
      default:
        part satisfies never;
    }
  };
  const backup = await readBackup(path, take, signal).catch(async (error: unknown) => {
    await loading?.abandon();
    throw error;
  });
  await session.query(tables.map((name) => `alter table ${name} enable trigger user`).join('; '));
  if (former) await takeOverFormer(session);
  await applyMigrations(session, new Map([...texts].filter(([name]) => !had.has(name))));
  await session.query(`analyze ${objectsOf(texts).tables.join(', ')}`);
  return backup;
}

/** The rows of a backup are in one part each. Tables of an older version are not in parts yet: a migration makes one of each. */
async function makeFormerParts(session: Session, until: Date): Promise<void> {
  const rows = await session.query<{ name: PartedTable }>(
    `select relname::text as name from pg_class where relkind = 'p' and oid = any(select to_regclass(n) from unnest($1::text[]) n)`,
    [PARTED_TABLES],
  );
  for (const { name } of rows) await addFormerPart(session, name, until);
}

const NAME = /^\w+$/;

/** Copies rows into one table; its triggers stay off, because what they write is in the backup as well. */
class TableLoad {
  readonly #table: string;
  readonly #sink: ReturnType<typeof copyFrom>;
  readonly #ended: Promise<void>;

  private constructor(session: Session, { name, columns }: BackupTable) {
    this.#table = name;
    const list = columns.map((column) => `"${column}"`).join(', ');
    this.#sink = session.client.query(copyFrom(`copy ${name} (${list}) from stdin`));
    this.#ended = finished(this.#sink);
    // Awaited at the end of the table, or sooner if a write fails.
    this.#ended.catch(() => undefined);
  }

  static async open(session: Session, table: BackupTable): Promise<TableLoad> {
    if (!NAME.test(table.name) || !table.columns.every((column) => NAME.test(column)))
      throw new BackupFileError(`it is damaged: ${JSON.stringify(table.name)} is no table of jobmirror`);
    // The migrations may have put rows into it.
    await session.query(`alter table ${table.name} disable trigger user`);
    await session.query(`delete from ${table.name}`);
    return new TableLoad(session, table);
  }

  async write(text: Buffer): Promise<void> {
    if (!this.#sink.write(text)) await Promise.race([once(this.#sink, 'drain'), this.#ended]);
  }

  /** Until the rows end, the connection takes no other statement. */
  async abandon(): Promise<void> {
    this.#sink.destroy();
    await this.#ended.catch(() => undefined);
  }

  async end(rows: number): Promise<void> {
    this.#sink.end();
    await this.#ended;
    if (this.#sink.rowCount !== rows)
      throw new Error(`the server took ${this.#sink.rowCount} rows of ${this.#table}, but the backup has ${rows}`);
  }
}

async function setSequence(session: Session, { name, last, called }: BackupSequence): Promise<void> {
  if (!NAME.test(name)) throw new BackupFileError(`it is damaged: ${JSON.stringify(name)} is no sequence of jobmirror`);
  await session.query('select setval(to_regclass($1), $2::bigint, $3)', [name, last, called]);
}

// Makes a restored database safe: it is older than the sites, and what was sent since the backup is not known.

/** What was set aside. */
export interface SetAsideData {
  readonly feeds: number;
  /** Deletes that wait for the next complete pull of their feed. */
  readonly heldDeletes: number;
  /** Creates that wait until their site was searched for jobs of their feed. */
  readonly waitingCreates: number;
  /** Jobs without a posting that would have been deleted. */
  readonly orphans: number;
  /** Messages of alerts that were to be sent, and may have been. */
  readonly messages: number;
  /** Actions on many review entries that were not finished. */
  readonly bulkActions: number;
  /** Feeds whose uploaded file nobody reads until somebody says which is the newest. */
  readonly uploads: number;
}

/**
 * Within the transaction of the restore, with the newest tables.
 * - No stamp: every site is searched for jobs of its feeds before anything is created (`noticeRestore`).
 * - No version of a source: the next pull of each feed reads it, changed or not.
 * - No uploaded file: it is as old as the backup, while other sources are as they are now.
 * - No schedule: the run that a process had taken is nobody's any more, and a process that starts sets the next one anew.
 */
export async function makeSafe(
  tx: Queryable,
  by: { readonly actor: string; readonly madeAt: string },
): Promise<SetAsideData> {
  await tx.query('delete from data_stamp');
  // Commands that were printed before the restore must not fit entries that have the same numbers since: see 0101_revisions_by_time.sql.
  await tx.query(
    `select setval('revision_number', greatest(nextval('revision_number'), (extract(epoch from clock_timestamp()) * 100000)::bigint))`,
  );
  const feeds = await count(
    tx,
    `update feed_state set source_version = null, site_checked_at = null, site_check_note = null, site_check_failed_at = null,
       site_declared = false, weak_answer = null, weak_at = null, restored_at = now() returning 1`,
  );
  await tx.query('delete from feed_schedule');
  await tx.query('update feed_verify set run_by = null');
  const heldDeletes = await holdRestoredDeletes(tx);
  const creates = `select 1 from change where state = 'ready' and operation = 'create'`;
  const waitingCreates = await count(tx, creates);
  const orphans = await count(tx, 'delete from orphan_site_job returning 1');
  const messages = await count(
    tx,
    `update alert_message set state = 'dead', claimed_until = null,
       last_error = 'not sent: the database was restored from a backup, and it may have been sent since' where state = 'pending' returning 1`,
  );
  const bulkActions = await count(tx, `update bulk_action set state = 'stopped' where state = 'open' returning 1`);
  const uploads = await stopReadingUploads(tx);
  const setAside = { feeds, heldDeletes, waitingCreates, orphans, messages, bulkActions, uploads };
  const action = `restore the database from a backup of ${by.madeAt}`;
  await auditAction(tx, { actor: by.actor, action, detail: setAside });
  return setAside;
}

const count = (tx: Queryable, statement: string): Promise<number> =>
  readNumber(tx, `with touched as (${statement}) select count(*) as n from touched`);

/** How long after a restore people are asked about what was made since the backup. */
const RESTORED_DAYS = 30;

/**
 * Notes that the feed was compared with its site.
 * @param strays jobs that no posting has, and that were made since the backup. @param leftBy who said that they may stay, if somebody did
 */
export async function noteRecovered(
  db: Database,
  feed: FeedName,
  strays: number,
  leftBy: string | undefined,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('update feed_state set recovered_at = clock_timestamp(), strays = $2 where feed = $1', [
      feed,
      leftBy === undefined ? strays : 0,
    ]);
    if (leftBy !== undefined && strays > 0)
      await auditAction(tx, { actor: leftBy, action: 'leave jobs without a posting', feed, detail: { jobs: strays } });
  });
}

/** What a person has to know of jobs that were made between the backup and its restore, by feed; empty: nothing. */
export async function restoredNotes(
  db: Queryable,
  feeds: readonly FeedName[],
): Promise<ReadonlyMap<FeedName, Message>> {
  const rows = await db.query<{ feed: FeedName; at: Date; recovered: boolean; strays: number }>(
    `select feed, restored_at as at, coalesce(recovered_at >= restored_at, false) as recovered, strays from feed_state
     where feed = any($1::text[]) and retired_at is null and case when recovered_at >= restored_at then strays > 0
       else restored_at > now() - interval '${RESTORED_DAYS} days' end`,
    [feeds],
  );
  return new Map(rows.map(({ feed, ...restored }) => [feed, describeRestored(feed, restored)]));
}

function describeRestored(
  feed: FeedName,
  { at, recovered, strays }: { readonly at: Date; readonly recovered: boolean; readonly strays: number },
): Message {
  const action = { kind: 'recover_feed', feed } as const;
  if (!recovered)
    return messageOf(
      `feed ${feed}: the database was restored from a backup at ${at.toISOString().slice(0, 19).replace('T', ' ')} UTC: jobs that were made since the backup, and whose ` +
        'postings have left the feed, are not known here, and nothing ends them',
      [{ words: 'to find them', action }],
    );
  const [have, them] = strays === 1 ? ['has', 'it'] : ['have', 'them'];
  return messageOf(
    `feed ${feed}: ${plural(strays, 'job')} of its site, made since the backup that the database was restored from, ${have} no posting: ` +
      `end ${them} on the site if no posting of yours should have ${them}`,
    [{ words: 'to see which, or to leave them (--leave-strays)', action }],
  );
}
