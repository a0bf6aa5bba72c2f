// Stores what people have paused: everything, a site or a feed. A pause of the program is another fact: see `site/site-state.ts`.
import { type PauseSubject, type PersonsPause, pausesOf } from '../../plan/pause-words.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { type Queryable, readNumber, type Stored, withoutNulls } from '../postgres/database.ts';

/** Also once no process runs that could end it. */
const IN_FORCE = '(p.until is null or p.until > now())';
const CONCERNS = (feed: string, site: string): string =>
  `(p.feed = ${feed} or p.site = ${site} or p.feed is null and p.site is null)`;

/** SQL condition: a person has paused this feed, its site or everything. */
export const isPaused = (feed: string, site: string): string =>
  `exists (select from pause p where ${IN_FORCE} and ${CONCERNS(feed, site)})`;

/**
 * SQL condition of a statement that decides to send something of this feed: nobody has paused it. A pause that commits waits for
 * statements that have not seen it: see `send_gate` in the migration. Its lock is one that no dump of the database conflicts with.
 */
export const mayBeSent = (feed: string, site: string): string =>
  `not ${isPaused(feed, site)} and not exists (select from send_gate for key share)`;

/** SQL: what the activity says of a pause that has ended by its time. */
export const endedDetail = (row: string): string =>
  `jsonb_strip_nulls(jsonb_build_object('automatic', 'time', 'reason', 'its time was over', 'site', ${row}.site,
     'all', case when ${row}.site is null and ${row}.feed is null then true end))`;

/** Records the `former` pauses that have ended by time. Until then the pauses themselves stand for the records, see `recordedActions`. */
const RECORD_ENDED = `insert into audit (at, actor, action, feed, detail)
   select until, 'jobmirror', 'end pause', feed, ${endedDetail('former')} from former where until <= now()`;

const GATE_WITHIN_MS = 15_000;

type PauseRow = Stored<PersonsPause>;
const COLUMNS = 'p.id, p.site, p.feed, p.since, p.until, p.actor, p.reason, p.stops_pulls as "stopsPulls"';

/** All that are in force: first that of everything, then sites, then feeds. */
export async function listPauses(db: Queryable): Promise<PersonsPause[]> {
  const rows = await db.query<PauseRow>(
    `select ${COLUMNS} from pause p where ${IN_FORCE} order by p.feed nulls first, p.site nulls first`,
  );
  return rows.map(withoutNulls<PersonsPause>);
}

export interface NewPause {
  readonly actor: string;
  readonly reason: string | undefined;
  readonly until: Date | undefined;
  readonly stopsPulls: boolean;
}

/**
 * Pauses within a transaction, which must do little afterwards: nothing is sent meanwhile. Replaces the reason, the end and the extent of
 * a pause that is in force, which keeps its beginning, but not its number: who has seen the former one has not seen this. Once it is committed, no request begins that was not decided before.
 */
export async function pauseSubject(
  tx: Queryable,
  { site, feed }: PauseSubject,
  pause: NewPause,
): Promise<PersonsPause> {
  // All that sends waits behind this lock while it waits: for statements that decide, which are short unless their process stands still.
  await tx.query(`set local lock_timeout = '${GATE_WITHIN_MS}ms'`);
  await tx.query('lock table send_gate in exclusive mode');
  await tx.query(
    `with former as (select * from pause p where p.site is not distinct from $1 and p.feed is not distinct from $2) ${RECORD_ENDED}`,
    [site ?? null, feed ?? null],
  );
  const [row] = await tx.query<PauseRow>(
    `insert into pause as p (site, feed, until, actor, reason, stops_pulls) values ($1, $2, $3, $4, $5, $6)
     on conflict (coalesce(site, ''), coalesce(feed, '')) do update set id = default, until = excluded.until, actor = excluded.actor,
       reason = excluded.reason, stops_pulls = excluded.stops_pulls,
       since = case when ${IN_FORCE} then p.since else excluded.since end
     returning ${COLUMNS}`,
    [site ?? null, feed ?? null, pause.until ?? null, pause.actor, pause.reason ?? null, pause.stopsPulls],
  );
  return withoutNulls<PersonsPause>(row as PauseRow);
}

/** Ends the pause of exactly this. @returns the pause; `undefined`: none was in force */
export async function endPauseOf(tx: Queryable, { site, feed }: PauseSubject): Promise<PersonsPause | undefined> {
  const rows = await tx.query<PauseRow & { readonly inForce: boolean }>(
    `with former as (delete from pause p where p.site is not distinct from $1 and p.feed is not distinct from $2 returning p.*),
     recorded as (${RECORD_ENDED})
     select ${COLUMNS}, ${IN_FORCE} as "inForce" from former p`,
    [site ?? null, feed ?? null],
  );
  const ended = rows.find(({ inForce }) => inForce);
  if (ended === undefined) return undefined;
  const { inForce: _, ...row } = ended;
  return withoutNulls<PersonsPause>(row);
}

/** If both feeds are paused, leaves one pause, of `feed`, which lasts as long and stops as much as either. */
export async function joinPauses(tx: Queryable, feed: FeedName, other: FeedName): Promise<void> {
  await tx.query(
    `with former as (delete from pause p where p.feed in ($1, $2) and not ${IN_FORCE} returning p.*) ${RECORD_ENDED}`,
    [feed, other],
  );
  await tx.query(
    `update pause p set id = default, stops_pulls = p.stops_pulls or o.stops_pulls,
       until = case when p.until is not null and o.until is not null then greatest(p.until, o.until) end
     from pause o where p.feed = $1 and o.feed = $2`,
    [feed, other],
  );
  await tx.query('delete from pause p using pause o where p.feed = $2 and o.feed = $1', [feed, other]);
}

/** The pauses in force for a feed or a site, the widest first. */
export const readPausesOf = async (db: Queryable, subject: PauseSubject): Promise<PersonsPause[]> =>
  pausesOf(await listPauses(db), subject);

/** Requests of the subject that were decided before it was paused, and end now. */
export const countInFlight = (db: Queryable, { site, feed }: PauseSubject): Promise<number> =>
  readNumber(
    db,
    `select count(*) as n from change where state = 'sending' and ($1::text is null or site = $1) and ($2::text is null or feed = $2)`,
    [site ?? null, feed ?? null],
  );
