// Writes the lines of a feed whose keys seem to have changed, so that pages and commands only read them: all of them after a pull that
// found other postings, otherwise those that depend on a posting which has changed since.
import { hash } from 'node:crypto';
import pg from 'pg';
import { type Certainty, judgeRekey, type RekeyEvidence } from '../../../plan/match/whose-job.ts';
import type { FeedName, PostingKey, SiteJobId } from '../../../posting/identifiers.ts';
import { lockKey } from '../../locks/advisory-locks.ts';
import { toJsonb } from '../../postgres/copy-rows.ts';
import {
  type Database,
  IS_WRITABLE,
  onLentSession,
  readFlag,
  type Session,
  type Stored,
  withoutNulls,
} from '../../postgres/database.ts';
import { inBatches } from '../../postgres/stream-rows.ts';
import { JOB_HAS_EXPIRED } from '../../pull/posting-expiry.ts';

/** SQL: whether all lines of the feed `f` are as its postings are. */
export const REKEY_IS_COMPARED = `(exists (select from rekey_survey s where s.feed = f.feed and s.rekey_set = f.rekey_set)
  and not exists (select from rekey_touched t where t.feed = f.feed))`;

/** Does nothing if no change of keys is suspected, nothing has changed, or the server is read-only. */
export async function compareRekey(db: Database, feed: FeedName): Promise<void> {
  const [row] = await db.query(
    `select from feed_state f where feed = $1 and rekey_since is not null and ${IS_WRITABLE} and not ${REKEY_IS_COMPARED}`,
    [feed],
  );
  if (row === undefined) return;
  await onLentSession(db, async (session) => {
    await session.query('begin');
    // One after the other; a statement after the lock sees what the one before has written.
    await session.query('select pg_advisory_xact_lock($1)', [lockKey('rekey', feed)]);
    await writeLines(session, feed);
    await session.query('commit');
  });
}

/**
 * What changes while it runs may or may not be in the lines: whoever changes a posting notes it in `rekey_touched`, where it stays, and
 * a pull sets another `rekey_set` than the one that is read here, before any posting.
 */
async function writeLines(session: Session, feed: FeedName): Promise<void> {
  const [state] = await session.query<{ set: number; compared: boolean }>(
    `select rekey_set as set, exists (select from rekey_survey s where s.feed = f.feed and s.rekey_set = f.rekey_set) as compared
     from feed_state f where feed = $1 and rekey_since is not null and not ${REKEY_IS_COMPARED}`,
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

const areFewTouched = (session: Session, feed: FeedName): Promise<boolean> =>
  readFlag(
    session,
    `select 2 * (select count(*) from touched_now) < (select coalesce(sum(n), 0) from rekey_total where feed = $1) + 100 as few`,
    [feed],
  );

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

/** A new posting, a missing posting that has a job or whose job has ended, or both, if the first may be the second under another key. */
export interface RekeyLine {
  readonly key: PostingKey | undefined;
  readonly oldKey: PostingKey | undefined;
  /** The job of the missing posting; `undefined`: it has ended. */
  readonly siteJobId: SiteJobId | undefined;
  /** A second job, which the new posting got: it is deleted once the pair is bound. */
  readonly secondJobId: SiteJobId | undefined;
  readonly title: string | undefined;
  readonly verdict: Certainty;
  readonly reasons: readonly string[];
  /** Another text if the content of one of the two postings is another one. */
  readonly contents: string;
}

/** Certain pairs, other pairs, and postings without a pair: new ones, and missing ones that have a job. */
export const PAIR_KINDS = ['sure', 'unsure', 'new', 'missing'] as const;
export type PairKind = (typeof PAIR_KINDS)[number];

const kindOfLine = ({ verdict, key }: Pick<RekeyLine, 'verdict' | 'key'>): PairKind =>
  verdict !== 'unmatched' ? verdict : key === undefined ? 'missing' : 'new';

const HAS_NO_JOB = 'its job has ended, so it gets none';

function rekeyLineOf({ rank, missing, added, proven, edited, differing, ...row }: PairRow): RekeyLine {
  const { key, oldKey, siteJobId, secondJobId } = row;
  const named = withoutNulls<NamedLine>(row);
  if (rank !== 3) {
    const evidence = { missing, added, proven, edited, equal: rank === 1, differing: differing ?? [] };
    const { kind, reasons } = judgeRekey(oldKey, evidence);
    const second = secondJobId === null ? [] : [`the new posting has a second job, ${secondJobId}, which is deleted`];
    return { ...named, verdict: kind, reasons: [...reasons, ...(siteJobId === null ? [HAS_NO_JOB] : []), ...second] };
  }
  const other = key === null ? 'no new posting' : 'no missing posting';
  return { ...named, verdict: 'unmatched', reasons: [`${other} has its content, or its title and place`] };
}

const VERSION_LENGTH = 20;

/** Another text after each change of the line. */
const rekeyVersionOf = ({ key, oldKey, siteJobId, title, verdict, reasons, contents }: RekeyLine): string =>
  hash('sha256', JSON.stringify([key, oldKey, siteJobId, title, verdict, reasons, contents]), 'hex').slice(
    0,
    VERSION_LENGTH,
  );

/** A pair, or a posting without one. */
interface PairRow extends Stored<NamedLine>, Pick<RekeyEvidence, 'missing' | 'added' | 'proven' | 'edited'> {
  /** 1: the same content, 2: alike, 3: no pair. */
  readonly rank: 1 | 2 | 3;
  readonly differing: readonly string[] | null;
}

type NamedLine = Omit<RekeyLine, 'verdict' | 'reasons'>;

/** Both sides as they are now: what was mapped, sent or deleted meanwhile is left out. */
const selectSides = (feed: string, source: string): string => `
  select r.is_new, r.key, r.content, r.likeness, r.proven, m.site_job_id, r.second_job,
    exists (select from override o where o.feed = r.feed and o.key = r.key) as edited
  from ${source} r left join mapping m on m.feed = r.feed and m.key = r.key
    left join change c on c.feed = r.feed and c.key = r.key
  where r.feed = ${feed} and case when r.is_new and r.second_job is not null then m.site_job_id = r.second_job and coalesce(c.desired = 'present', true)
    when r.is_new then m.key is null and c.operation = 'create' and c.desired = 'present'
    else m.key is not null or exists (select from posting_expiry e where e.feed = r.feed and e.key = r.key and ${JOB_HAS_EXPIRED}) end`;

/**
 * Numbers the postings of each group in the order of their keys; numbers in keys count by their size. Postings with the same number are
 * a pair. No join, as the planner expects few rows of any of these and would compare all with all.
 */
const numbered = (source: string, group: 'content' | 'likeness'): string =>
  `select side.*, place is not null and place <= least(added, missing) as paired from (
     select is_new, key, content, likeness, proven, site_job_id, second_job, edited,
       case when ${group} is not null
         then row_number() over (partition by is_new, ${group} order by length(key), key collate "C") end as place,
       count(*) filter (where is_new) over same as added, count(*) filter (where not is_new) over same as missing,
       bool_or(edited and not is_new) over same as any_edited
     from ${source} window same as (partition by ${group})) side`;

const pairsOf = (source: string, group: 'content' | 'likeness'): string =>
  `select max(key) filter (where not is_new) as old_key, max(key) filter (where is_new) as new_key,
     max(site_job_id) filter (where not is_new) as site_job_id, max(second_job) as second_job, max(missing) as missing, max(added) as added,
     bool_or(proven) filter (where not is_new) as proven, bool_or(any_edited) as any_edited
   from ${source} where paired group by ${group}, place`;

const differingNames = `(select array_agg(name order by name) from (
    select key as name from jsonb_each_text(d.fields::jsonb) a full join jsonb_each_text(c.fields::jsonb) b using (key)
    where a.value is distinct from b.value) differing)`;

/**
 * The lines of a feed, as rows of {@link PairRow}. @param source a table or subquery with rows of `rekey_posting`
 * @param condition which lines are of interest
 */
function selectPairs(name: FeedName, source: string, condition = 'true'): string {
  const feed = pg.escapeLiteral(name);
  return `
    with side as materialized (${selectSides(feed, source)}),
      by_content as materialized (${numbered('side', 'content')}),
      by_likeness as materialized (${numbered('(select * from by_content where not paired) unpaired', 'likeness')}),
      line as (
        select 1 as rank, equal.* from (${pairsOf('by_content', 'content')}) equal
        union all select 2, alike.* from (${pairsOf('by_likeness', 'likeness')}) alike
        union all select 3, case when is_new then null else key end, case when is_new then key end, case when not is_new then site_job_id end, second_job,
          0, 0, proven, edited from by_likeness where not paired)
    select line.old_key as "oldKey", line.new_key as key, line.site_job_id as "siteJobId", line.second_job as "secondJobId", rank, missing, added, proven,
      any_edited as edited, coalesce(c.fields->>'title', d.fields->>'title', s.fields->>'title') as title,
      case when rank = 2 and d.key is not null then ${differingNames} end as differing,
      concat_ws('/', encode(m.content_hash, 'hex'), encode(c.content_hash, 'hex'), line.second_job) as contents
    from line left join document d on d.feed = ${feed} and d.key = line.old_key
      left join mapping m on m.feed = ${feed} and m.key = line.old_key
      left join change c on c.feed = ${feed} and c.key = line.new_key
      left join document s on line.second_job is not null and s.feed = ${feed} and s.key = line.new_key
    where ${condition}`;
}
