// Keeps which tokens a site refuses: a pause for 401 belongs to the token, and processes that hold another one go on.
import { createHmac } from 'node:crypto';
import { hostname } from 'node:os';
import type { SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

/** Hexadecimal digits that are kept: enough to tell tokens apart, too few to prove a guess of one. */
const DIGEST_LENGTH = 12;

/** What stands for a token in the database: tells nothing to who does not hold it, and differs between installations. */
export const tokenDigest = (installation: string, site: SiteName, token: string): string =>
  createHmac('sha256', installation).update(`${site}\0${token}`).digest('hex').slice(0, DIGEST_LENGTH);

/** The process that meets a refusal, for people. */
const noter = (): string => `process ${process.pid} on ${hostname()}`;

export interface RefusedToken {
  readonly digest: string;
  readonly since: Date;
  /** The process that met the refusal last. */
  readonly notedBy: string;
}

/** Tokens that the site refuses now, the first to be refused first. */
export async function refusedTokens(db: Queryable, site: SiteName): Promise<RefusedToken[]> {
  const rows = await db.query(
    `select digest, refused_since as since, noted_by as "notedBy" from refused_token
     where site = $1 and refused_since is not null order by refused_since, digest`,
    [site],
  );
  return rows as RefusedToken[];
}

/** When a token is tried again: first after `firstMs`, each time twice as late, `maxMs` at most. */
export interface ProbePace {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * Pauses the site for those who hold this token. One that is refused again soon after a probe went well is tried less
 * often: the probe proves too little there. Gives whether the pause is new.
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
       probes = case when ${LIFTED_OF_LATE} then t.probes + 1 else 0 end,
       next_probe = now() + make_interval(secs => case when ${LIFTED_OF_LATE}
         then least($6::float8, $5::float8 * power(2, least(t.probes + 1, 20))) else $5::float8 end)
     where t.refused_since is null returning site`,
    [site, digest, cause, noter(), firstMs / 1000, maxMs / 1000],
  );
  return rows.length > 0;
}

const LIFTED_OF_LATE = `t.changed_at > now() - interval '1 hour'`;

/**
 * Takes it upon this process to try the token, if it is due, so that of several that hold it one does.
 * @param atOnce though it is not due: a process that starts may have been told that the cause is gone.
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
    [site, digest, noter(), firstMs / 1000, maxMs / 1000, atOnce],
  );
  return rows.length > 0;
}

/** The site takes the token again: those who hold it go on. */
export async function acceptToken(db: Queryable, site: SiteName, digest: string): Promise<void> {
  await db.query(
    `update refused_token set refused_since = null, next_probe = null, changed_at = now()
     where site = $1 and digest = $2 and refused_since is not null`,
    [site, digest],
  );
}

/** A person has all tokens tried again. Gives whether any was refused. */
export async function forgetRefusedTokens(db: Queryable, site: SiteName): Promise<boolean> {
  const rows = await db.query<{ refused: boolean }>(
    'delete from refused_token where site = $1 returning refused_since is not null as refused',
    [site],
  );
  return rows.some(({ refused }) => refused);
}
