// Stores which tokens a site refuses: a pause after a 401 applies to the token, so processes with another one continue.
import { createHmac } from 'node:crypto';
import { hostname } from 'node:os';
import type { SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

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
export async function refusedTokens(db: Queryable, site: SiteName): Promise<RefusedToken[]> {
  const rows = await db.query(
    `select digest, refused_since as since, noted_by as "notedBy" from refused_token
     where site = $1 and refused_since is not null order by refused_since, digest`,
    [site],
  );
  return rows as RefusedToken[];
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
  const rows = await db.query(
    `insert into refused_token as t (site, digest, refused_since, cause, noted_by, next_probe)
     values ($1, $2, now(), $3, $4, now() + make_interval(secs => $5))
     on conflict (site, digest) do update set refused_since = now(), cause = $3, noted_by = $4, changed_at = now(),
       probes = case when ${RECENTLY_ACCEPTED} then t.probes + 1 else 0 end,
       next_probe = now() + make_interval(secs => case when ${RECENTLY_ACCEPTED}
         then least($6::float8, $5::float8 * power(2, least(t.probes + 1, 20))) else $5::float8 end)
     where t.refused_since is null returning site`,
    [site, digest, cause, thisProcess(), firstMs / 1000, maxMs / 1000],
  );
  return rows.length > 0;
}

const RECENTLY_ACCEPTED = `t.changed_at > now() - interval '1 hour'`;

/**
 * Reserves the probe of a token for this process if it is due, so that only one of its holders tries it.
 * @param atOnce even if it is not due: a process that starts may have been restarted because the cause is fixed.
 */
export async function takeTokenProbe(
  db: Queryable,
  site: SiteName,
  digest: string,
  { firstMs, maxMs }: ProbePace,
  atOnce = false,
): Promise<boolean> {
  const rows = await db.query(
    `update refused_token set probes = probes + 1, noted_by = $3, changed_at = now(),
       next_probe = now() + make_interval(secs => least($5::float8, $4::float8 * power(2, least(probes + 1, 20))))
     where site = $1 and digest = $2 and refused_since is not null and (next_probe <= now() or $6) returning site`,
    [site, digest, thisProcess(), firstMs / 1000, maxMs / 1000, atOnce],
  );
  return rows.length > 0;
}

/** The site accepts the token again: its holders continue. */
export async function acceptToken(db: Queryable, site: SiteName, digest: string): Promise<void> {
  await db.query(
    `update refused_token set refused_since = null, next_probe = null, changed_at = now()
     where site = $1 and digest = $2 and refused_since is not null`,
    [site, digest],
  );
}

/** A person wants all tokens tried again. Returns whether any was refused. */
export async function forgetRefusedTokens(db: Queryable, site: SiteName): Promise<boolean> {
  const rows = await db.query<{ refused: boolean }>(
    'delete from refused_token where site = $1 returning refused_since is not null as refused',
    [site],
  );
  return rows.some(({ refused }) => refused);
}
