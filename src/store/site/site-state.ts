// Stores the state of each site between requests: pauses with their cause, waits, failures in a row, and the rate that it has taught.
import type { Message } from '../../plan/message.ts';
import type { SiteName } from '../../posting/identifiers.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import { type Queryable, returnsRow, type Stored, withoutNulls } from '../postgres/database.ts';
import { forgetRefusals } from './refused-token.ts';

export interface SiteState {
  readonly site: SiteName;
  readonly pausedSince: Date | undefined;
  readonly pauseCause: Message | undefined;
  /** Milliseconds until something may be sent: the site asked to wait, or was unreachable. */
  readonly waitsMs: number;
  readonly unreachableStreak: number;
  readonly lastMessage: Message | undefined;
  /** Milliseconds until a paused site is probed; negative if overdue. */
  readonly probeInMs: number | undefined;
  readonly probes: number;
  /** Address at which its jobs were created; `undefined` if none was yet. */
  readonly address: string | undefined;
  /** The other address with which a process was configured, and because of which the site is paused. */
  readonly movedTo: string | undefined;
  /** Why it was paused until a person decides before that: this applies again if the address is set back. */
  readonly formerPause: Message | undefined;
  /** The pause applies to the given token, not to the site. */
  readonly tokenRefused: boolean;
  /** Requests per second learnt from the site's requests to wait; `undefined` if the configured rate applies. */
  readonly learntRate: number | undefined;
  /** How long ago it last asked to wait; `undefined`: never. */
  readonly askedToWaitMsAgo: number | undefined;
}

/** The pause of a token that is refused stands for one of the site: that of the whole site may need a person, whatever the token. */
const STATE = `select k.site, coalesce(unreachable_streak, 0) as "unreachableStreak", last_message as "lastMessage", address,
    moved_to as "movedTo", former_pause as "formerPause", learnt_rate as "learntRate",
    (extract(epoch from clock_timestamp() - throttled_at) * 1000)::float8 as "askedToWaitMsAgo", is_only as "tokenRefused",
    case when isfinite(not_before)
      then greatest(0, extract(epoch from not_before - clock_timestamp()) * 1000)::float8 else 0 end as "waitsMs",
    case when is_only then t.refused_since else s.paused_since end as "pausedSince",
    case when is_only then to_jsonb(t.cause) else s.pause_cause end as "pauseCause",
    coalesce(case when is_only then t.probes else s.probes end, 0) as probes,
    (extract(epoch from case when is_only then t.next_probe else s.next_probe end - clock_timestamp()) * 1000)::float8 as "probeInMs"
  from (select $1::text as site) k left join site_state s on s.site = k.site
  left join lateral (select * from refused_token t where t.site = k.site and t.refused_since is not null
    and ($2::text is null or t.digest = $2) order by t.refused_since limit 1) t on true
  cross join lateral (select t.refused_since is not null and s.paused_since is null as is_only) o`;

/**
 * State of a site for the holder of a token.
 * @param token its digest: see `tokenDigest`. Without it, the state for the token that was refused first, if any.
 */
export async function readSiteState(db: Queryable, site: SiteName, token?: string): Promise<SiteState> {
  const [row] = await db.query<Stored<SiteState>>(STATE, [site, token ?? null]);
  return withoutNulls<SiteState>(row as Stored<SiteState>);
}

/** Nobody pauses or resumes a known site until the transaction ends. */
export async function lockSiteState(tx: Queryable, site: SiteName): Promise<void> {
  await tx.query('select from site_state where site = $1 for update', [site]);
}

/** The state for a process with this address of the site: if base_url was reset, the next worker ends the pause, or returns to an earlier one. */
export function stateAt(address: string, state: SiteState): SiteState {
  const isOver = state.movedTo !== undefined && state.address === address && !state.tokenRefused;
  if (!isOver) return state;
  if (state.formerPause !== undefined)
    return { ...state, pauseCause: state.formerPause, formerPause: undefined, movedTo: undefined };
  return { ...state, pausedSince: undefined, pauseCause: undefined, probeInMs: undefined, movedTo: undefined };
}

/** States of all known sites for the holder of these tokens; a site without a token here is read without one. */
export async function listSiteStates(
  db: Queryable,
  tokens: ReadonlyMap<SiteName, string> = new Map(),
): Promise<SiteState[]> {
  const rows = await db.query<{ site: SiteName }>(
    'select site from site_state union select site from refused_token order by site',
  );
  return Promise.all(rows.map(({ site }) => readSiteState(db, site, tokens.get(site))));
}

/**
 * Pauses a site persistently. An existing pause keeps its start and cause. Returns whether the pause is new.
 * @param probeAfterMs when to check whether the cause is gone; `undefined` if only a person can tell.
 */
export const pauseSite = (
  db: Queryable,
  site: SiteName,
  cause: Message,
  probeAfterMs: number | undefined,
): Promise<boolean> =>
  returnsRow(
    db,
    `insert into site_state as s (site, paused_since, pause_cause, next_probe)
     values ($1, now(), $2, now() + make_interval(secs => $3))
     on conflict (site) do update set paused_since = now(), pause_cause = $2, probes = 0,
       next_probe = now() + make_interval(secs => $3)
     where s.paused_since is null returning site`,
    [site, toJsonb(cause), probeAfterMs === undefined ? null : probeAfterMs / 1000],
  );

/** A person resumes a site, at once and with any token. Returns whether it was paused. */
export async function resumeSite(db: Queryable, site: SiteName): Promise<boolean> {
  const refused = await forgetRefusals(db, site);
  return (await endPause(db, site)) || refused;
}

/** Resumes a site at once, except for tokens that it refuses. Returns whether it was paused. */
export async function endPause(db: Queryable, site: SiteName): Promise<boolean> {
  const rows = await db.query<{ was_paused: boolean }>(
    `update site_state s set paused_since = null, pause_cause = null, next_probe = null, probes = 0, not_before = '-infinity',
       unreachable_streak = 0, misconfigured_streak = 0, moved_to = null, former_pause = null, resumed_at = now()
     from (select site, paused_since from site_state where site = $1 for update) old
     where s.site = old.site returning old.paused_since is not null as was_paused`,
    [site],
  );
  return rows[0]?.was_paused === true;
}

/** SQL: whether the site `s` is believed. For longer only if that was said while the clock of the database was ahead. */
export const TRUSTS_GONE = `coalesce(s.trust_gone_until between now() and now() + interval '25 hours', false)`;

/** A person said that the site was emptied: for a day, believes the site when it reports all jobs as gone. */
export async function trustGoneForADay(db: Queryable, site: SiteName): Promise<void> {
  await db.query(
    `insert into site_state (site, trust_gone_until) values ($1, now() + interval '1 day')
     on conflict (site) do update set trust_gone_until = excluded.trust_gone_until`,
    [site],
  );
}

export const trustsGone = (db: Queryable, site: SiteName): Promise<boolean> =>
  returnsRow(db, `select from site_state s where site = $1 and ${TRUSTS_GONE}`, [site]);

/** Records a failed probe; the next one waits twice as long, at most `maxMs`. */
export async function noteFailedProbe(db: Queryable, site: SiteName, firstMs: number, maxMs: number): Promise<void> {
  await db.query(
    `update site_state set probes = probes + 1,
       next_probe = now() + make_interval(secs => least($3, $2 * power(2, least(probes + 1, 20))))
     where site = $1 and paused_since is not null`,
    [site, firstMs / 1000, maxMs / 1000],
  );
}

/**
 * Records that a site was unreachable and holds everything for it, twice as long each time, up to `maxMs`. Requests that were
 * in flight together count once. Returns the number of times in a row.
 */
export async function noteUnreachable(
  db: Queryable,
  site: SiteName,
  message: string,
  firstMs: number,
  maxMs: number,
): Promise<number> {
  const [row] = await db.query<{ unreachable_streak: number }>(
    `insert into site_state as s (site, unreachable_streak, not_before, last_message)
     values ($1, 1, now() + make_interval(secs => $2), $4)
     on conflict (site) do update set last_message = $4,
       unreachable_streak = s.unreachable_streak + case when s.not_before > now() then 0 else 1 end,
       not_before = case when s.not_before > now() then s.not_before
         else now() + make_interval(secs => least($3, $2 * power(2, least(s.unreachable_streak, 20)))) end
     returning unreachable_streak`,
    [site, firstMs / 1000, maxMs / 1000, toJsonb(message)],
  );
  return row?.unreachable_streak ?? 1;
}

/** Counts consecutive responses that show a configuration problem, with which no request can succeed. Returns the count. */
export async function noteMisconfigured(db: Queryable, site: SiteName, message: Message): Promise<number> {
  const [row] = await db.query<{ misconfigured_streak: number }>(
    `insert into site_state as s (site, misconfigured_streak, last_message) values ($1, 1, $2)
     on conflict (site) do update set misconfigured_streak = s.misconfigured_streak + 1, last_message = $2
     returning misconfigured_streak`,
    [site, toJsonb(message)],
  );
  return row?.misconfigured_streak ?? 1;
}

/**
 * Records that the site responded as it should; writes only if a failure was recorded.
 * @param address where the site did what was requested: becomes the site's own address if none is known yet.
 */
export async function noteReachable(db: Queryable, site: SiteName, address: string | undefined): Promise<void> {
  await db.query(
    `insert into site_state as s (site, address) values ($1, $2)
     on conflict (site) do update set unreachable_streak = 0, misconfigured_streak = 0,
       address = coalesce(s.address, excluded.address)
     where s.unreachable_streak > 0 or s.misconfigured_streak > 0 or (s.address is null and excluded.address is not null)`,
    [site, address],
  );
}

/**
 * The site has taken, or refused, the query with which its list is read past caches.
 * @returns whether it has taken it before, and whether it has refused it since for a day
 */
export async function noteListQuery(
  db: Queryable,
  site: SiteName,
  isTaken: boolean,
): Promise<{ readonly wasTaken: boolean; readonly isLasting: boolean }> {
  const [row] = await db.query<{ taken: boolean; lasting: boolean }>(
    `insert into site_state as s (site, list_query_taken_at, list_query_refused_at)
     values ($1, case when $2 then now() end, case when not $2 then now() end)
     on conflict (site) do update set list_query_taken_at = coalesce(excluded.list_query_taken_at, s.list_query_taken_at),
       list_query_refused_at = least(excluded.list_query_refused_at, case when not $2 then s.list_query_refused_at end)
     where not $2 or s.list_query_taken_at is null or s.list_query_refused_at is not null
     returning s.list_query_taken_at is not null as taken, s.list_query_refused_at < now() - interval '1 day' as lasting`,
    [site, isTaken],
  );
  return { wasTaken: row?.taken ?? true, isLasting: row?.lasting === true };
}

/** Lowest learnt rate. A site that wants less asks to wait again; 503 mostly means maintenance. */
const LEAST_RATE = { 429: 1 / 60, 503: 1 } as const;

export interface Throttling {
  readonly status: 429 | 503;
  /** How long nothing is sent. */
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
const SENT_BEFORE = `coalesce(s.rate_changed_at between clock_timestamp() - make_interval(secs => $6::float8 + 1)
  and clock_timestamp() + interval '1 minute', false)`;

/** Whether requests to the site need slots of a learnt rate. */
export const hasLearntRate = (db: Queryable, site: SiteName): Promise<boolean> =>
  returnsRow(db, 'select from site_state where site = $1 and learnt_rate is not null', [site]);

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
         rate_turns >= 5 and rate_changed_at not between clock_timestamp() - interval '30 seconds' and clock_timestamp() + ${FARTHEST_TURN} as grows,
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
