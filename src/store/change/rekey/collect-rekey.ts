// Compares, at the end of a pull, the postings that it found missing with those that are new: in tables, as they may be a million.
import type { CreateOnlyFields } from '../../../plan/create-only-fields.ts';
import type { Message } from '../../../plan/message.ts';
import type { RekeyLoad } from '../../../plan/rekey.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import type { Session } from '../../postgres/database.ts';
import { toJsonb } from '../../postgres/jsonb.ts';
import type { PullTransaction } from '../../pull/pull-transaction.ts';
import { releaseHolds } from '../protect-unreadable.ts';

/** The creates that may belong to missing postings; no request was sent for them, and no person said that they are new. */
const NEW_POSTING = `c.feed = $1 and c.operation = 'create' and c.desired = 'present' and c.attempt_token is null
  and not c.gone and c.id > coalesce((select rekey_denied from feed_state where feed = $1), 0)`;

/** How many missing and new postings there are, before their content is compared. */
export interface RekeyScope {
  readonly missing: number;
  readonly added: number;
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

/** Needs the temporary table `missing`: see `collectMissing`. */
export async function readRekeyScope(pullTx: PullTransaction): Promise<RekeyScope> {
  const { session, subject } = pullTx;
  const [row] = await session.query<{ missing: number; live: number; suspected: boolean; note: Message | null }>(
    `select (select count(*) from missing) as missing, case when exists (select from missing) then (select count(*) from mapping where feed = $1) else 0 end as live,
       coalesce(f.rekey_since is not null, false) as suspected, f.rekey_note as note
     from (select) one left join feed_state f on f.feed = $1`,
    [subject.feed],
  );
  const { missing = 0, live = 0, suspected = false, note = null } = row ?? {};
  const added = missing === 0 ? 0 : await countNewPostings(pullTx);
  return { missing, live, suspected, added, note: note ?? undefined };
}

/** The fields by which postings are compared. */
export interface ComparedFields {
  readonly referenceField: string | undefined;
  readonly stateField: string;
  /** Fields that are set only on create: what was last sent says nothing about what the feed has. */
  readonly createOnly: CreateOnlyFields;
}

/** Whether the field `f` is content. */
const content = (key: string): string => `(f.value <> ${key}
  and replace(f.name, '_', '-') is distinct from replace($2, '_', '-') and f.value !~ '^https?://[^[:space:]]+$')`;

/**
 * Digests of the fields `f`. References, keys and web addresses change with the key; everything else is content. A title and
 * the fields of a place make postings alike; if the title is set only on create, all content that is not.
 */
const digests = (fields: string, key: string): string => `lateral (
  select md5(string_agg(md5(f.name) || md5(f.value), '' order by f.name) filter (where ${content(key)})) as content,
    case when bool_or(f.name = 'title') then md5(string_agg(md5(f.name) || md5(lower(f.value)), '' order by f.name)
      filter (where f.name <> all($4::text[]) and case when 'title' = any($4::text[]) then ${content(key)}
        else f.name in ('title', $3) or f.name ~ 'city|location' end)) end as likeness
  from jsonb_each_text(${fields}) f(name, value) where f.value <> '') digest`;

/** The content as the feed had it: a reviewer's edits are undone. */
const UNEDITED = `d.fields::jsonb || coalesce((select jsonb_object_agg(o.field, o.source_value) from override o
  where o.feed = $1 and o.key = x.key and d.fields->>o.field = o.value), '{}')`;

/**
 * Collects both sides in the temporary table `rekey_found`, and counts their pairs. A delete that a person approved, or that is
 * being sent, is decided.
 */
export async function collectRekey(
  { session, subject: { feed } }: PullTransaction,
  { referenceField, stateField, createOnly = new Set() }: ComparedFields,
): Promise<Omit<RekeyLoad, 'live'>> {
  const values = [feed, referenceField ?? null, stateField, [...createOnly]];
  await session.query(
    'create temporary table rekey_found (is_new boolean, key text, content text, likeness text) on commit drop',
  );
  await session.query(
    `insert into rekey_found select false, x.key, digest.content, digest.likeness
     from missing x join mapping m on m.feed = $1 and m.key = x.key left join change c on c.feed = $1 and c.key = x.key
       left join document d on d.feed = $1 and d.key = x.key left join ${digests(UNEDITED, 'x.key')} on true
     where not coalesce(c.desired = 'absent' and (c.approved or c.attempt_operation = 'delete'), false)`,
    values,
  );
  await session.query(
    `insert into rekey_found select true, c.key, digest.content, digest.likeness
     from change c, ${digests('c.fields::jsonb', 'c.key')} where ${NEW_POSTING}`,
    values,
  );
  const pairs = (column: string) =>
    `(select coalesce(sum(least(missing, added)), 0)::bigint from (
       select count(*) filter (where not is_new) as missing, count(*) filter (where is_new) as added
       from rekey_found where ${column} is not null group by ${column}) groups)`;
  const [row] = await session.query<Omit<RekeyLoad, 'live'>>(
    `select ${pairs('content')} as equal, ${pairs('likeness')} as alike`,
  );
  const { equal = 0, alike = 0 } = row ?? {};
  return { equal, alike };
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
  await session.query('delete from rekey_posting where feed = $1', [feed]);
  await session.query(
    `insert into rekey_posting (feed, is_new, key, content, likeness, proven)
     select $1, is_new, key, content, likeness, $2 from rekey_found`,
    [feed, proven],
  );
  await session.query(
    `insert into feed_state (feed, site, rekey_since, rekey_note) values ($1, $2, now(), $3)
     on conflict (feed) do update set rekey_since = coalesce(feed_state.rekey_since, now()), rekey_note = excluded.rekey_note`,
    [feed, site, toJsonb(note)],
  );
  await session.query(
    `update change c set revision = nextval('revision_number')
     where ${NEW_POSTING} and c.state = 'ready' and c.pull is distinct from $2`,
    [feed, pull],
  );
}

/** The feed's creates no longer wait. */
export async function endRekey(session: Pick<Session, 'query'>, feed: FeedName): Promise<void> {
  await session.query(
    `with ended as (update feed_state set rekey_since = null, rekey_note = null where feed = $1 and rekey_since is not null)
     delete from rekey_posting where feed = $1`,
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
  await releaseHolds(pullTx, 'rekey');
  return false;
}
