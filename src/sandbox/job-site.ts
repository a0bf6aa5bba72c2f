// What the XML interface and the pages of the site share: its data, settings, faults and request log, who sends a request, and the limit
// on guessed passwords.

import { createHash } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import type { Account, AccountStore, SessionStore } from './accounts.ts';
import type { FaultSwitch } from './interface/switchboard.ts';
import type { JobStore } from './jobs.ts';
import type { OpenRequest, RequestLog, SandboxLog } from './request-log.ts';
import type { SandboxSettings } from './settings.ts';

export interface JobSite {
  /** The current settings; they may change while the site runs. */
  settings(): SandboxSettings;
  readonly accounts: AccountStore;
  readonly sessions: SessionStore;
  readonly signIns: SignInLimit;
  readonly jobs: JobStore;
  readonly requests: RequestLog;
  readonly faults: FaultSwitch;
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

// Limits password guessing: counts wrong attempts per client address and account within 15 minutes.
// Not rate-limiter-flexible: its memory grows with every address that tries.

interface SignInLimit {
  /**
   * Begins an attempt. It counts as wrong until `recordSuccess`, so concurrent attempts count too.
   * @returns 0 if the attempt is allowed; otherwise the seconds to wait, and the attempt is not counted
   */
  begin(address: string, email: string): number;
  recordSuccess(address: string, email: string): void;
}

const WRONG_ATTEMPTS = 10;
const WINDOW_MS = 15 * 60_000;
/** Bounds the memory; the oldest entries are dropped first. */
const MAX_ENTRIES = 10_000;

interface Attempts {
  count: number;
  readonly endsAt: number;
}

/** @param now a monotonic clock, in milliseconds. */
export function createSignInLimit(now: () => number = () => performance.now()): SignInLimit {
  const wrong = new Map<string, Attempts>();
  const current = (key: string): Attempts | undefined => {
    const found = wrong.get(key);
    if (found === undefined || found.endsAt > now()) return found;
    wrong.delete(key);
    return undefined;
  };
  return {
    begin(address, email) {
      const key = keyOf(address, email);
      const found = current(key);
      if (found !== undefined) {
        if (found.count >= WRONG_ATTEMPTS) return Math.max(1, Math.ceil((found.endsAt - now()) / 1000));
        found.count++;
        return 0;
      }
      wrong.set(key, { count: 1, endsAt: now() + WINDOW_MS });
      for (const oldest of wrong.keys()) {
        if (wrong.size <= MAX_ENTRIES) break;
        wrong.delete(oldest);
      }
      return 0;
    },
    recordSuccess(address, email) {
      wrong.delete(keyOf(address, email));
    },
  };
}

/** A key of fixed length, whatever is entered. */
const keyOf = (address: string, email: string): string =>
  createHash('sha256')
    .update(JSON.stringify([address, email.trim().toLowerCase()]))
    .digest('base64');
