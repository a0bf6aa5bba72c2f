// What people asked running processes to read again, and what became of it in each process.
import type { FeedName } from '../../posting/identifiers.ts';
import { lockKey } from '../locks/advisory-locks.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { type Database, type Queryable, readNumber, type Stored, withoutNulls } from '../postgres/database.ts';
import { auditAction } from './audit.ts';

/** A running process that takes a changed configuration over. */
export interface ReloadingProcess {
  readonly host: string;
  readonly pid: number;
  readonly startedAt: Date;
  readonly command: string;
}

export interface StoredReport<Report> extends ReloadingProcess {
  readonly at: Date;
  readonly isRecent: boolean;
  readonly report: Report;
  /** The last request that the process has seen. */
  readonly reload: number | undefined;
}

/** Asks all running processes. Returns the number of the request. */
export async function requestReload(db: Database, actor: string): Promise<number> {
  return db.transaction(async (tx) => {
    await auditAction(tx, { actor, action: 'reload' });
    return readNumber(tx, 'insert into reload (actor) values ($1) returning id', [actor]);
  });
}

/** The newest request; `undefined`: there was none. */
export async function newestReload(
  db: Queryable,
): Promise<{ readonly id: number; readonly actor: string } | undefined> {
  const [row] = await db.query<{ id: number; actor: string }>('select id, actor from reload order by id desc limit 1');
  return row;
}

/** A change of files that a process has taken over, or refused, although nobody asked for that. */
export interface RecordedReload {
  readonly reason: string;
  /** What each feed is now: `added`, `changed`, `removed`. */
  readonly feeds: readonly { readonly feed: FeedName; readonly change: string; readonly byHand: boolean }[];
  /** What explains it besides. */
  readonly detail: object;
  /** The same in each process that does the same. */
  readonly digest: string;
}

/** Several processes that take the same change over are one action. */
const TOGETHER = `interval '5 minutes'`;

export async function recordReload(tx: Queryable, process: ReloadingProcess, reload: RecordedReload): Promise<void> {
  const { reason, feeds, digest } = reload;
  const name = `${process.command} (process ${process.pid} on ${process.host})`;
  const common = { automatic: 'files', digest, reason, process: name, ...reload.detail };
  await tx.query('select pg_advisory_xact_lock($1)', [lockKey('reload', 'recorded')]);
  const entries = feeds.length === 0 ? [{ feed: null, detail: {} }] : feeds.map(entryOf);
  await tx.query(
    `insert into audit (actor, action, feed, detail)
     select 'jobmirror', 'reload', feed, detail from unnest($1::text[], $2::jsonb[]) as e(feed, detail)
     where not exists (select from audit a where a.at > now() - ${TOGETHER} and a.action = 'reload' and a.detail->>'digest' = $3
       and a.detail->>'process' <> $4)`,
    [entries.map(({ feed }) => feed), entries.map(({ detail }) => toJsonb({ ...common, ...detail })), digest, name],
  );
}

const entryOf = ({ feed, change, byHand }: RecordedReload['feeds'][number]) => ({
  feed,
  detail: { change, ...(byHand ? { by_hand: true } : {}) },
});

export async function storeReport<Report extends object>(
  db: Queryable,
  { host, pid, startedAt, command }: ReloadingProcess,
  report: Report,
  reload: number | undefined,
): Promise<void> {
  await db.query(
    `insert into reload_report (host, pid, started_at, command, reload, report) values ($1, $2, $3, $4, $5, $6)
     on conflict (host, pid, started_at) do update set at = now(), reload = excluded.reload, report = excluded.report`,
    [host, pid, startedAt, command, reload ?? null, toJsonb(report)],
  );
  await db.query(`delete from reload_report where at < now() - interval '30 days'`);
}

/** A process that ends takes its report along. */
export async function removeReport(db: Queryable, { host, pid, startedAt }: ReloadingProcess): Promise<void> {
  await db.query('delete from reload_report where host = $1 and pid = $2 and started_at = $3', [host, pid, startedAt]);
}

/** Also of processes that have died; by their start. */
export async function readReports<Report>(db: Queryable): Promise<readonly StoredReport<Report>[]> {
  const rows = await db.query<Stored<StoredReport<Report>>>(
    `select host, pid, started_at as "startedAt", command, at, reload, report, at > now() - interval '2 minutes' as "isRecent"
     from reload_report order by started_at, pid`,
  );
  return rows.map(withoutNulls<StoredReport<Report>>);
}
