// Says who sends a request, and counts it: each token, user and unknown address may send so many a minute.
import type { IncomingMessage } from 'node:http';
import type { WebConfig } from '../../config/build/web-config.ts';
import { ProblemError } from '../problem.ts';
import type { Client } from './client.ts';
import { limiter } from './limits.ts';
import type { Sessions } from './sessions.ts';
import { type Visitor, visitorOf } from './visitor.ts';

/** `undefined`: nobody known. @throws {ProblemError} (on use) if they ask too often or a token is wrong */
export type ReadVisitor = (request: IncomingMessage, client: Client) => Promise<Visitor | undefined>;

const MINUTE_MS = 60_000;

export function visitorReader(config: WebConfig, sessions: Sessions): ReadVisitor {
  const limit = limiter(config.requestsPerMinute, MINUTE_MS);
  const count = (who: string): void => {
    const waitSeconds = limit.take(who);
    if (waitSeconds > 0) throw tooMany(waitSeconds);
  };
  return async (request, client) => {
    const visitor = await visitorOf(request, client, config, sessions).catch((error: unknown) => {
      // Guessed tokens count as well.
      if (error instanceof ProblemError) count(client.address);
      throw error;
    });
    count(visitor?.actor ?? client.address);
    return visitor;
  };
}

const tooMany = (waitSeconds: number): ProblemError =>
  new ProblemError({
    status: 429,
    detail: `too many requests; the next one is allowed in ${waitSeconds} s`,
    headers: { 'Retry-After': String(waitSeconds) },
  });
