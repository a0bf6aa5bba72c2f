// Ensures that an account with the given e-mail address exists.
import { newSecret } from './passwords.ts';
import type { AccountStore } from './store/accounts.ts';

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
