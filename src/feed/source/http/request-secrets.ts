// What is secret in a request over HTTP: the part of an address that may be shown and stored, and each form in which a
// secret may come back.
import { isTrackingParameter } from '../../../posting/posting-key.ts';
import { SHORT_SECRET } from '../../../posting/secret-pattern.ts';
import type { SentSecret } from '../secret-mask.ts';
import { keptAccessToken } from './credentials.ts';
import { type Authorization, type HttpConfig, httpDescriptions } from './http-config.ts';

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
