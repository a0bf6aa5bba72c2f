// Remembers the answers to requests with an Idempotency-Key for a day, so that a repeated request is answered without repeating its
// work.
import type { Database, Queryable } from '../postgres/database.ts';

/** The answer to a request. */
export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type RequestClaim =
  /** The first of its key: the caller does the work. */
  | { readonly kind: 'first' }
  | { readonly kind: 'answered'; readonly answer: StoredAnswer }
  | { readonly kind: 'running' }
  /** What became of it is not known: its process died or stands still, or could not store the answer. */
  | { readonly kind: 'unknown' }
  /** The key was used for another request. */
  | { readonly kind: 'other' };

/** Nobody answers it: a process that does renews its claim (see {@link renewClaim}). The parameter is in seconds. */
const isGivenUp = (parameter: string) => `claimed_at < clock_timestamp() - make_interval(secs => ${parameter})`;
const KEPT = `interval '1 day'`;

/**
 * @param request digest of method, path and body
 * @param mayRepeat whether its work may be done twice: then it is done again if what became of it is not known
 */
export async function claimRequest(
  db: Database,
  who: string,
  key: string,
  request: Buffer,
  mayRepeat = false,
): Promise<RequestClaim> {
  await db.query(`delete from web_request where claimed_at < now() - ${KEPT}`);
  const claimed = await db.query(
    'insert into web_request (who, key, request) values ($1, $2, $3) on conflict do nothing returning 1',
    [who, key, request],
  );
  if (claimed.length > 0) return { kind: 'first' };
  const [row] = await db.query<{ request: Buffer; over: boolean } & (StoredAnswer | { readonly status: null })>(
    `select request, status, headers, body, ${isGivenUp('$3')} as over
     from web_request where who = $1 and key = $2`,
    [who, key, db.lockTiming.staleAfterMs / 1000],
  );
  if (row === undefined) return { kind: 'running' };
  if (row.status === null) {
    if (!row.over) return { kind: 'running' };
    return { kind: !mayRepeat ? 'unknown' : (await claimAgain(db, who, key, request)) ? 'first' : 'running' };
  }
  return row.request.equals(request) ? { kind: 'answered', answer: row } : { kind: 'other' };
}

/** Returns false if another process was faster. */
async function claimAgain(db: Database, who: string, key: string, request: Buffer): Promise<boolean> {
  const claimed = await db.query(
    `update web_request set claimed_at = clock_timestamp(), request = $3
     where who = $1 and key = $2 and status is null and ${isGivenUp('$4')} returning 1`,
    [who, key, request, db.lockTiming.staleAfterMs / 1000],
  );
  return claimed.length > 0;
}

/** Shows, until the returned function is called, that this process still answers the request. */
export function renewClaim(db: Database, who: string, key: string): () => void {
  const renew = () =>
    db.query('update web_request set claimed_at = clock_timestamp() where who = $1 and key = $2 and status is null', [
      who,
      key,
    ]);
  // The next time may be in time if this one fails.
  const timer = setInterval(() => void renew().catch(() => undefined), db.lockTiming.keepAliveEveryMs);
  timer.unref();
  return () => clearInterval(timer);
}

export async function storeAnswer(db: Queryable, who: string, key: string, answer: StoredAnswer): Promise<void> {
  await db.query('update web_request set status = $3, headers = $4, body = $5 where who = $1 and key = $2', [
    who,
    key,
    answer.status,
    JSON.stringify(answer.headers),
    answer.body,
  ]);
}

/** The work failed in a way that may pass: the request may be repeated. */
export async function releaseRequest(db: Queryable, who: string, key: string): Promise<void> {
  await db.query('delete from web_request where who = $1 and key = $2', [who, key]);
}
