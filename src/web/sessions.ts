// Signs users in and out: a random secret in a cookie, whose digest the database knows.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type CookieOptions, serialize } from 'hono/utils/cookie';
import { networkOf, type WebConfig, type WebUser } from '../config/build/web-config.ts';
import { verifyPassword } from '../config/password-hash.ts';
import { endSession, findSession, openSession } from '../store/access/sessions.ts';
import type { Queryable } from '../store/postgres/database.ts';
import type { Client } from './limits.ts';
import { contestedSlots, limiter } from './limits.ts';

const COOKIE = 'jobmirror_session';
const SECRET = /^[A-Za-z0-9_-]{43}$/;

export interface SignedIn {
  readonly name: string;
  readonly user: WebUser;
  /** What a form or a script must send along with each change. */
  readonly csrf: string;
}

export type SignInResult =
  | { readonly kind: 'signed_in'; readonly secret: string; readonly csrf: string }
  /** Wrong name or password. */
  | { readonly kind: 'wrong' }
  | { readonly kind: 'too_often'; readonly waitSeconds: number }
  /** So many others sign in that this attempt was not looked at. */
  | { readonly kind: 'busy'; readonly waitSeconds: number };

/** `cookies` is the `Cookie` header of a request. */
export interface Sessions {
  signIn(client: Client, name: string, password: string): Promise<SignInResult>;
  /** Whose session it is; `undefined`: nobody's, or those of several. */
  find(cookies: string): Promise<SignedIn | undefined>;
  /** Ends all sessions that it names. */
  end(cookies: string): Promise<void>;
}

const WRONG_ATTEMPTS = 10;
const WINDOW_MS = 15 * 60_000;
/** Hashing takes 32 MiB, a thread, and a quarter of a second. */
const HASHING = { atOnce: 2, waiting: 16, ofOne: 3 } as const;
const BUSY_SECONDS = 5;
/** A browser has one; somebody who sends more wants to keep the database busy. */
const MOST_COOKIES = 4;

export function sessionsFor(db: Queryable, { users }: WebConfig): Sessions {
  const byAddress = limiter(3 * WRONG_ATTEMPTS, WINDOW_MS);
  const byUser = limiter(WRONG_ATTEMPTS, WINDOW_MS);
  const hashing = contestedSlots(HASHING);
  return {
    async signIn({ address }, name, password) {
      const from = networkOf(address);
      const pair = JSON.stringify([from, name.slice(0, 100)]);
      const waitSeconds = byAddress.take(from) || byUser.take(pair);
      if (waitSeconds > 0) return { kind: 'too_often', waitSeconds };
      const giveBack = (): void => {
        byAddress.giveBack(from);
        byUser.giveBack(pair);
      };
      const release = await hashing.take(from);
      if (release === undefined) {
        giveBack();
        return { kind: 'busy', waitSeconds: BUSY_SECONDS };
      }
      const user = users.get(name);
      const fits = await verifyPassword(password, user?.passwordHash.reveal()).finally(release);
      if (!fits || user === undefined) return { kind: 'wrong' };
      giveBack();
      // Always a new secret: one that somebody planted in the browser is worth nothing.
      const secret = randomBytes(32).toString('base64url');
      await openSession(db, digestOf(secret), { user: name, credential: credentialOf(user) });
      return { kind: 'signed_in', secret, csrf: csrfOf(secret) };
    },
    async find(cookies) {
      const open: SignedIn[] = [];
      for (const secret of secretsIn(cookies)) {
        const session = await findSession(db, digestOf(secret));
        const user = session && users.get(session.user);
        if (user === undefined || !credentialOf(user).equals(session?.credential ?? Buffer.alloc(0))) continue;
        open.push({ name: session?.user ?? '', user, csrf: csrfOf(secret) });
      }
      // Another site of the same domain may have added the cookie of a session of its own.
      return open.length === 1 ? open[0] : undefined;
    },
    async end(cookies) {
      for (const secret of secretsIn(cookies)) await endSession(db, digestOf(secret));
    },
  };
}

/** The secrets of a `Cookie` header, each once. */
function secretsIn(cookies: string): readonly string[] {
  const values = cookies.split(';').flatMap((pair) => {
    const [name = '', value = ''] = pair.split('=', 2).map((part) => part.trim());
    return name === COOKIE && SECRET.test(value) ? [value] : [];
  });
  return [...new Set(values)].slice(0, MOST_COOKIES);
}

export const sameSecret = (given: string, expected: string): boolean =>
  timingSafeEqual(digestOf(given), digestOf(expected));

/** The value of `Set-Cookie`; without a secret it removes the cookie. */
export function sessionCookie(secret: string | undefined, { isSecure, prefix }: Client): string {
  const options: CookieOptions = { path: prefix || '/', httpOnly: true, sameSite: 'Strict', secure: isSecure };
  return serialize(COOKIE, secret ?? '', secret === undefined ? { ...options, maxAge: 0 } : options);
}

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();
const csrfOf = (secret: string): string => createHash('sha256').update(`csrf ${secret}`).digest('base64url');
const credentialOf = (user: WebUser): Buffer => digestOf(user.passwordHash.reveal());
