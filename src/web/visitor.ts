// Decides who sends a request and what they may do: a token, a signed-in user, or anyone on this machine if there are neither.
import type { IncomingMessage } from 'node:http';
import { isLoopback, type Role, type Scope, type WebConfig } from '../config/build/web-config.ts';
import type { Client } from './limits.ts';
import { ProblemError } from './problem.ts';
import { type Sessions, type SignedIn, sameSecret } from './sessions.ts';

export interface Visitor {
  /** For the audit: `anna`, `token hr`, `local`. */
  readonly actor: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Present for users of the pages. */
  readonly signedIn: SignedIn | undefined;
  /** A browser sends what it knows on its own, so changes need proof that our own page asked for them. */
  readonly byBrowser: boolean;
}

const SCOPES_OF: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: ['read'],
  reviewer: ['read', 'pull', 'review'],
  admin: ['read', 'pull', 'review', 'configure'],
};

/** Whether nobody has to sign in: no users and tokens are configured, so the address is on loopback. */
export const isOpen = ({ users, tokens }: WebConfig): boolean => users.size === 0 && tokens.size === 0;

/** `undefined`: nobody known. @throws {ProblemError} if a token is wrong, or the request came to a strange name */
export async function visitorOf(
  request: IncomingMessage,
  client: Client,
  config: WebConfig,
  sessions: Sessions,
): Promise<Visitor | undefined> {
  const { authorization, cookie = '' } = request.headers;
  if (isOpen(config)) {
    expectLocal(request, client);
    return LOCAL;
  }
  if (authorization !== undefined) return tokenVisitor(authorization, config);
  const signedIn = await sessions.find(cookie);
  if (signedIn === undefined) return undefined;
  return { actor: signedIn.name, scopes: new Set(SCOPES_OF[signedIn.user.role]), signedIn, byBrowser: true };
}

/** Headers of reverse proxies, which would let everyone in who can reach them. */
const OF_PROXIES = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-prefix',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-real-ip',
] as const;

/** The header by which a request shows that a proxy passed it on. */
export const headerOfProxy = ({ headers }: IncomingMessage): string | undefined =>
  OF_PROXIES.find((name) => headers[name] !== undefined);

/** Whether a `Host` header names this machine. A page elsewhere may have its own name point at it (DNS rebinding). */
export const isOwnHostName = (host: string): boolean => isLoopback(host.replace(/:\d+$/, ''));

function expectLocal(request: IncomingMessage, { host }: Client): void {
  const proxied = headerOfProxy(request);
  if (proxied !== undefined) {
    const detail = `the request came through a proxy (${proxied}), which needs web.users or web.tokens; configure them`;
    throw new ProblemError({ status: 403, detail });
  }
  if (isOwnHostName(host)) return;
  throw new ProblemError({
    status: 403,
    detail: `without users and tokens, requests must be sent to this machine by the name localhost or 127.0.0.1, not ${host}; configure web.users or web.tokens`,
  });
}

/** Any user of this machine, who must not read files or variables of jobmirror's user by a feed. */
const LOCAL: Visitor = {
  actor: 'local',
  scopes: new Set(SCOPES_OF.reviewer),
  signedIn: undefined,
  byBrowser: true,
};

function tokenVisitor(authorization: string, { tokens }: WebConfig): Visitor {
  const [, given = ''] = /^Bearer ([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization) ?? [];
  // Compares with every token, so that the time says nothing.
  const fitting = [...tokens].filter(([, { token }]) => sameSecret(given, token.reveal()));
  const [name, found] = fitting[0] ?? [];
  if (found === undefined) throw new ProblemError(unauthorized('the token is not known', 'invalid_token'));
  return { actor: `token ${name}`, scopes: found.scopes, signedIn: undefined, byBrowser: false };
}

export const unauthorized = (detail: string, error?: string) =>
  ({
    status: 401,
    detail,
    headers: { 'WWW-Authenticate': `Bearer realm="jobmirror"${error === undefined ? '' : `, error="${error}"`}` },
  }) as const;

/**
 * Refuses a change that a browser may have sent for another page.
 * @param csrf what the request proves with; `undefined`: nothing
 */
export function expectOwnPage(
  { headers }: IncomingMessage,
  client: Client,
  { byBrowser, signedIn }: Visitor,
  csrf: string | undefined,
): void {
  if (!byBrowser) return;
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  // Programs without a session send no origin; every browser sends it with a change.
  const isForeign = origin === undefined ? signedIn !== undefined : origin.toLowerCase() !== client.origin;
  if (isForeign || (site !== undefined && site !== 'same-origin' && site !== 'none')) {
    throw new ProblemError({
      status: 403,
      detail: 'the request came from another page; changes are accepted from our own only',
    });
  }
  if (signedIn !== undefined && !sameSecret(csrf ?? '', signedIn.csrf)) {
    const detail = 'the CSRF token is missing or wrong; send that of your session as X-CSRF-Token, or reload the page';
    throw new ProblemError({ status: 403, detail });
  }
}
