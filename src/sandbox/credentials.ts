// Authenticates requests by Authorization header or session cookie (site-interface.md, section 5).
import type { Context } from 'hono';
import { getCookie } from 'hono/cookie';
import type { JobSite, SiteEnv } from './job-site.ts';
import type { Account } from './store/accounts.ts';

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
