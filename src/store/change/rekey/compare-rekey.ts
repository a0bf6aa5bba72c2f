// Writes the lines of a feed whose keys seem to have changed, so that pages and commands only read them: all of them after a pull that
// found other postings, otherwise those that depend on a posting which has changed since.
import pg from 'pg';
import type { FeedName } from '../../../posting/identifiers.ts';
import { lockKey } from '../../locks/advisory-locks.ts';
import { type Database, IS_WRITABLE, type Session } from '../../postgres/database.ts';
import { toJsonb } from '../../postgres/jsonb.ts';
import { inBatches } from '../../postgres/stream-rows.ts';
import { kindOfLine, type PairRow, rekeyLineOf, rekeyVersionOf, selectPairs } from './rekey-line.ts';

/** SQL: whether all lines of the feed `f` are as its postings are. */
export const IS_COMPARED = `(exists (select from rekey_survey s where s.feed = f.feed and s.rekey_set = f.rekey_set)
  and not exists (select from rekey_touched t where t.feed = f.feed))`;

/** Does nothing if no change of keys is suspected, nothing has changed, or the server is read-only. */
export async function compareRekey(db: Database, feed: FeedName): Promise<void> {
  const [row] = await db.query(
    `select from feed_state f where feed = $1 and rekey_since is not null and ${IS_WRITABLE} and not ${IS_COMPARED}`,
    [feed],
  );
  if (row === undefined) return;
  const session = await db.lend();
  try {
    await session.query('begin');
    // One after the other; a statement after the lock sees what the one before has written.
    await session.query('select pg_advisory_xact_lock($1)', [lockKey('rekey', feed)]);
    await writeLines(session, feed);
    await session.query('commit');
    session.giveBack();
  } catch (error) {
    await session.end();
    throw error;
  }
}

/**
 * What changes while it runs may or may not be in the lines: whoever changes a posting notes it in `rekey_touched`, where it stays, and
 * a pull sets another `rekey_set` than the one that is read here, before any posting.
 */
async function writeLines(session: Session, feed: FeedName): Promise<void> {
  const [state] = await session.query<{ set: number; compared: boolean }>(
    `select rekey_set as set, exists (select from rekey_survey s where s.feed = f.feed and s.rekey_set = f.rekey_set) as compared
     from feed_state f where feed = $1 and rekey_since is not null and not ${IS_COMPARED}`,
    [feed],
  );
  if (state === undefined) return;
  await session.query(
    // Compiling takes longer than it saves, and both sides of a large feed should be sorted in memory.
    `set local jit = off; set local work_mem = '64MB';
     create temporary table touched_now (key text, content text, likeness text) on commit drop;
     with gone as (delete from rekey_touched where feed = ${pg.escapeLiteral(feed)} returning key, content, likeness)
     insert into touched_now select distinct * from gone;
     analyze touched_now`,
  );
  if (state.compared && (await areFewTouched(session, feed))) {
    await rewriteAround(session, feed);
    return;
  }
  await session.query('delete from rekey_line where feed = $1', [feed]);
  await session.query('delete from rekey_total where feed = $1', [feed]);
  await session.query(
    'insert into rekey_survey values ($1, $2) on conflict (feed) do update set rekey_set = excluded.rekey_set',
    [feed, state.set],
  );
  await insertLines(session, feed, selectPairs(feed, 'rekey_posting'));
  await session.query('analyze rekey_posting, rekey_line');
}

async function areFewTouched(session: Session, feed: FeedName): Promise<boolean> {
  const [row] = await session.query<{ few: boolean }>(
    `select 2 * (select count(*) from touched_now) < (select coalesce(sum(n), 0) from rekey_total where feed = $1) + 100 as few`,
    [feed],
  );
  return row?.few === true;
}

/**
 * A touched posting decides about all that have its content, and about all that are alike one of these. Whether those have a pair by
 * content depends on all with their contents, which are read as well.
 */
async function rewriteAround(session: Session, name: FeedName): Promise<void> {
  const feed = pg.escapeLiteral(name);
  const of = (groups: string, column: 'content' | 'likeness') =>
    `select p.* from (select distinct ${column} from (${groups}) g where ${column} is not null) one
       join rekey_posting p on p.feed = ${feed} and p.${column} = one.${column}`;
  const removed = (column: 'key' | 'old_key') =>
    `select l.ctid from (select key from affected union select key from touched_now) k
       join rekey_line l on l.feed = ${feed} and l.${column} = k.key`;
  // One message: waiting for each statement would take longer than the statements.
  await session.query(
    `create temporary table affected (like rekey_posting) on commit drop;
     with by_content as materialized (${of('select content from touched_now', 'content')})
     insert into affected select * from by_content
       union ${of('select likeness from touched_now union select likeness from by_content', 'likeness')}
       union select p.* from touched_now t
         join rekey_posting p on p.feed = ${feed} and p.is_new = any(array[true, false]) and p.key = t.key;
     analyze affected;
     create temporary table read_again (like rekey_posting) on commit drop;
     insert into read_again select * from affected union ${of('select content from affected', 'content')};
     analyze read_again;
     with gone as (
       delete from rekey_line where ctid = any(array(${removed('key')} union ${removed('old_key')}))
       returning show, version)
     ${addToTotals(feed, 'gone', -1)}`,
  );
  const isAffected = (column: 'new_key' | 'old_key') => `line.${column} in (select key from affected)`;
  await insertLines(
    session,
    name,
    selectPairs(name, 'read_again', `${isAffected('new_key')} or ${isAffected('old_key')}`),
  );
}

/** @param feed an SQL expression */
const addToTotals = (feed: string, source: string, sign: 1 | -1): string =>
  `insert into rekey_total as t
   select ${feed}, show, ${sign} * count(*), ${sign} * sum(('x' || left(version, 15))::bit(60)::bigint::numeric) from ${source} group by show
   on conflict (feed, show) do update set n = t.n + excluded.n, mark = t.mark + excluded.mark`;

const BATCH = 1_000;

async function insertLines(session: Session, feed: FeedName, select: string): Promise<void> {
  for await (const rows of inBatches<PairRow>(session, 'rekey_pairs', select, BATCH)) {
    const lines = rows.map((row) => {
      const line = rekeyLineOf(row);
      const { key, oldKey, siteJobId, secondJobId, title, reasons, contents } = line;
      return {
        show: kindOfLine(line),
        rank: row.rank,
        key,
        old_key: oldKey,
        site_job_id: siteJobId,
        second_job: secondJobId,
        title,
        reasons,
        contents,
        version: rekeyVersionOf(line),
      };
    });
    await session.query(
      `with line as (
         insert into rekey_line (feed, show, rank, named_length, named, key, old_key, site_job_id, second_job, title, reasons, contents, version)
         select $1, show, rank, length(coalesce(key, old_key)), coalesce(key, old_key), key, old_key, site_job_id, second_job, title, reasons,
           contents, version
         from jsonb_to_recordset($2::jsonb) l(show text, rank smallint, key text, old_key text, site_job_id text, second_job text, title text,
           reasons jsonb, contents text, version text)
         returning show, version)
       ${addToTotals('$1', 'line', 1)}`,
      [feed, toJsonb(lines)],
    );
  }
}
