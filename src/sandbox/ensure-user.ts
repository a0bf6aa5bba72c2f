// Turns an e-mail address, and what is given of its password and token, into an account that is surely there.
import { newSecret } from './passwords.ts';
import type { AccountStore } from './store/accounts.ts';

/** An account that is there now. */
export interface EnsuredUser {
  readonly token: string;
  /** Only where it was made up here: nobody else knows it. */
  readonly password?: string;
}

const TAKEN = '23505';

/**
 * Makes the account unless it is there.
 * @param password absent: one that is there keeps its own, a new one gets a random one
 * @param token to be given this token instead of its own
 * @throws Error if it is there with another password, or another account has the token
 */
export async function ensureUser(
  accounts: AccountStore,
  email: string,
  password?: string,
  token?: string,
): Promise<EnsuredUser> {
  const chosen = password ?? newSecret();
  const made = await accounts.register(email, chosen);
  const account = made ?? (await (password === undefined ? accounts.byEmail(email) : accounts.logIn(email, password)));
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
