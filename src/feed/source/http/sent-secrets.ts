// Collects what a source over HTTP is sent in secret, in each form in which it may come back.
import { SHORT_SECRET } from '../../../posting/secret-pattern.ts';
import type { SentSecret } from '../secret-mask.ts';
import { keptAccessToken } from './access-token.ts';
import { type Authorization, type HttpConfig, httpDescriptions } from './http-config.ts';
import { isSecretParameter } from './public-address.ts';

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
