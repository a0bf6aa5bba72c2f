// Stores accounts and their log-in sessions, and finds accounts by e-mail address, password, token or session.
// Passwords are hashed with salted scrypt; of a session's cookie only a hash is stored.
import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import type { Pool } from 'pg';

/** Every request has the rights of the account that owns its token (site-interface.md, section 5, rule 7). */
export interface Account {
  readonly id: number;
  readonly email: string;
}

export interface AccountStore {
  /** `undefined`: the address is taken. */
  register(email: string, password: string): Promise<Account | undefined>;
  /** `undefined`: no such account, or a wrong password. */
  logIn(email: string, password: string): Promise<Account | undefined>;
  /** The account that owns the token. An old token is unknown as soon as its change is stored. */
  byToken(token: string): Promise<Account | undefined>;
  byId(id: number): Promise<Account | undefined>;
  byEmail(email: string): Promise<Account | undefined>;
  /** @throws Error if the account does not exist */
  tokenOf(id: number): Promise<string>;
  /** Sets the password, and with it a new token (site-interface.md, section 5, rule 5); ends the account's sessions. */
  changePassword(id: number, password: string): Promise<string>;
  /** Gives the account this token instead of its own, for set-ups that must know it in advance. */
  setToken(id: number, token: string): Promise<void>;
}

/** The cache is emptied when it holds this many tokens. */
const MAX_REMEMBERED_TOKENS = 1_000;

const tidy = (email: string): string => email.trim().toLowerCase();

export function openAccounts(pool: Pool): AccountStore {
  const remembered = new Map<string, Account>();
  // A look-up that began before a token change must not cache the old token: it compares this number before and after.
  let changes = 0;
  const forget = (): void => {
    changes += 1;
    remembered.clear();
  };
  const one = async (condition: string, value: string | number): Promise<Account | undefined> =>
    (await pool.query<Account>(`select id, email from sandbox.account where ${condition} = $1`, [value])).rows[0];

  return {
    byId: (id) => one('id', id),
    byEmail: (email) => one('email', tidy(email)),

    async register(email, password) {
      const { rows } = await pool.query<Account>(
        `insert into sandbox.account (email, password_hash, token) values ($1, $2, $3)
         on conflict (email) do nothing returning id, email`,
        [tidy(email), await hashPassword(password), newSecret()],
      );
      return rows[0];
    },

    async logIn(email, password) {
      const { rows } = await pool.query<Account & { password_hash: string }>(
        'select id, email, password_hash from sandbox.account where email = $1',
        [tidy(email)],
      );
      const [found] = rows;
      return (await verifyPassword(password, found?.password_hash)) && found
        ? { id: found.id, email: found.email }
        : undefined;
    },

    async byToken(token) {
      const known = remembered.get(token);
      if (known) return known;
      const begun = changes;
      const account = await one('token', token);
      if (account && begun === changes) {
        if (remembered.size >= MAX_REMEMBERED_TOKENS) remembered.clear();
        remembered.set(token, account);
      }
      return account;
    },

    async tokenOf(id) {
      const { rows } = await pool.query<{ token: string }>('select token from sandbox.account where id = $1', [id]);
      if (!rows[0]) throw new Error(`the sandbox has no account ${id}`);
      return rows[0].token;
    },

    async changePassword(id, password) {
      const token = newSecret();
      const hash = await hashPassword(password);
      await pool.query(
        `with ended as (delete from sandbox.session where account_id = $1)
         update sandbox.account set password_hash = $2, token = $3 where id = $1`,
        [id, hash, token],
      );
      forget();
      return token;
    },

    async setToken(id, token) {
      await pool.query('update sandbox.account set token = $2 where id = $1', [id, token]);
      forget();
    },
  };
}

/** How long a log-in lasts, in seconds: two weeks. */
export const SESSION_SECONDS = 14 * 24 * 60 * 60;

export interface SessionStore {
  /** Starts a session; returns the secret for the cookie. */
  begin(accountId: number): Promise<string>;
  find(secret: string): Promise<Account | undefined>;
  end(secret: string): Promise<void>;
}

const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

export function openSessions(pool: Pool): SessionStore {
  return {
    async begin(accountId) {
      const secret = newSecret();
      await pool.query(
        `with expired as (delete from sandbox.session where expires_at < now())
         insert into sandbox.session (id_hash, account_id, expires_at) values ($1, $2, now() + make_interval(secs => $3))`,
        [hashOf(secret), accountId, SESSION_SECONDS],
      );
      return secret;
    },
    async find(secret) {
      const { rows } = await pool.query<Account>(
        `select account.id, account.email from sandbox.session join sandbox.account on account.id = session.account_id
         where session.id_hash = $1 and session.expires_at > now()`,
        [hashOf(secret)],
      );
      return rows[0];
    },
    async end(secret) {
      await pool.query('delete from sandbox.session where id_hash = $1', [hashOf(secret)]);
    },
  };
}

// Hashes passwords with salted scrypt, and generates random secrets.

const SALT_BYTES = 16;
const HASH_BYTES = 32;

const derive = (password: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, (error, key) => (error ? reject(error) : resolve(key)));
  });

/** A hash to store: `salt:hash`, both Base64. */
async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return `${salt.toString('base64')}:${(await derive(password, salt)).toString('base64')}`;
}

/**
 * Whether the password matches the hash.
 * @param stored the result of {@link hashPassword}; `undefined` (no such account) takes as long and never matches
 */
async function verifyPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [salt = '', hash = ''] = stored?.split(':') ?? [];
  const expected = Buffer.from(hash, 'base64');
  const actual = await derive(password, Buffer.from(salt, 'base64'));
  return expected.length === HASH_BYTES && timingSafeEqual(actual, expected);
}

/** A new secret of 160 random bits, in characters that need no escaping in headers, URLs or forms. */
const newSecret = (): string => randomBytes(20).toString('hex');

/** An existing account. */
export interface EnsuredUser {
  readonly token: string;
  /** Present only if it was generated here, as nobody else knows it. */
  readonly password?: string;
}

const TAKEN = '23505';

/**
 * Creates the account unless it exists.
 * @param password absent: an existing account keeps its password, a new one gets a random one
 * @param token replaces the account's own token
 * @throws Error if the account exists with another password, or another account has the token
 */
export async function ensureUser(
  accounts: AccountStore,
  email: string,
  password?: string,
  token?: string,
): Promise<EnsuredUser> {
  // Hashing a password takes long, so an account whose password does not matter is looked for first.
  const existing = password === undefined ? await accounts.byEmail(email) : undefined;
  const chosen = password ?? newSecret();
  const made = existing === undefined ? await accounts.register(email, chosen) : undefined;
  const account =
    existing ?? made ?? (await (password === undefined ? accounts.byEmail(email) : accounts.logIn(email, password)));
  if (!account) throw new Error(`the sandbox has an account ${email} already, with another password`);
  if (token !== undefined) {
    await accounts.setToken(account.id, token).catch((cause: unknown) => {
      if ((cause as { code?: unknown }).code !== TAKEN) throw cause;
      throw new Error(`another account of the sandbox has the token that ${email} was to get`, { cause });
    });
  }
  const known = { token: await accounts.tokenOf(account.id) };
  return made && password === undefined ? { ...known, password: chosen } : known;
}
