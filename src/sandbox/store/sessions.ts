// Stores log-in sessions and finds their accounts. Only a hash of the cookie's secret is stored.
import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { newSecret } from '../passwords.ts';
import type { Account } from './accounts.ts';

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
