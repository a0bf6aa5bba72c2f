// Applies the credentials of a source to a request: the Authorization header, a key in the query, or an access token
// that OAuth 2.0 client credentials (RFC 6749, 4.4) got and that is kept until shortly before it expires.
import { hash } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { routeTo } from '../../../flow/proxy.ts';
import { isTrackingParameter } from '../../../posting/posting-key.ts';
import { SHORT_SECRET } from '../../../posting/secret-pattern.ts';
import type { SentSecret } from '../secret-mask.ts';
import { FeedReadingError, reasonOf } from '../source.ts';
import {
  type Authorization,
  addressForMessages,
  type HttpConfig,
  httpDescriptions,
  type OAuth2,
} from './http-config.ts';
import { type Headers, type HttpConditions, type HttpRequest, readBody, send } from './response.ts';

/** The headers that only the configured origin may see. Throws `FeedReadingError` if there is no access token. */
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
export function mayRenewToken({ credentials }: HttpConfig): boolean {
  if (credentials?.authorization?.kind !== 'oauth2') return false;
  forgetAccessToken(credentials.authorization);
  return true;
}

/** The address with the key in its query, unless the address has one already. */
export function withKeyInQuery(url: URL, { credentials }: HttpConfig): URL {
  const { query } = credentials ?? {};
  if (query === undefined || url.searchParams.has(query.name)) return url;
  const keyed = new URL(url);
  // Not searchParams.append, which would rewrite the other parameters.
  const separator = url.search === '' ? '' : '&';
  keyed.search += `${separator}${encodeURIComponent(query.name)}=${encodeURIComponent(query.value.reveal())}`;
  return keyed;
}

// Gets access tokens with OAuth 2.0 client credentials (RFC 6749, 4.4), and keeps each until shortly before it expires.

interface AccessToken {
  readonly text: string;
  /** On the clock of `performance.now`, which nobody sets. */
  readonly usableUntilMs: number;
}

/** By a digest of what they were requested with. */
const tokens = new Map<string, AccessToken>();
const MAX_TOKENS = 1_000;
/** A token is not used in the last minute of its life, nor in the last tenth of a short one. */
const MARGIN_MS = 60_000;
/** For a token endpoint that does not say how long its tokens live. */
const ASSUMED_LIFE_S = 300;
const MAX_RESPONSE_BYTES = 64 * 1024;

/** An access token that was not refused so far. Throws {@link FeedReadingError} with a message without secrets. */
async function accessTokenFor(oauth2: OAuth2, conditions: HttpConditions): Promise<string> {
  const identity = identityOf(oauth2);
  const kept = tokens.get(identity);
  if (kept !== undefined && performance.now() < kept.usableUntilMs) return kept.text;
  const token = await request(oauth2, conditions);
  tokens.delete(identity);
  tokens.set(identity, token);
  const [oldest] = tokens.keys();
  if (tokens.size > MAX_TOKENS && oldest !== undefined) tokens.delete(oldest);
  return token.text;
}

/** The token that requests have at present, if any. */
const keptAccessToken = (oauth2: OAuth2): string | undefined => tokens.get(identityOf(oauth2))?.text;

const forgetAccessToken = (oauth2: OAuth2): void => {
  tokens.delete(identityOf(oauth2));
};

function identityOf({ clientSecret, ...oauth2 }: OAuth2): string {
  return hash('sha256', JSON.stringify([oauth2, clientSecret.reveal()]), 'hex');
}

async function request(oauth2: OAuth2, conditions: HttpConditions): Promise<AccessToken> {
  const endpoint = `the token endpoint ${addressForMessages(new URL(oauth2.tokenUrl))}`;
  const { status, text } = await ask(oauth2, conditions, endpoint);
  const answer = parsed(text);
  if (status !== 200) {
    const code = KNOWN_ERRORS.find((known) => known === answer?.error);
    throw new FeedReadingError(
      `${endpoint} answered ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd() +
        `${code === undefined ? '' : ` (${code})`}${hint(status, code)}`,
    );
  }
  const { access_token: token, token_type: type, expires_in: expiresIn } = answer ?? {};
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token)) {
    throw new FeedReadingError(`${endpoint} sent no access_token; check that token_url is the right address`);
  }
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer') {
    throw new FeedReadingError(`${endpoint} sent a token of another type than bearer, which jobmirror can't use`);
  }
  const lifeMs = 1000 * (Number(expiresIn ?? ASSUMED_LIFE_S) || ASSUMED_LIFE_S);
  return { text: token, usableUntilMs: performance.now() + lifeMs - Math.min(MARGIN_MS, lifeMs / 10) };
}

async function ask(
  oauth2: OAuth2,
  conditions: HttpConditions,
  endpoint: string,
): Promise<{ status: number; text: string }> {
  try {
    const exchange = await send(tokenRequest(oauth2), conditions);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of readBody(exchange, conditions.signal)) {
      bytes += chunk.length;
      if (bytes > MAX_RESPONSE_BYTES) throw new Error(`its response is larger than ${MAX_RESPONSE_BYTES} bytes`);
      chunks.push(chunk);
    }
    return { status: exchange.response.statusCode ?? 0, text: Buffer.concat(chunks).toString() };
  } catch (error) {
    conditions.signal.throwIfAborted();
    throw new FeedReadingError(`${endpoint} can't be reached: ${reasonOf(error)}`);
  }
}

function tokenRequest({ tokenUrl, clientId, clientSecret, scope, audience, clientIn }: OAuth2): HttpRequest {
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  if (scope !== undefined) form.set('scope', scope);
  if (audience !== undefined) form.set('audience', audience);
  const headers: Record<string, string> = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
  };
  if (clientIn === 'body') {
    form.set('client_id', clientId);
    form.set('client_secret', clientSecret.reveal());
  } else {
    headers.authorization = basic(formEncoded(clientId), formEncoded(clientSecret.reveal()));
  }
  return { url: new URL(tokenUrl), method: 'POST', headers, body: form.toString() };
}

/** The header of HTTP Basic (RFC 7617). */
const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** As RFC 6749, 2.3.1, has it before the Base64 of HTTP Basic. */
const formEncoded = (text: string): string => new URLSearchParams({ _: text }).toString().slice(2);

interface TokenAnswer {
  readonly access_token?: unknown;
  readonly token_type?: unknown;
  readonly expires_in?: unknown;
  readonly error?: unknown;
}

function parsed(text: string): TokenAnswer | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'object' && answer !== null ? answer : undefined;
  } catch {
    return undefined;
  }
}

/** RFC 6749, 5.2. Any other text of the endpoint might repeat a secret, and is not shown. */
const KNOWN_ERRORS = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'access_denied',
] as const;

function hint(status: number, code: (typeof KNOWN_ERRORS)[number] | undefined): string {
  if (code === 'invalid_scope') return '; check scope';
  if (code === 'invalid_client' || status === 401) return '; check client_id, its secret, and client_in';
  if (status === 429 || status >= 500) return '; it may work again later';
  return status === 404 ? '; check token_url' : '; check the settings of oauth2';
}

// What is secret in a request over HTTP: the part of an address that may be shown and stored, and each form in which a
// secret may come back.

/** Other headers, such as a company's name, may occur in any text. */
const SECRET_HEADER = /auth|cookie|token|key|secret|passw|credential|signature|session|subscription/i;

/** Returns a function, as an access token is exchanged for another one while the process runs. It returns the same list until then. */
export function sentSecrets(config: HttpConfig): () => readonly SentSecret[] {
  const { headers, credentials = {} } = config;
  const { authorization, query } = credentials;
  const fixed = [
    ...httpDescriptions.secretsOf({ ...config, headers: {} }).map((text) => ({ text })),
    ...(query === undefined ? [] : ofQuery(query.name, query.value.reveal())),
    ...Object.entries(headers).flatMap(([name, value]) => ofHeader(name, value.reveal())),
    ...(authorization === undefined ? [] : ofAuthorization(authorization)),
    ...ofAddress(new URL(config.url)),
    // A proxy may pass on what only it should see.
    ...(routeTo(new URL(config.url), config.proxy)?.secrets ?? []).map((text) => ({ text })),
  ].filter(({ text }) => text !== '');
  if (authorization?.kind !== 'oauth2') return () => fixed;
  let sent: readonly SentSecret[] = fixed;
  return () => {
    const token = keptAccessToken(authorization);
    // Texts may still repeat an earlier one.
    if (token !== undefined && !sent.some(({ text }) => text === token)) sent = [...sent, { text: token }];
    return sent;
  };
}

/** As it is, and as it is sent, which the Base64 of the whole address has. */
function ofQuery(name: string, value: string): SentSecret[] {
  const sent = new URLSearchParams([['', value]]).toString().slice(1);
  return [...new Set([value, sent])].map((text) => ({ text, name }));
}

/** The whole value, and its parts that may come alone. */
function ofHeader(name: string, value: string): SentSecret[] {
  if (!SECRET_HEADER.test(name)) return [];
  const [, scheme = '', credentials = ''] = /^([\w-]+)\s+(\S.*)$/.exec(value) ?? [];
  const parts = /cookie/i.test(name) ? value.split(/;\s*/).map((part) => part.slice(part.indexOf('=') + 1)) : [];
  const pair = /^basic$/i.test(scheme) ? Buffer.from(credentials, 'base64').toString() : '';
  const own = credentials === '' ? value : credentials;
  return [{ text: own, name }, ...parts.map((text) => ({ text, name })), ...(pair === '' ? [] : ofPair(pair))];
}

function ofAuthorization(authorization: Authorization): SentSecret[] {
  switch (authorization.kind) {
    case 'basic':
      return ofPair(`${authorization.user.reveal()}:${authorization.password?.reveal() ?? ''}`);
    case 'oauth2':
      return ofPair(`${authorization.clientId}:${authorization.clientSecret.reveal()}`);
    case 'bearer':
      return [];
    default:
      return authorization satisfies never;
  }
}

/** Of HTTP Basic. A password too short to be found by itself is found with its user. */
function ofPair(pair: string): SentSecret[] {
  const password = pair.slice(pair.indexOf(':') + 1);
  const encoded = pair.length < SHORT_SECRET ? [Buffer.from(pair).toString('base64').replace(/=+$/, '')] : [];
  return [pair, ...encoded, password].map((text) => ({ text }));
}

function ofAddress({ username, password, searchParams }: URL): SentSecret[] {
  const [user, own] = [username, password].map(decodeURIComponent) as [string, string];
  const inUser = own === '' ? [{ text: user }] : ofPair(`${user}:${own}`);
  return [
    ...inUser,
    ...[...searchParams].flatMap(([name, text]) => (isSecretParameter(name) ? ofQuery(name, text) : [])),
  ];
}

/** Parameters of a query whose values are secret, in lower case without separators. */
const SECRET_PARAMETER =
  /(?:key|token|secret|password|passwd|pwd|passphrase|signature|credentials?)$|^(?:auth|pass|sig|code|jwt)$/;
/** Parameters whose names look secret, but which say what to list. */
const PLAIN_PARAMETER = /^(?:sort|order|group|page|next|continuation|cursor|job)(?:key|token)$/;

export function isSecretParameter(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return SECRET_PARAMETER.test(plain) && !PLAIN_PARAMETER.test(plain);
}

/** A shorter value is part of other texts by chance. */
const SHORTEST_SECRET = 4;

/**
 * Without user, password and fragment, and without parameters that are secret or only count visits.
 * @param secrets texts that may be secret, such as values of environment variables.
 */
export function publicAddress(address: string, secrets: Iterable<string> = []): string {
  const { origin, pathname, search } = new URL(address);
  const hidden = [...secrets].filter((secret) => secret.length >= SHORTEST_SECRET);
  const kept = search
    .slice(1)
    .split('&')
    .filter((parameter) => {
      const [[name = '', value = ''] = []] = new URLSearchParams(parameter);
      if (name === '' || isSecretParameter(name) || isTrackingParameter(parameter)) return false;
      return !hidden.some((secret) => value.includes(secret) || parameter.includes(secret));
    });
  return `${origin}${pathname}${kept.length === 0 ? '' : `?${kept.join('&')}`}`;
}
