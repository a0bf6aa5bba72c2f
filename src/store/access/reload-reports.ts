// What people asked running processes to read again, and what became of it in each process.

import { toJsonb } from '../postgres/copy-rows.ts';
import type { Database, Queryable } from '../postgres/database.ts';
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
    const [row] = await tx.query<{ id: number }>('insert into reload (actor) values ($1) returning id', [actor]);
    return row?.id ?? 0;
  });
}

/** The newest request; `undefined`: there was none. */
export async function newestReload(
  db: Queryable,
): Promise<{ readonly id: number; readonly actor: string } | undefined> {
  const [row] = await db.query<{ id: number; actor: string }>('select id, actor from reload order by id desc limit 1');
  return row;
}

/** Replaces the report of a process. */
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
  const rows = await db.query<Omit<StoredReport<Report>, 'reload'> & { reload: number | null }>(
    `select host, pid, started_at as "startedAt", command, at, reload, report, at > now() - interval '2 minutes' as "isRecent"
     from reload_report order by started_at, pid`,
  );
  return rows.map(({ reload, ...row }) => ({ ...row, reload: reload ?? undefined }));
}
