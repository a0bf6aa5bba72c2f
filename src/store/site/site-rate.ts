// Stores the rate that a site has taught by asking to wait, and shares its request slots among all processes.
import type { SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';

/** Lowest learnt rate. A site that wants less asks to wait again; 503 mostly means maintenance. */
const LEAST_RATE = { 429: 1 / 60, 503: 1 } as const;

export interface Throttling {
  readonly status: 429 | 503;
  /** For how long nothing is sent. */
  readonly waitMs: number;
  /** Age of the request: if it was sent before all processes knew the lower rate, it says nothing about that rate. */
  readonly sentMsAgo: number;
  /** The configured rate; `Infinity` if none. */
  readonly requestsPerSecond: number;
}

/** Start value for lowering a rate that is not configured. */
const UNBOUNDED = 1_000;

/**
 * Holds everything for a site as it asked, and lowers the rate for all processes: by half, or by a fifth if the rate had only
 * grown beyond what the site accepts.
 */
export async function throttleSite(db: Queryable, site: SiteName, throttling: Throttling): Promise<void> {
  const { status, waitMs, sentMsAgo, requestsPerSecond } = throttling;
  const configured = Math.min(requestsPerSecond, UNBOUNDED);
  await db.query(
    `insert into site_state as s (site, not_before, last_message, learnt_rate, rate_changed_at, throttled_at)
     values ($1, now() + make_interval(secs => $2), $3, greatest($5::float8, $4::float8 / 2), clock_timestamp(), clock_timestamp())
     on conflict (site) do update set not_before = greatest(s.not_before, excluded.not_before), last_message = $3,
       throttled_at = clock_timestamp(), rate_changed_at = case when ${SENT_BEFORE} then s.rate_changed_at else clock_timestamp() end,
       learnt_rate = case when ${SENT_BEFORE} then s.learnt_rate
         else least(coalesce(s.learnt_rate, $4::float8),
           greatest($5::float8, least($4::float8, coalesce(s.learnt_rate, $4)) * case when s.rate_grown then 0.8 else 0.5 end)) end,
       rate_turns = case when ${SENT_BEFORE} then s.rate_turns else 0 end,
       rate_grown = s.rate_grown and ${SENT_BEFORE}`,
    [site, waitMs / 1000, toJsonb(MESSAGE), configured, Math.min(LEAST_RATE[status], configured), sentMsAgo / 1000],
  );
}

const MESSAGE = 'the site asked to wait';
/** For a second after a change, other processes do not know about it yet. */
const SENT_BEFORE = 'coalesce(s.rate_changed_at > clock_timestamp() - make_interval(secs => $6::float8 + 1), false)';

/** Whether requests to the site need slots of a learnt rate. */
export async function hasLearntRate(db: Queryable, site: SiteName): Promise<boolean> {
  const rows = await db.query('select from site_state where site = $1 and learnt_rate is not null', [site]);
  return rows.length > 0;
}

/** Nobody reserves a slot further away than an hour: one that is was reserved while the clock of the database was ahead. */
const FARTHEST_TURN = `interval '2 hours'`;

/** A slot of the learnt rate, in `inMs` milliseconds; if not given, ask again after that time. */
export interface SiteSlot {
  readonly given: boolean;
  readonly inMs: number;
}

/**
 * Takes the next slot if it is near, so that a process that ends wastes few. Half a minute of use raises the rate a little,
 * and more once the site has not asked to wait for five minutes. `undefined` if the configured rate applies again.
 */
export async function takeSiteSlot(
  db: Queryable,
  site: SiteName,
  requestsPerSecond: number,
  nearMs: number,
): Promise<SiteSlot | undefined> {
  const configured = Math.min(requestsPerSecond, UNBOUNDED);
  const [row] = await db.query<{ given: boolean; in_ms: number }>(
    `with asked as (
       select site, clock_timestamp() as asked_at, learnt_rate,
         greatest(case when next_turn < clock_timestamp() + ${FARTHEST_TURN} then next_turn end, clock_timestamp()) as turn,
         rate_turns >= 5 and rate_changed_at < clock_timestamp() - interval '30 seconds' as grows,
         case when throttled_at > clock_timestamp() - interval '5 minutes' then 1.1 else 1.5 end as factor
       from site_state where site = $1 and learnt_rate is not null for update),
     turn as (
       select a.*, a.turn <= a.asked_at + make_interval(secs => $3) as given,
         case when a.grows then a.learnt_rate * a.factor else a.learnt_rate end as rate from asked a)
     update site_state s set
       next_turn = case when t.given then t.turn + make_interval(secs => 1 / t.rate) else s.next_turn end,
       learnt_rate = case when t.rate >= $2 then null when t.given then t.rate else s.learnt_rate end,
       rate_turns = case when not t.given then s.rate_turns when t.grows then 0 else s.rate_turns + 1 end,
       rate_changed_at = case when t.given and t.grows then t.asked_at else s.rate_changed_at end,
       rate_grown = s.rate_grown or (t.given and t.grows)
     from turn t where s.site = t.site
     returning t.given, (extract(epoch from t.turn - t.asked_at) * 1000)::float8 as in_ms`,
    [site, configured, nearMs / 1000],
  );
  return row === undefined ? undefined : { given: row.given, inMs: row.in_ms };
}
