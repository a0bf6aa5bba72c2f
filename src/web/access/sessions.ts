// Signs users in and out: a random secret in a cookie, whose digest the database knows.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { type CookieOptions, serialize } from 'hono/utils/cookie';
import type { WebConfig, WebUser } from '../../config/build/web-config.ts';
import { verifyPassword } from '../../config/password-hash.ts';
import { semaphoreFor } from '../../flow/semaphore.ts';
import { endSession, findSession, openSession } from '../../store/access/sessions.ts';
import type { Queryable } from '../../store/postgres/database.ts';
import type { Client } from './client.ts';
import { limiter } from './limits.ts';

export const COOKIE = 'jobmirror_session';
const SECRET = /^[A-Za-z0-9_-]{43}$/;

export interface SignedIn {
  readonly name: string;
  readonly user: WebUser;
  /** What a form or a script must send along with each change. */
  readonly csrf: string;
}

export type SignInResult =
  | { readonly kind: 'signed_in'; readonly secret: string }
  /** Wrong name or password. */
  | { readonly kind: 'wrong' }
  | { readonly kind: 'too_often'; readonly waitSeconds: number };

export interface Sessions {
  signIn(client: Client, name: string, password: string): Promise<SignInResult>;
  /** Whose session it is; `undefined`: nobody's. */
  find(secret: string | undefined): Promise<SignedIn | undefined>;
  end(secret: string | undefined): Promise<void>;
}

const WRONG_ATTEMPTS = 10;
const WINDOW_MS = 15 * 60_000;
/** Hashing takes 32 MiB and a thread. */
const HASHED_AT_ONCE = 2;

export function sessionsFor(db: Queryable, { users }: WebConfig): Sessions {
  const byAddress = limiter(3 * WRONG_ATTEMPTS, WINDOW_MS);
  const byUser = limiter(WRONG_ATTEMPTS, WINDOW_MS);
  const hashing = semaphoreFor(HASHED_AT_ONCE);
  return {
    async signIn({ address }, name, password) {
      const from = networkOf(address);
      const pair = JSON.stringify([from, name.slice(0, 100)]);
      const waitSeconds = byAddress.take(from) || byUser.take(pair);
      if (waitSeconds > 0) return { kind: 'too_often', waitSeconds };
      const user = users.get(name);
      const release = await hashing.take();
      const fits = await verifyPassword(password, user?.passwordHash.reveal()).finally(() => release?.());
      if (!fits || user === undefined) return { kind: 'wrong' };
      byAddress.giveBack(from);
      byUser.giveBack(pair);
      // Always a new secret: one that somebody planted in the browser is worth nothing.
      const secret = randomBytes(32).toString('base64url');
      await openSession(db, digestOf(secret), { user: name, credential: credentialOf(user) });
      return { kind: 'signed_in', secret };
    },
    async find(secret) {
      if (secret === undefined || !SECRET.test(secret)) return undefined;
      const session = await findSession(db, digestOf(secret));
      const user = session && users.get(session.user);
      if (user === undefined || !credentialOf(user).equals(session?.credential ?? Buffer.alloc(0))) return undefined;
      return { name: session?.user ?? '', user, csrf: csrfOf(secret) };
    },
    async end(secret) {
      if (secret !== undefined && SECRET.test(secret)) await endSession(db, digestOf(secret));
    },
  };
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

/** Somebody with an IPv6 address usually has the whole network of 64 bits. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.split('::', 2);
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const zeros = address.includes('::') ? 8 - groups(head).length - groups(tail).length : 0;
  return [...groups(head), ...Array<string>(Math.max(0, zeros)).fill('0'), ...groups(tail)].slice(0, 4).join(':');
}
