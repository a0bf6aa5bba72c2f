// Compares, at the end of a pull, the postings that it found missing with those that are new: in tables, as they may be a million.
import type { Message } from '../../../plan/message.ts';
import type { RekeyLoad } from '../../../plan/rekey.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import type { Session } from '../../postgres/database.ts';
import { toJsonb } from '../../postgres/jsonb.ts';
import { HAS_ENDED } from '../../pull/posting-expiry.ts';
import type { PullTransaction } from '../../pull/pull-transaction.ts';
import { releaseHolds } from '../protect-unreadable.ts';
import { type ComparedFields, digests, digestValues, UNEDITED } from './digests.ts';

/** The creates that may belong to missing postings; no request was sent for them, and no person said that they are new. */
const NEW_POSTING = `c.feed = $1 and c.operation = 'create' and c.desired = 'present' and c.attempt_token is null
  and not c.gone and c.id > coalesce((select rekey_denied from feed_state where feed = $1), 0)`;

/** How many missing and new postings there are, before their content is compared. */
export interface RekeyScope {
  /** Including those whose job has ended. */
  readonly missing: number;
  readonly added: number;
  /** Jobs that live or have ended. */
  readonly live: number;
  /** An earlier pull suspected changed keys, and no person has decided. */
  readonly suspected: boolean;
  /** What a person should know of that. */
  readonly note: Message | undefined;
}

/** How many postings a pull must add before the missing ones are worth collecting. */
export async function countNewPostings({ session, subject: { feed } }: PullTransaction): Promise<number> {
  const [row] = await session.query<{ n: number }>(`select count(*) as n from change c where ${NEW_POSTING}`, [feed]);
  return row?.n ?? 0;
}

/** Reads what `collectMissing` collected. */
export async function readRekeyScope(pullTx: PullTransaction): Promise<RekeyScope> {
  const { session, subject, missing: missingPostings } = pullTx;
  const [row] = await session.query<{ missing: number; live: number; suspected: boolean; note: Message | null }>(
    `select (select count(*) from ${missingPostings.rows} x) + $2::int as missing,
       case when $2::int > 0 or exists (select from ${missingPostings.rows} x) then (select count(*) from mapping where feed = $1)
         + (select count(*) from posting_expiry e where feed = $1 and ${HAS_ENDED}) else 0 end as live,
       coalesce(f.rekey_since is not null, false) as suspected, f.rekey_note as note
     from (select) one left join feed_state f on f.feed = $1`,
    [subject.feed, pullTx.endedGone],
  );
  const { missing = 0, live = 0, suspected = false, note = null } = row ?? {};
  const added = missing === 0 ? 0 : await countNewPostings(pullTx);
  return { missing, live, suspected, added, note: note ?? undefined };
}

/**
 * Collects both sides in the temporary table `rekey_found`, and counts their pairs. A delete that a person approved, or that is
 * being sent, is decided.
 */
export async function collectRekey(
  { session, subject: { feed }, missing, endedGone }: PullTransaction,
  compared: ComparedFields,
): Promise<Omit<RekeyLoad, 'live'>> {
  const values = digestValues(feed, compared);
  await session.query(
    'create temporary table rekey_found (is_new boolean, key text, content text, likeness text, settable text) on commit drop',
  );
  await session.query(
    `insert into rekey_found select false, x.key, digest.content, digest.likeness, digest.settable
     from ${missing.rows} x join mapping m on m.feed = $1 and m.key = x.key left join change c on c.feed = $1 and c.key = x.key
       left join document d on d.feed = $1 and d.key = x.key left join ${digests(UNEDITED, 'x.key')} on true
     where not coalesce(c.desired = 'absent' and (c.approved or c.attempt_operation = 'delete'), false)`,
    values,
  );
  await session.query(
    `insert into rekey_found select true, c.key, digest.content, digest.likeness, digest.settable
     from change c, ${digests('c.fields::jsonb', 'c.key')} where ${NEW_POSTING}`,
    values,
  );
  if (endedGone > 0)
    await session.query(
      `insert into rekey_found select false, e.key, e.content, e.likeness, null
       from expired_gone g join posting_expiry e on e.feed = $1 and e.key = g.key where ${HAS_ENDED}`,
      [feed],
    );
  const pairs = (column: 'content' | 'likeness' | 'settable') =>
    `(select coalesce(sum(least(missing, added)), 0)::bigint from (
       select count(*) filter (where not is_new) as missing, count(*) filter (where is_new) as added
       from rekey_found where ${column} is not null group by ${column}) groups)`;
  const [row] = await session.query<Omit<RekeyLoad, 'live'>>(
    `select ${pairs('content')} as equal, ${pairs('likeness')} as alike, ${pairs('settable')} as settable`,
  );
  const { equal = 0, alike = 0, settable = 0 } = row ?? {};
  return { equal, alike, settable };
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
  await session.query(
    `insert into feed_state (feed, site, rekey_since, rekey_note) values ($1, $2, now(), $3)
     on conflict (feed) do update set rekey_since = coalesce(feed_state.rekey_since, now()), rekey_note = excluded.rekey_note`,
    [feed, site, toJsonb(note)],
  );
  await session.query('delete from rekey_posting where feed = $1', [feed]);
  // A trigger renews the rekey_set of the feed: these postings were not compared yet.
  await session.query(
    `insert into rekey_posting (feed, is_new, key, content, likeness, proven)
     select $1, is_new, key, content, likeness, $2 from rekey_found`,
    [feed, proven],
  );
  await session.query(
    `update change c set revision = nextval('revision_number')
     where ${NEW_POSTING} and c.state = 'ready' and c.pull is distinct from $2`,
    [feed, pull],
  );
}

/** The pull found no other pairs, but may have changed postings: all of them are compared again. */
export async function compareAgain({ session, subject: { feed } }: PullTransaction): Promise<void> {
  await session.query(`update feed_state set rekey_set = nextval('revision_number') where feed = $1`, [feed]);
}

/** The feed's creates no longer wait. */
export async function endRekey(session: Pick<Session, 'query'>, feed: FeedName): Promise<void> {
  await session.query(
    'update feed_state set rekey_since = null, rekey_note = null where feed = $1 and rekey_since is not null',
    [feed],
  );
  for (const table of ['rekey_posting', 'rekey_line', 'rekey_total', 'rekey_survey', 'rekey_touched'])
    await session.query(`delete from ${table} where feed = $1`, [feed]);
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
