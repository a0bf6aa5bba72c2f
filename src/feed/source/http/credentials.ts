// Applies the credentials of a source to a request: the Authorization header, and a key in the query.
import { accessTokenFor, basic, forgetAccessToken } from './access-token.ts';
import type { Headers, HttpConditions } from './exchange.ts';
import type { Authorization, HttpConfig } from './http-config.ts';

/** The headers that only the configured origin may see. Throws `BrokenOff` if there is no access token. */
export async function secretHeaders(
  { url, headers, credentials }: HttpConfig,
  conditions: HttpConditions,
): Promise<Headers> {
  const authorization = await authorizationOf(new URL(url), credentials?.authorization, conditions);
  const secret: Headers = authorization === undefined ? {} : { authorization };
  for (const [name, value] of Object.entries(headers)) secret[name.toLowerCase()] = value.reveal();
  return secret;
}

async function authorizationOf(
  url: URL,
  authorization: Authorization | undefined,
  conditions: HttpConditions,
): Promise<string | undefined> {
  if (authorization === undefined) {
    if (url.username === '' && url.password === '') return undefined;
    return basic(decodeURIComponent(url.username), decodeURIComponent(url.password));
  }
  switch (authorization.kind) {
    case 'basic':
      return basic(authorization.user.reveal(), authorization.password?.reveal() ?? '');
    case 'bearer':
      return `Bearer ${authorization.token.reveal()}`;
    case 'oauth2':
      return `Bearer ${await accessTokenFor(authorization, conditions)}`;
    default:
      return authorization satisfies never;
  }
}

/** Whether a refused request may succeed with another access token; the refused one is forgotten. */
export function mayRenew({ credentials }: HttpConfig): boolean {
  if (credentials?.authorization?.kind !== 'oauth2') return false;
  forgetAccessToken(credentials.authorization);
  return true;
}

/** The address with the key in its query, unless the address has one already. */
export function withKey(url: URL, { credentials }: HttpConfig): URL {
  const { query } = credentials ?? {};
  if (query === undefined || url.searchParams.has(query.name)) return url;
  const keyed = new URL(url);
  // Not searchParams.append, which would rewrite the other parameters.
  const separator = url.search === '' ? '' : '&';
  keyed.search += `${separator}${encodeURIComponent(query.name)}=${encodeURIComponent(query.value.reveal())}`;
  return keyed;
}
