// Who may see what of one process: the reader of clients, sessions and visitors, and who may read health and metrics.
import type { IncomingMessage } from 'node:http';
import { isLoopbackAddress, plainAddress, type WebConfig } from '../config/build/web-config.ts';
import type { Secret } from '../config/read-secret.ts';
import type { MayMonitor } from '../runtime/http/serve.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { type Client, clientReader, limiter, type ReadClient } from './limits.ts';
import { ProblemError } from './problem.ts';
import { type Sessions, sameSecret, sessionsFor } from './sessions.ts';
import { headerOfProxy, isOpen, isOwnHostName, type Visitor, visitorOf } from './visitor.ts';

export interface Access {
  readonly readClient: ReadClient;
  readonly sessions: Sessions;
  readonly readVisitor: ReadVisitor;
  readonly mayMonitor: MayMonitor;
}

export function accessTo(
  db: Queryable,
  { web, metricsToken }: { readonly web: WebConfig; readonly metricsToken: Secret | undefined },
): Access {
  const readClient = clientReader(web.trustedProxies);
  const sessions = sessionsFor(db, web);
  const readVisitor = visitorReader(web, sessions);
  const mayRead = async (request: IncomingMessage): Promise<boolean> =>
    (await readVisitor(request, readClient(request)))?.scopes.has('read') === true;
  return {
    readClient,
    sessions,
    readVisitor,
    async mayMonitor(request, what) {
      const token = metricsToken?.reveal();
      const [, given = ''] = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '') ?? [];
      if (token !== undefined && sameSecret(given, token)) return undefined;
      const needsToken = what === 'metrics' && token !== undefined;
      if (!needsToken && isFromHere(request)) return undefined;
      if (isOpen(web)) return token === undefined ? NOT_FROM_HERE : UNKNOWN;
      try {
        return (await mayRead(request)) ? undefined : UNKNOWN;
      } catch (error) {
        if (!(error instanceof ProblemError)) throw error;
        const { status, detail, headers = {} } = error.problem;
        return { status, reason: detail, headers };
      }
    },
  };
}

/** Sent on this machine to this machine, not passed on by a proxy. Monitors of HTTP/1.0 send no `Host`; browsers always do. */
const isFromHere = (request: IncomingMessage): boolean =>
  isLoopbackAddress(plainAddress(request.socket.remoteAddress ?? '')) &&
  headerOfProxy(request) === undefined &&
  isOwnHostName(request.headers.host ?? 'localhost');

const NOT_FROM_HERE = {
  status: 403,
  reason:
    'health and metrics are not served beyond this machine, nor through a proxy, without a token: set metrics.token in the configuration, and let the monitor send it (authorization: credentials)',
  headers: {},
};

const UNKNOWN = {
  status: 401,
  reason: 'send the token of metrics.token, or one of web.tokens with the scope read, as "Authorization: Bearer TOKEN"',
  headers: { 'WWW-Authenticate': 'Bearer' },
};

// Says who sends a request, and counts it: each token, user and unknown address may send so many a minute.

/** `undefined`: nobody known. @throws {ProblemError} (on use) if they ask too often or a token is wrong */
type ReadVisitor = (request: IncomingMessage, client: Client) => Promise<Visitor | undefined>;

const MINUTE_MS = 60_000;

function visitorReader(config: WebConfig, sessions: Sessions): ReadVisitor {
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
