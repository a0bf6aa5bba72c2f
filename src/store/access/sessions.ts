// Stores who is signed in to the pages. The database has only digests, so reading it lets nobody in.
import type { Queryable } from '../postgres/database.ts';

export interface WebSession {
  readonly user: string;
  /** Digest of the password hash that the user signed in with: another password ends the session. */
  readonly credential: Buffer;
}

/** Without a request for this long, a session ends; in any case some days after signing in. */
const IDLE = `interval '12 hours'`;
const LONGEST = `interval '7 days'`;
const ALIVE = `seen_at > now() - ${IDLE} and created_at > now() - ${LONGEST}`;
/** Not every request writes. */
const SEEN_ANEW = `interval '5 minutes'`;

/** @param digest of the session's secret */
export async function openSession(db: Queryable, digest: Buffer, { user, credential }: WebSession): Promise<void> {
  await db.query('insert into web_session (digest, user_name, credential) values ($1, $2, $3)', [
    digest,
    user,
    credential,
  ]);
}

/** `undefined`: there is none, or it has ended. */
export async function findSession(db: Queryable, digest: Buffer): Promise<WebSession | undefined> {
  const [row] = await db.query<WebSession & { readonly stale: boolean }>(
    `select user_name as "user", credential, seen_at < now() - ${SEEN_ANEW} as stale
     from web_session where digest = $1 and ${ALIVE}`,
    [digest],
  );
  if (row?.stale === true) await db.query('update web_session set seen_at = now() where digest = $1', [digest]);
  return row;
}

export async function endSession(db: Queryable, digest: Buffer): Promise<void> {
  await db.query(`delete from web_session where digest = $1 or not (${ALIVE})`, [digest]);
}
