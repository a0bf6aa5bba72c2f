// What the XML interface and the pages of the site share: its data, settings, faults and request log, and who sends a request.
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import type { Account, AccountStore, SessionStore } from './accounts.ts';
import type { Switchboard } from './interface/switchboard.ts';
import type { JobStore } from './jobs.ts';
import type { OpenRequest, RequestLog, SandboxLog } from './request-log.ts';
import type { SandboxSettings } from './settings.ts';
import type { SignInLimit } from './sign-in-limit.ts';

export interface JobSite {
  /** The current settings; they may change while the site runs. */
  settings(): SandboxSettings;
  readonly accounts: AccountStore;
  readonly sessions: SessionStore;
  readonly signIns: SignInLimit;
  readonly jobs: JobStore;
  readonly requests: RequestLog;
  readonly faults: Switchboard;
  readonly log: SandboxLog;
  /** Aborted when the sandbox closes. */
  readonly closing: AbortSignal;
  refuseConnections(ms: number): void;
}

/** Hono's environment of each request. */
export interface SiteEnv {
  Bindings: HttpBindings;
  Variables: {
    /** The requester; absent: an anonymous visitor. */
    account?: Account;
    /** The entry in the request log; only requests of the XML interface have one. */
    request: OpenRequest;
    /** The body, once it is being read; `too-large` if it exceeds the limit. */
    body?: Promise<Uint8Array | 'too-large'>;
  };
}

// Authenticates requests by Authorization header or session cookie (site-interface.md, section 5).

/** The name of the session cookie. */
export const SESSION_COOKIE = 'sandbox_session';

/** The requester. `wrong`: the credentials match no account. */
export type Identity =
  | { readonly kind: 'account'; readonly account: Account }
  | { readonly kind: 'visitor' }
  | { readonly kind: 'wrong' };

/**
 * Identifies the requester.
 * @param c the request; its cookie is used only if `cookies` is true
 */
export async function identify(c: Context<SiteEnv>, site: JobSite, cookies: boolean): Promise<Identity> {
  const header = c.req.header('authorization');
  if (header !== undefined) {
    const token = tokenOf(header);
    const account = token && (await site.accounts.byToken(token));
    return account ? { kind: 'account', account } : { kind: 'wrong' };
  }
  const secret = cookies ? getCookie(c, SESSION_COOKIE) : undefined;
  const account = secret && (await site.sessions.find(secret));
  return account ? { kind: 'account', account } : { kind: 'visitor' };
}

/** The user-name part of Basic credentials; the password part is ignored (section 5, rules 2 and 3). */
function tokenOf(header: string): string | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(header) ?? [];
  const token = encoded && Buffer.from(encoded, 'base64').toString('utf8').split(':', 1)[0];
  // A token never contains characters that the database cannot store.
  return token?.includes('\0') ? undefined : token;
}
