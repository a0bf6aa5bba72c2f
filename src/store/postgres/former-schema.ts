// Takes over databases and backups whose tables the 64 migrations made that `0100_schema.sql` replaces. Their tables differ from those of
// that file by what is named here only.
import { hash } from 'node:crypto';
import type { Queryable } from './database.ts';

const SCHEMA = '0100_schema.sql';
const NEWEST_FORMER = '0091_entry_circumstances.sql';
/** Of the sorted names of the former migrations. */
const FORMER_NAMES = 'c31213ec94db6eaa7ad3f4663b104bf7d945e5a9021841fe574e47fb46997cd8';

/** Whether exactly the former migrations made the tables. */
export const isFormer = (migrations: readonly string[]): boolean =>
  hash('sha256', migrations.toSorted().join('\n'), 'hex') === FORMER_NAMES;

/** The migrations of this version that make the same tables. */
export const replaceFormer = (migrations: readonly string[]): readonly string[] =>
  isFormer(migrations) ? [SCHEMA] : migrations;

/** Why a database or backup with these unknown migrations is too old to be taken over, and what to do; undefined: they are newer. */
export function explainOlder(unknown: readonly string[]): string | undefined {
  const newest = unknown.toSorted().at(-1) ?? '';
  if (newest >= SCHEMA) return undefined;
  return (
    `its tables are too old for this version (newest migration: ${newest}): first upgrade the database with the version of jobmirror 0.1 ` +
    `whose newest migration is ${NEWEST_FORMER}, and then with this one`
  );
}

/** The table that only the former schema has: review entries that were not grouped yet, by their numbers. */
export const FORMER_TABLE =
  'create table ungrouped_entry (one boolean primary key default true check (one), after_id bigint not null, last_id bigint not null)';

/**
 * Makes the former tables those of `0100_schema.sql`. Nobody else uses them. Postgres 14 would drop the column `part` together with
 * the function that generated it once; there the function stays.
 */
export async function takeOverFormer(tx: Queryable): Promise<void> {
  await tx.query(`
    select write_review_entry(c.id, case when state = 'discarded' then coalesce(discarded_from, 'rejected') else state end,
      state = 'discarded', feed, key, site, coalesce(fields, sent_fields), reason, since,
      entry_revision(state, revision, attempt_token, found_job_id, reason),
      change_circumstances(desired, pull, gone, invalid, record_hash, key))
    from ungrouped_entry u join change c on c.id > u.after_id and c.id <= u.last_id
    where state in ('rejected', 'failed', 'held', 'in_doubt', 'discarded');
    select write_review_entry(p.id, kind, discarded, feed, key, null, null, jsonb_build_object('problems', problems), since, revision, '{}')
    from ungrouped_entry u join record_problem p on p.id > u.after_id and p.id <= u.last_id;
    drop table ungrouped_entry;
    do $$
    begin
      if not exists (select from pg_depend where refclassid = 'pg_proc'::regclass and refobjid = to_regproc('entry_part')) then
        drop function if exists entry_part(boolean, text, text, text, text);
      end if;
    end
    $$;
    delete from migration;
    insert into migration (name) values ('${SCHEMA}')`);
}
