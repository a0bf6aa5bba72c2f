// Keeps the tables that grow with each request in parts by time, so that rows that are too old are dropped with their part, not deleted
// one by one. Rows of a time that has no part are in the part `…_default`: nothing waits for a part, or fails without one.
import { lockKey } from '../locks/advisory-locks.ts';
import type { Database, Queryable } from '../postgres/database.ts';
import { isLockTaken } from '../postgres/transient-error.ts';

/** Their column `at` says in which part a row is. */
export const PARTED_TABLES = ['request', 'failure'] as const;
export type PartedTable = (typeof PARTED_TABLES)[number];

/**
 * A part covers a tenth of the time that its rows are kept, in whole days: statements that look for a posting read each part, and lock
 * it. So rows are kept up to a tenth longer, or a day, and settings for a decade need no more parts than those for a month.
 */
const partDays = (keptDays: number): number => Math.max(1, Math.floor(keptDays / 10));

/** How far ahead parts are made, so that none is missing if they cannot be made for a while. */
const AHEAD_DAYS = 2;

/** Whoever sends waits behind a statement that waits for a table. */
const LOCK_TIMEOUT = `set local lock_timeout = '200ms'`;

const DAY_MS = 86_400_000;

interface Part {
  readonly name: string;
  /** Null: from the beginning. */
  readonly from: Date | null;
  /** Null: of the part of rows that have no other one. */
  readonly to: Date | null;
}

/** In the order of time. */
async function partsOf(db: Queryable, table: PartedTable): Promise<Part[]> {
  return db.query<Part>(
    `select p.name, substring(p.bound from $$FROM \\('([^']+)'\\)$$)::timestamptz as from, substring(p.bound from $$TO \\('([^']+)'\\)$$)::timestamptz as to
     from (select c.relname::text as name, pg_get_expr(c.relpartbound, c.oid) as bound
       from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = $1::regclass) p
     order by 3 nulls last`,
    [table],
  );
}

/**
 * Makes the parts for the next days, one after another; where other rows are in the way, from the day after these. Leaves it to a later
 * call if another process does so, or if the table is locked.
 * @param keptDays how long rows are kept. @returns whether it has made any
 */
export async function addParts(db: Database, table: PartedTable, keptDays: number): Promise<boolean> {
  const [clock] = await db.query<{ now: Date }>('select now() as now');
  const now = (clock?.now ?? new Date()).getTime();
  const midnight = now - (now % DAY_MS);
  if (nextMissing(await partsOf(db, table), midnight, now) === undefined) return false;
  return unlessLocked(db, async (tx) => {
    const [taken] = await tx.query<{ mine: boolean }>('select pg_try_advisory_xact_lock($1) as mine', [
      lockKey('parts', table),
    ]);
    if (taken?.mine !== true) return false;
    const parts = await partsOf(tx, table);
    let hasMade = false;
    for (let start: number | undefined = midnight; ; ) {
      start = nextMissing(parts, start, now);
      if (start === undefined) return hasMade;
      const next = parts.find(({ from }) => from !== null && from.getTime() > (start as number))?.from?.getTime();
      const end = Math.min(start + partDays(keptDays) * DAY_MS, next ?? Number.POSITIVE_INFINITY);
      const last = await lastWithoutPart(tx, table, start, end);
      if (last === undefined) {
        parts.push(await addPart(tx, table, new Date(start), new Date(end)));
        hasMade = true;
      }
      start = last === undefined ? end : last - (last % DAY_MS) + DAY_MS;
    }
  });
}

/** The first moment from `start` on, and soon enough, that no part covers. */
function nextMissing(parts: readonly Part[], start: number, now: number): number | undefined {
  let at = start;
  for (let part: Part | undefined; ; at = part.to?.getTime() as number) {
    if (at > now + AHEAD_DAYS * DAY_MS) return undefined;
    part = parts.find(({ from, to }) => to !== null && to.getTime() > at && (from === null || from.getTime() <= at));
    if (part === undefined) return at;
  }
}

/** The time of the last row of these days that is in no part of them: none can be made for it. */
async function lastWithoutPart(
  tx: Queryable,
  table: PartedTable,
  start: number,
  end: number,
): Promise<number | undefined> {
  const [row] = await tx.query<{ at: Date | null }>(
    `select max(at) as at from ${table}_default where at >= $1 and at < $2`,
    [new Date(start), new Date(end)],
  );
  return row?.at?.getTime();
}

/** Attached, not made as a part: that would wait for everybody who uses the table. Only rows that have no part wait, until all new parts are made. */
async function addPart(tx: Queryable, table: PartedTable, from: Date, to: Date): Promise<Part> {
  const name = `${table}_${from.toISOString().slice(0, 10).replaceAll('-', '')}`;
  const [kept] = await tx.query<{ options: string }>(
    `select array_to_string(reloptions, ', ') as options from pg_class where oid = $1::regclass`,
    [`${table}_default`],
  );
  await tx.query(
    `create table ${name} (like ${table}_default including all excluding identity) with (${kept?.options});
     alter table ${table} attach partition ${name} for values from ('${from.toISOString()}') to ('${to.toISOString()}')`,
  );
  return { name, from, to };
}

/**
 * Makes the one part for the rows of a backup, into a table that has none yet.
 * @param until when the backup was made
 */
export async function addFormerPart(tx: Queryable, table: PartedTable, until: Date): Promise<void> {
  const day = until.getTime() - (until.getTime() % DAY_MS) + DAY_MS;
  await tx.query(
    `create table ${table}_former partition of ${table} (primary key (id)) for values from (minvalue) to ('${new Date(day).toISOString()}')`,
  );
}

/**
 * Adds the next parts, and drops those that only have rows that are too old. One that is in use, by a backup for example, is dropped the
 * next time.
 * @returns the parts of which old rows are to be deleted one by one: those of rows without another part, those that have the rows of more
 * time than a part would have now, and those that can't be dropped, as somebody's view of them would be lost, or as the tables are
 * another role's; and what failed: rows that are too old go nevertheless
 */
export async function renewParts(
  db: Database,
  table: PartedTable,
  keptDays: number,
): Promise<{ readonly byRow: readonly string[]; readonly failed: readonly unknown[] }> {
  const before = await momentBefore(db, keptDays);
  const undropped = new Set<string>();
  const failed: unknown[] = [];
  for (const { name, to } of await partsOf(db, table)) {
    if (to === null || to > before) continue;
    const drop = async (tx: Queryable) => {
      await tx.query(`drop table if exists ${name}`);
      return true;
    };
    await unlessLocked(db, drop).catch((error: unknown) => {
      if (!hasDependents(error)) failed.push(error);
      undropped.add(name);
    });
  }
  try {
    await analyzeIfOutdated(db, table);
    await addParts(db, table, keptDays);
  } catch (error) {
    failed.push(error);
  }
  const byRow = (await partsOf(db, table)).filter(({ name, from, to }) => {
    if (from === null || to === null || undropped.has(name)) return true;
    return from < before && to.getTime() - from.getTime() > partDays(keptDays) * DAY_MS;
  });
  return { byRow: byRow.map(({ name }) => name), failed };
}

/** Something else in the database depends on it: SQLSTATE 2BP01. */
const hasDependents = (error: unknown): boolean => (error as { code?: unknown }).code === '2BP01';

/** An analysis of fewer rows would have statements read a whole part, also once it has grown. The migration has the same number. */
const FEWEST_ANALYZED = 5_000;

/** The server itself analyzes each part, but not the table of all parts. */
async function analyzeIfOutdated(db: Queryable, table: PartedTable): Promise<void> {
  const outdated = await db.query(
    `with part as (select p.reltuples as n from pg_inherits i join pg_class p on p.oid = i.inhrelid where i.inhparent = $1::regclass)
     select from pg_class t, (select sum(greatest(n, 0)) as all, count(*) filter (where n between 1 and $2) as growing from part) parts
     where t.oid = $1::regclass and growing = 0 and abs(greatest(t.reltuples, 0) - parts.all) > 1000 + greatest(t.reltuples, 0) / 10`,
    [table, FEWEST_ANALYZED],
  );
  if (outdated.length > 0) await db.query(`analyze (skip_locked) ${table}`);
}

async function momentBefore(db: Queryable, days: number): Promise<Date> {
  const [row] = await db.query<{ at: Date }>('select now() - make_interval(days => $1) as at', [days]);
  if (row === undefined) throw new Error('the server told no time');
  return row.at;
}

/** Runs statements that take tables for themselves for a moment; `false` if another one does not leave them in time. */
async function unlessLocked(db: Database, work: (tx: Queryable) => Promise<boolean>): Promise<boolean> {
  try {
    return await db.transaction(async (tx) => {
      await tx.query(LOCK_TIMEOUT);
      return work(tx);
    });
  } catch (error) {
    if (isLockTaken(error) || isOfRowMeanwhile(error)) return false;
    throw error;
  }
}

/** A row was added to `…_default` for which the part would have been: SQLSTATE 23514. */
const isOfRowMeanwhile = (error: unknown): boolean => (error as { code?: unknown }).code === '23514';
