// Compares, at the end of a pull, the postings that it found missing with those that are new: in tables, as they may be a million.
import type { Message } from '../../../plan/message.ts';
import { REKEY_WINDOW_DAYS, type RekeyLoad, type TwinDelete } from '../../../plan/rekey.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { toJsonb } from '../../postgres/copy-rows.ts';
import { readNumber, type Session } from '../../postgres/database.ts';
import { JOB_HAS_EXPIRED } from '../../pull/posting-expiry.ts';
import type { PullTransaction } from '../../pull/pull-transaction.ts';
import {
  type ComparedFields,
  digests,
  digestValues,
  UNEDITED_FIELDS,
  uneditedFields,
} from '../../pull/record-hashes.ts';
import { releaseHolds } from '../merge/protect-unreadable.ts';

/**
 * The creates that may belong to missing postings; no request was sent for them, and no person said that they are new. That a search found a job of the feed
 * for one, whose posting had another key before, answers nothing yet.
 */
const NEW_POSTING = `c.feed = $1 and c.operation = 'create' and c.desired = 'present' and (c.attempt_token is null
    or exists (select from mapping k where k.feed = $1 and k.site = c.site and k.site_job_id = c.found_job_id)) and not c.gone and c.id > coalesce((select rekey_denied from feed_state where feed = $1), 0)`;

/** How long a job is recognised as a second one of a posting whose former key has a job, too. */
const SECOND_JOB_DAYS = 30;

/** SQL: the last pull before this one that has read the whole feed. @param which a condition on the pull `p` */
const lastWhole = (which: string): string => `coalesce((select max(p.id) from pull p
  where p.feed = $1 and p.complete and p.undoes is null and p.status <> 'not_modified' and ${which}), 0)`;

/**
 * SQL: whether the job of the mapping `x` may be a second one, of a posting that has another key, too: a pull has created it, and none
 * since has found all postings, so that both may never have been in the feed together.
 */
const secondJob = (
  pull: number,
): string => `x.feed = $1 and not x.adopted and x.mapped_at > now() - interval '${SECOND_JOB_DAYS} days'
  and x.created_by > ${lastWhole(`p.id < ${pull} and p.gone = 0`)}
  and x.mapped_at > coalesce((select rekey_denied_at from feed_state where feed = $1), '-infinity')`;

/** How many missing and new postings there are, before their content is compared. */
export interface RekeyScope {
  /** Including those whose job has ended. */
  readonly missing: number;
  readonly added: number;
  /** Postings that may have a second job. */
  readonly second: number;
  /** Jobs that live or have ended. */
  readonly live: number;
  /** Creates of the last days that had the content of postings that were gone: see `pairsOfWindow`. */
  readonly recent: readonly number[];
  /** An earlier pull suspected changed keys, and no person has decided. */
  readonly suspected: 'all' | 'some' | undefined;
  /** What a person should know of that. */
  readonly note: Message | undefined;
}

/** How many postings may be missing ones under other keys, so that the missing ones are worth collecting. */
export async function countNewPostings(pullTx: PullTransaction): Promise<number> {
  return (await countAdded(pullTx)) + (await countSecond(pullTx));
}

const countAdded = ({ session, subject: { feed } }: PullTransaction): Promise<number> =>
  readNumber(session, `select count(*) as n from change c where ${NEW_POSTING}`, [feed]);

async function countSecond({ session, subject: { feed, pull }, nothingKnown }: PullTransaction): Promise<number> {
  if (nothingKnown) return 0;
  // Mostly the last pull has found all postings: then no mapping need be read.
  return readNumber(
    session,
    `select case when exists (select from pull p where p.feed = $1 and p.id < ${pull} and p.id > ${lastWhole(`p.id < ${pull} and p.gone = 0`)})
       then (select count(*) from mapping x where ${secondJob(pull)}) else 0 end as n`,
    [feed],
  );
}

/** Reads what `collectMissing` collected. */
export async function readRekeyScope(pullTx: PullTransaction): Promise<RekeyScope> {
  const { session, subject, missing: missingPostings } = pullTx;
  const [row] = await session.query<{
    missing: number;
    live: number;
    suspected: 'all' | 'some' | null;
    note: Message | null;
    recent: readonly number[];
  }>(
    `select (select count(*) from ${missingPostings.rows} x) + $2::int as missing,
       case when $2::int > 0 or exists (select from ${missingPostings.rows} x) then (select count(*) from mapping where feed = $1)
         + (select count(*) from posting_expiry e where feed = $1 and ${JOB_HAS_EXPIRED}) else 0 end as live,
       case when f.rekey_since is not null then case when f.rekey_all then 'all' else 'some' end end as suspected, f.rekey_note as note,
       array(select coalesce(sum(p.rekeyed), 0)::int from generate_series(0, ${REKEY_WINDOW_DAYS - 1}) day left join pull p on p.feed = $1
           and p.rekeyed > 0 and p.started_at > coalesce(f.rekey_denied_at, '-infinity')
           and p.started_at <= now() - make_interval(days => day) and p.started_at > now() - make_interval(days => day + 1)
         group by day order by day) as recent
     from (select) one left join feed_state f on f.feed = $1`,
    [subject.feed, pullTx.endedGone],
  );
  const { missing = 0, live = 0, suspected = null, note = null, recent = [] } = row ?? {};
  const added = missing === 0 ? 0 : await countAdded(pullTx);
  const second = missing === 0 ? 0 : await countSecond(pullTx);
  return { missing, live, recent, suspected: suspected ?? undefined, added, second, note: note ?? undefined };
}

/** The pairs that were found. */
export interface FoundPairs extends Omit<RekeyLoad, 'live' | 'recent'> {
  /** How many of those with the same content are pairs whose new posting has a second job already. */
  readonly second: number;
}

/**
 * Collects both sides in the temporary table `rekey_found`, and counts their pairs. What no posting of the other side has is compared
 * without the keys that stand in texts. A delete that a person approved, or that is being sent, is decided.
 * @param second how many postings may have a second job. @param narrow only missing postings whose title a new posting has: the others
 * have no pair
 */
export async function collectRekey(
  pullTx: PullTransaction,
  compared: ComparedFields,
  { second, narrow = false }: { readonly second: number; readonly narrow?: boolean },
): Promise<FoundPairs> {
  const { session, subject, missing, endedGone } = pullTx;
  const { feed } = subject;
  const values = digestValues(feed, compared);
  await session.query(
    `create temporary table if not exists rekey_found
       (is_new boolean, key text, content text, likeness text, settable text, second_job text, bare text, bare_settable text) on commit drop`,
  );
  await session.query('delete from rekey_found');
  const title = (fields: string) => `lower(coalesce(${fields}->>'title', ''))`;
  const isWorth = `(exists (select from override o where o.feed = $1 and o.key = x.key)
    or ${title('d.fields')} in (select ${title('n.fields')} from change n where ${NEW_POSTING.replaceAll('c.', 'n.')}))`;
  await session.query(
    `insert into rekey_found select false, x.key, digest.content, digest.likeness, digest.settable, null, digest.bare, digest.bare_settable
     from ${missing.rows} x join mapping m on m.feed = $1 and m.key = x.key left join change c on c.feed = $1 and c.key = x.key
       left join document d on d.feed = $1 and d.key = x.key left join ${digests(UNEDITED_FIELDS, 'x.key')} on true
     where not coalesce(c.desired = 'absent' and (c.approved or c.attempt_operation = 'delete'), false) ${narrow ? `and ${isWorth}` : ''}`,
    values,
  );
  await session.query(
    `insert into rekey_found select true, c.key, digest.content, digest.likeness, digest.settable, null, digest.bare, digest.bare_settable
     from change c, ${digests(uneditedFields('c.fields::jsonb', 'c.key'), 'c.key')} where ${NEW_POSTING}`,
    values,
  );
  if (endedGone > 0)
    await session.query(
      `insert into rekey_found select false, e.key, e.content, e.likeness, null, null, e.bare, null
       from expired_gone g join posting_expiry e on e.feed = $1 and e.key = g.key where ${JOB_HAS_EXPIRED}`,
      [feed],
    );
  if (second > 0) await collectSecondJobs(pullTx, values);
  await compareBare(session, 'content', 'bare');
  await compareBare(session, 'settable', 'bare_settable');
  const pairs = (column: 'content' | 'likeness' | 'settable', which = 'is_new') =>
    `(select coalesce(sum(least(missing, added)), 0)::bigint from (
       select count(*) filter (where not is_new) as missing, count(*) filter (where ${which}) as added
       from rekey_found where ${column} is not null group by ${column}) groups)`;
  const [row] = await session.query<{ equal: number; alike: number; settable: number; second: number }>(
    `select ${pairs('content')} as equal, ${pairs('likeness')} as alike, ${pairs('settable')} as settable,
       ${pairs('content', 'second_job is not null')} as second`,
  );
  return row ?? { equal: 0, alike: 0, settable: 0, second: 0 };
}

/**
 * Adds the postings that have a second job beside that of a missing one with the same content. Of a posting that the last whole reading has
 * found, it is known that both were in the feed.
 */
async function collectSecondJobs(
  { session, subject: { pull }, missing }: PullTransaction,
  values: readonly unknown[],
): Promise<void> {
  const isOfMissing = (column: 'content' | 'bare') =>
    `exists (select from rekey_found r join mapping o on o.feed = $1 and o.key = r.key join ${missing.rows} s on s.key = r.key
       where not r.is_new and r.${column} = x.${column} and o.mapped_at < x.mapped_at and o.created_by is distinct from x.created_by
         and (x.created_by > ${lastWhole(`p.id < ${pull}`)} or s.missing_pulls > 0 or s.absent_already))`;
  await session.query(
    `create temporary table rekey_second on commit drop as
     select x.key, x.site_job_id, x.mapped_at, x.created_by, digest.content, digest.bare
     from mapping x left join document d on d.feed = $1 and d.key = x.key, ${digests(UNEDITED_FIELDS, 'x.key')}
     where ${secondJob(pull)} and not exists (select from ${missing.rows} s where s.key = x.key)`,
    values,
  );
  for (const column of ['content', 'bare'] as const)
    await session.query(
      `insert into rekey_found select true, x.key, x.content, null, null, x.site_job_id, x.bare, null
       from rekey_second x where ${isOfMissing(column)} and not exists (select from rekey_found f where f.second_job is not null and f.key = x.key)`,
      values.slice(0, 1),
    );
  await session.query('drop table rekey_second');
}

/** What the other side does not have, or not as often, is compared without the keys that stand in texts. */
async function compareBare(
  session: Session,
  column: 'content' | 'settable',
  bare: 'bare' | 'bare_settable',
): Promise<void> {
  await session.query(
    `update rekey_found r set ${column} = r.${bare}
     from (select ctid as row, is_new, ${column} as value, row_number() over (partition by is_new, ${column} order by key) as place
         from rekey_found where ${column} is not null) k
       join (select ${column} as value, count(*) filter (where is_new) as added, count(*) filter (where not is_new) as missing
         from rekey_found group by ${column}) sides on sides.value = k.value
     where r.ctid = k.row and r.${bare} <> r.${column} and k.place > case when k.is_new then sides.missing else sides.added end`,
  );
}

/**
 * From now on the feed's creates wait. Creates of earlier pulls get a new revision, so that a worker that has already read them
 * does not send them. @param proven the pull is complete.
 */
export async function suspectRekey(
  { session, subject: { feed, site, pull } }: PullTransaction,
  note: Message,
  proven: boolean,
): Promise<void> {
  await session.query(ASK, [feed, site, toJsonb(note), true]);
  await session.query('delete from rekey_posting where feed = $1', [feed]);
  // A trigger renews the rekey_set of the feed: these postings were not compared yet.
  await session.query(
    `insert into rekey_posting (feed, is_new, key, content, likeness, proven, second_job)
     select $1, is_new, key, content, likeness, $2, second_job from rekey_found`,
    [feed, proven],
  );
  await session.query(
    `update change c set revision = nextval('revision_number')
     where ${NEW_POSTING} and c.state = 'ready' and c.pull is distinct from $2`,
    [feed, pull],
  );
}

const ASK = `insert into feed_state (feed, site, rekey_since, rekey_note, rekey_all) values ($1, $2, now(), $3, $4)
  on conflict (feed) do update set rekey_since = coalesce(feed_state.rekey_since, now()), rekey_note = excluded.rekey_note,
    rekey_all = excluded.rekey_all`;

/** What `waitsForTwin` and `endsTwin` say about postings of this pull. */
export interface TwinRules {
  /** The deletes of the missing posting for which the create of a new one with its content waits. */
  readonly waiting: readonly TwinDelete[];
  /** The deletes that end the job of the missing posting. */
  readonly ending: readonly TwinDelete[];
}

/** Creates that wait for postings with their content, and those that are sent as these are gone. */
export interface Twins {
  readonly waiting: number;
  readonly replacing: number;
}

/**
 * Decides in the temporary table `twin` which creates wait: of those that this pull has planned, and of those that have waited. One that an
 * earlier pull has let through was in the feed together with all postings of its content. Those without one of their content may be one of
 * the same title and place, as texts that name a date or a number change with the key; but not one that is known to be gone. `collectRekey` has collected both sides.
 */
export async function findTwins(
  { session, subject: { feed, pull } }: PullTransaction,
  { waiting, ending }: TwinRules,
): Promise<Twins> {
  const had = `exists (select from rekey_posting r where r.feed = $1 and r.is_new and r.key = c.key and r.waits)`;
  // Where this pull has read only one of the two, they may still have one job.
  const unseen = (
    column: 'content' | 'likeness',
  ) => `select n.${column} from rekey_posting n join change c on c.feed = $1 and c.key = n.key and c.unseen
    where n.feed = $1 and n.is_new and n.waits`;
  const ordered = (column: 'content' | 'likeness') =>
    `partition by ${column} order by had desc, length(key), key collate "C"`;
  await session.query(
    `create temporary table twin on commit drop as
     with missing as materialized (
       select r.key, r.content, r.likeness, t.delete = any($3::text[]) as waiting, t.delete = 'held' as held, t.delete = any($4::text[]) as ending,
         row_number() over (partition by r.content, t.delete = any($3::text[]), t.delete = any($4::text[]) order by r.key) as place
       from (select key, content, likeness from rekey_found where not is_new and content is not null
           union select o.key, o.content, o.likeness from rekey_posting o join mapping m on m.feed = $1 and m.key = o.key
             where o.feed = $1 and not o.is_new and (o.content in (${unseen('content')}) or o.likeness in (${unseen('likeness')}))
               and not exists (select from rekey_found f where not f.is_new and f.key = o.key and f.content is not null)) r
         join mapping m on m.feed = $1 and m.key = r.key left join change c on c.feed = $1 and c.key = r.key
         cross join lateral (select coalesce(case when c.desired = 'absent' then c.state end, 'none') as delete) t),
     added as materialized (
       select *, row_number() over (${ordered('content')}) as place, count(*) over (partition by content) as alike
       from (select r.key, r.content, r.likeness, c.pull = $2 as planned, ${had} as had
         from rekey_found r join change c on c.feed = $1 and c.key = r.key
         where r.is_new and r.second_job is null) a where planned or had),
     by_content as (
       select content, count(*) filter (where waiting) as waiting, count(*) filter (where ending) as ending from missing group by content),
     equal as materialized (
       select a.key, a.content, a.likeness, a.planned, a.had, coalesce(a.place <= m.waiting, false) as waits,
         coalesce(a.place > m.waiting and a.place <= m.waiting + m.ending, false) as replaces
       from added a left join by_content m on m.content = a.content),
     by_likeness as (
       select likeness, count(*) as waiting from missing m where waiting and not held and likeness is not null
         and place > coalesce((select max(a.alike) from added a where a.content = m.content), 0)
       group by likeness),
     rest as (
       select key, likeness, row_number() over (${ordered('likeness')}) as place from equal where not waits and not replaces)
     select e.key, e.content, e.likeness, e.planned, e.waits or coalesce(r.place <= l.waiting, false) as waits, e.replaces
     from equal e left join rest r on r.key = e.key left join by_likeness l on l.likeness = r.likeness`,
    [feed, pull, waiting, ending],
  );
  const [counts] = await session.query<{ waiting: number; replacing: number }>(
    'select count(*) filter (where waits) as waiting, count(*) filter (where replaces and planned) as replacing from twin',
  );
  return counts ?? { waiting: 0, replacing: 0 };
}

/** The creates of `twin` wait, and no others. @param proven the pull is complete. */
export async function holdTwins(
  { session, subject: { feed, site, pull } }: PullTransaction,
  note: Message,
  proven: boolean,
): Promise<void> {
  const ofWaiting = (r: string) =>
    `(${r}.content in (select content from twin where waits) or ${r}.likeness in (select likeness from twin where waits))`;
  await session.query(ASK, [feed, site, toJsonb(note), false]);
  await session.query(
    `create temporary table twin_posting on commit drop as
     select is_new, key, content, likeness, coalesce((select t.waits from twin t where r.is_new and t.key = r.key), false) as waits
     from rekey_found r where second_job is null and ${ofWaiting('r')}
     union
     select false, o.key, o.content, o.likeness, false from rekey_posting o join mapping m on m.feed = $1 and m.key = o.key
     where o.feed = $1 and not o.is_new and ${ofWaiting('o')}
       and not exists (select from rekey_found r where not r.is_new and r.key = o.key)`,
    [feed],
  );
  await session.query(
    `update change c set revision = nextval('revision_number') from twin t
     where c.feed = $1 and c.key = t.key and t.waits and c.state = 'ready' and c.pull is distinct from $2`,
    [feed, pull],
  );
  await session.query('delete from rekey_posting where feed = $1', [feed]);
  await session.query(
    `insert into rekey_posting (feed, is_new, key, content, likeness, proven, waits)
     select $1, is_new, key, content, likeness, $2, waits from twin_posting`,
    [feed, proven],
  );
}

/** Notes how many creates of the pull are sent in place of postings that are gone. */
export async function noteReplaced({ session, subject }: PullTransaction, replaced: number): Promise<void> {
  if (replaced > 0) await session.query('update pull set rekeyed = $2 where id = $1', [subject.pull, replaced]);
}

/** The pull found no other pairs, but may have changed postings: all of them are compared again. */
export async function compareAgain({ session, subject: { feed } }: PullTransaction): Promise<void> {
  await session.query(`update feed_state set rekey_set = nextval('revision_number') where feed = $1`, [feed]);
}

/** The feed's creates no longer wait. */
export async function endRekey(session: Pick<Session, 'query'>, feed: FeedName): Promise<void> {
  const tables = ['rekey_posting', 'rekey_line', 'rekey_total', 'rekey_survey', 'rekey_touched'];
  const emptied = tables.map((table) => `of_${table} as (delete from ${table} where feed = $1)`);
  await session.query(
    `with ${emptied.join(', ')}
     update feed_state set rekey_since = null, rekey_note = null where feed = $1 and rekey_since is not null`,
    [feed],
  );
}

/**
 * Once an undo has withdrawn the new postings, there is nothing to compare: neither creates nor deletes wait any more, and the next
 * pull asks again. Returns whether they still wait.
 */
export async function endRekeyWithoutNew(pullTx: PullTransaction): Promise<boolean> {
  const { session, subject } = pullTx;
  const [row] = await session.query<{ any: boolean }>(
    `select exists (select from rekey_posting r join change c on c.feed = r.feed and c.key = r.key
       where r.feed = $1 and r.is_new and ${NEW_POSTING}) as any
     from feed_state where feed = $1 and rekey_since is not null`,
    [subject.feed],
  );
  if (row === undefined || row.any) return row !== undefined;
  await endRekey(session, subject.feed);
  await releaseHolds(pullTx, ['rekey']);
  return false;
}
