// Stores accounts, and finds them by e-mail address, password or token.
import type { Pool } from 'pg';
import { hashPassword, newSecret, verifyPassword } from '../passwords.ts';

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
