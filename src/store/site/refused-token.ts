// Stores which tokens a site refuses and accepts: a pause after a 401 applies to the token, so processes with another one continue.
import { createHmac } from 'node:crypto';
import { hostname } from 'node:os';
import type { SiteName } from '../../posting/identifiers.ts';
import { type Queryable, returnsRow } from '../postgres/database.ts';

/** Number of hexadecimal digits kept: enough to tell tokens apart, too few to confirm a guess. */
const DIGEST_LENGTH = 12;

/** Digest that represents a token in the database: reveals nothing about it, and differs between installations. */
export const tokenDigest = (installation: string, site: SiteName, token: string): string =>
  createHmac('sha256', installation).update(`${site}\0${token}`).digest('hex').slice(0, DIGEST_LENGTH);

/** The process that records a refusal, as text for people. */
const thisProcess = (): string => `process ${process.pid} on ${hostname()}`;

export interface RefusedToken {
  readonly digest: string;
  readonly since: Date;
  /** The process that last saw the refusal. */
  readonly notedBy: string;
}

/** Tokens that the site refuses now, longest refused first. */
export function refusedTokens(db: Queryable, site: SiteName): Promise<RefusedToken[]> {
  return db.query<RefusedToken>(
    `select digest, refused_since as since, noted_by as "notedBy" from refused_token
     where site = $1 and refused_since is not null order by refused_since, digest`,
    [site],
  );
}

/** When a refused token is tried again: first after `firstMs`, then at doubling intervals of at most `maxMs`. */
export interface ProbePace {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * Pauses the site for holders of this token. A token that is refused again soon after a successful probe is tried less often,
 * as the probe proved little. Returns whether the pause is new.
 */
export async function refuseToken(
  db: Queryable,
  site: SiteName,
  digest: string,
  cause: string,
  { firstMs, maxMs }: ProbePace,
): Promise<boolean> {
  const again = await db.query(
    `update refused_token set refused_at = clock_timestamp() where site = $1 and digest = $2 and refused_since is not null
     returning site`,
    [site, digest],
  );
  if (again.length > 0) return false;
  return returnsRow(
    db,
    `insert into refused_token as t (site, digest, refused_since, refused_at, cause, noted_by, next_probe)
     values ($1, $2, now(), clock_timestamp(), $3, $4, now() + make_interval(secs => $5))
     on conflict (site, digest) do update set refused_since = now(), refused_at = clock_timestamp(), cause = $3, noted_by = $4,
       changed_at = now(),
       probes = case when ${RECENTLY_ACCEPTED} then t.probes + 1 else 0 end,
       next_probe = now() + make_interval(secs => case when ${RECENTLY_ACCEPTED}
         then least($6::float8, $5::float8 * power(2, least(t.probes + 1, 20))) else $5::float8 end)
     where t.refused_since is null returning site`,
    [site, digest, cause, thisProcess(), firstMs / 1000, maxMs / 1000],
  );
}

const RECENTLY_ACCEPTED = `t.changed_at > now() - interval '1 hour'`;

/**
 * Reserves the probe of a token for this process if it is due, so that only one of its holders tries it.
 * @param atOnce even if it is not due: a process that starts may have been restarted because the cause is fixed.
 */
export const takeTokenProbe = (
  db: Queryable,
  site: SiteName,
  digest: string,
  { firstMs, maxMs }: ProbePace,
  atOnce = false,
): Promise<boolean> =>
  returnsRow(
    db,
    `update refused_token set probes = probes + 1, noted_by = $3, changed_at = now(),
       next_probe = now() + make_interval(secs => least($5::float8, $4::float8 * power(2, least(probes + 1, 20))))
     where site = $1 and digest = $2 and refused_since is not null and (next_probe <= now() or $6) returning site`,
    [site, digest, thisProcess(), firstMs / 1000, maxMs / 1000, atOnce],
  );

/** The holders of a refused token continue: the site answers a request with it again. That proves nothing about what the token may do. */
export async function tryTokenAgain(db: Queryable, site: SiteName, digest: string): Promise<void> {
  await db.query(
    `update refused_token set refused_since = null, next_probe = null, changed_at = now()
     where site = $1 and digest = $2 and refused_since is not null`,
    [site, digest],
  );
}

/**
 * The site has accepted a request that needs the token, sent `msAgo`. One that was sent before the token was last refused proves nothing.
 * Otherwise its holders continue if they were paused.
 */
export async function noteAcceptedToken(db: Queryable, site: SiteName, digest: string, msAgo: number): Promise<void> {
  await db.query(
    `insert into refused_token as t (site, digest, accepted_at)
     values ($1, $2, clock_timestamp() - make_interval(secs => $3))
     on conflict (site, digest) do update set accepted_at = excluded.accepted_at, refused_since = null, next_probe = null,
       changed_at = case when t.refused_since is null then t.changed_at else now() end
     where excluded.accepted_at > coalesce(greatest(t.accepted_at, t.refused_at), '-infinity')`,
    [site, digest, msAgo / 1000],
  );
}

/** What is known of a token. */
export interface TokenHistory {
  /** When the newest request was sent that the site accepted since it last refused the token; `undefined`: none was. */
  readonly acceptedAt: Date | undefined;
  readonly refusedAt: Date | undefined;
  /** Whether the site has jobs of ours, as far as is known. */
  readonly hasJobs: boolean;
}

export async function tokenHistory(db: Queryable, site: SiteName, digest: string): Promise<TokenHistory> {
  const [row] = await db.query<{ accepted: Date | null; refused: Date | null; has_jobs: boolean }>(
    `select case when accepted_at > coalesce(refused_at, '-infinity') then accepted_at end as accepted, refused_at as refused,
       exists (select from mapping m where m.site = $1) as has_jobs
     from (select 1) one left join refused_token t on t.site = $1 and t.digest = $2`,
    [site, digest],
  );
  return {
    acceptedAt: row?.accepted ?? undefined,
    refusedAt: row?.refused ?? undefined,
    hasJobs: row?.has_jobs === true,
  };
}

/**
 * A person wants all tokens tried again. When the site refused them stays known: only what it accepts since shows that it accepts them.
 * Returns whether any was refused.
 */
export const forgetRefusals = (db: Queryable, site: SiteName): Promise<boolean> =>
  returnsRow(
    db,
    `update refused_token set refused_since = null, next_probe = null, probes = 0, changed_at = now() - interval '1 hour'
     where site = $1 and refused_since is not null returning site`,
    [site],
  );
