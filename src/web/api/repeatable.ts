// Answers a repeated request with the same Idempotency-Key from the first one's answer.
import { createHash } from 'node:crypto';
import { claimRequest, releaseRequest, renewClaim, storeAnswer } from '../../store/access/repeated-requests.ts';
import type { Database } from '../../store/postgres/database.ts';
import { badRequest, ProblemError } from '../problem.ts';

const KEY = /^[\x21-\x7e][\x20-\x7e]{0,254}$/;

export interface RepeatableRequest {
  readonly who: string;
  /** The value of the header; `undefined`: there is none, and the work is done each time. */
  readonly key: string | undefined;
  /** Method and path. */
  readonly target: string;
  readonly body: Buffer;
  /** Its work may be done twice, and whoever repeats it can't use another key: done again if what became of it is not known. */
  readonly mayRepeat?: boolean;
}

/** Does the work once. Answers of errors that may pass are not kept. */
export async function once(
  db: Database,
  { who, key, target, body, mayRepeat }: RepeatableRequest,
  answer: () => Promise<Response>,
): Promise<Response> {
  if (key === undefined) return answer();
  if (!KEY.test(key)) {
    throw badRequest([{ where: 'header.Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' }]);
  }
  const request = createHash('sha256').update(`${target}\n`).update(body).digest();
  const claim = await claimRequest(db, who, key, request, mayRepeat);
  switch (claim.kind) {
    case 'answered':
      return new Response(claim.answer.body, {
        status: claim.answer.status,
        headers: { ...claim.answer.headers, 'Idempotent-Replayed': 'true' },
      });
    case 'running':
      throw new ProblemError({
        status: 409,
        detail: 'a request with this Idempotency-Key is being answered right now; repeat it later',
        headers: { 'Retry-After': '1' },
      });
    case 'unknown':
      // Not done again: it may have been done, and what it would act on now may be something else.
      throw new ProblemError({
        status: 409,
        detail:
          'what became of the request with this Idempotency-Key is not known; look at what it was about, ' +
          'and if it is still to be done, send it with a new key',
      });
    case 'other':
      throw new ProblemError({
        status: 422,
        detail: 'this Idempotency-Key was used for another request; use a new one for each request',
      });
    case 'first':
      return keep(db, who, key, answer);
    default:
      return claim satisfies never;
  }
}

async function keep(db: Database, who: string, key: string, answer: () => Promise<Response>): Promise<Response> {
  const stopRenewing = renewClaim(db, who, key);
  try {
    const response = await answer().catch(async (error: unknown) => {
      await releaseRequest(db, who, key).catch(() => undefined);
      throw error;
    });
    const text = await response.text();
    const headers = Object.fromEntries(response.headers);
    // Not released if this fails: the work is done, and a repeated request must not do it at once again.
    await storeAnswer(db, who, key, { status: response.status, headers, body: text });
    return new Response(text, { status: response.status, headers });
  } finally {
    stopRenewing();
  }
}
