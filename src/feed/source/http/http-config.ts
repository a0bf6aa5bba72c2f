// What a source over HTTP is configured with, and what of it may be shown.
import type { ProxySettings } from '../../../flow/proxy.ts';
import type { RetryPolicy } from '../../../flow/retry.ts';
import type { SecretText, SourceKind } from '../source.ts';

export interface HttpConfig {
  readonly kind: 'http';
  /** Valid; its query may be secret. */
  readonly url: string;
  /** See `publicAddress`; by default without any query. */
  readonly publicAddress?: string;
  /** Extra request headers, such as an authorization; their values are secret. */
  readonly headers: Readonly<Record<string, SecretText>>;
  readonly credentials?: HttpCredentials;
  /** Absent: directly. */
  readonly proxy?: ProxySettings | undefined;
  /** Media types for the `Accept` header. */
  readonly accept: string;
  /** How a single document is requested again before any of it has arrived; absent: it is not. */
  readonly retry?: RetryPolicy;
  readonly maxRedirects: number;
  /** Allow redirects to private and loopback addresses. */
  readonly allowPrivateRedirects: boolean;
}

/** Sent to the origin (scheme, host, port) of the configured address only. */
export interface HttpCredentials {
  readonly authorization?: Authorization;
  /** Added to the query of the address. */
  readonly query?: { readonly name: string; readonly value: SecretText };
  /** For https. */
  readonly tls?: TlsFiles;
}

/** What the `Authorization` header is made of. */
export type Authorization =
  | { readonly kind: 'basic'; readonly user: SecretText; readonly password?: SecretText }
  | { readonly kind: 'bearer'; readonly token: SecretText }
  | OAuth2;

/** The client credentials grant of OAuth 2.0 (RFC 6749, 4.4). */
export interface OAuth2 {
  readonly kind: 'oauth2';
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: SecretText;
  readonly scope?: string;
  readonly audience?: string;
  /** Where the token request carries the client's ID and secret. */
  readonly clientIn: 'header' | 'body';
}

/** The contents of PEM files. */
export interface TlsFiles {
  /** The client's certificate and its key. */
  readonly cert?: string;
  readonly key?: SecretText;
  readonly passphrase?: SecretText;
  /** Authorities that may have signed the server's certificate, instead of the public ones. */
  readonly ca?: string;
}

type Descriptions = Pick<SourceKind<HttpConfig>, 'request' | 'placeOf' | 'secretsOf' | 'publicConfig'>;

export const httpDescriptions: Descriptions = {
  request({ kind, url, accept, headers, credentials }) {
    const sent = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value.reveal()]);
    return {
      kind,
      url,
      accept,
      headers: sent.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)),
      credentials: credentials === undefined ? undefined : revealed(credentials),
    };
  },
  placeOf: ({ url }) => (url.includes('?') ? `${url.slice(0, url.indexOf('?'))}?…` : url),
  secretsOf({ headers, credentials = {} }) {
    const { authorization, query, tls } = credentials;
    const secrets = [
      ...Object.values(headers),
      ...(authorization === undefined ? [] : secretsOfAuthorization(authorization)),
      query?.value,
      tls?.passphrase,
    ];
    return secrets.flatMap((secret) => (secret === undefined ? [] : [secret.reveal()]));
  },
  publicConfig({ url, publicAddress: _, headers, credentials, proxy: __, ...settings }) {
    const { protocol, host, pathname, searchParams } = new URL(url);
    const place = `${protocol}//${host}${pathname}?${[...searchParams.keys()].join('&')}`;
    const names = Object.keys(headers).sort();
    const shownCredentials = credentials === undefined ? undefined : publicCredentials(credentials);
    return { place, settings: { ...settings, headers: names, credentials: shownCredentials } };
  },
};

/** Where relative addresses start, and where a document is found: without secrets. */
export function baseAddress({ url, publicAddress }: HttpConfig): string {
  const { origin, pathname } = new URL(url);
  return publicAddress ?? `${origin}${pathname}`;
}

/** A URL for messages, without user, password and query, which often contains a key. */
export const addressForMessages = (url: URL): string => `${url.origin}${url.pathname}${url.search === '' ? '' : '?…'}`;

/** A user without a password is a key. */
function secretsOfAuthorization(authorization: Authorization): (SecretText | undefined)[] {
  switch (authorization.kind) {
    case 'basic':
      return [authorization.password ?? authorization.user];
    case 'bearer':
      return [authorization.token];
    case 'oauth2':
      return [authorization.clientSecret];
    default:
      return authorization satisfies never;
  }
}

/** With every secret in the clear, for a digest. */
const revealed = (credentials: HttpCredentials): unknown => withSecrets(credentials, (secret) => secret.reveal());

const publicCredentials = (credentials: HttpCredentials): unknown => withSecrets(credentials, () => undefined);

function withSecrets(value: unknown, replace: (secret: SecretText) => string | undefined): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if ('reveal' in value) return replace(value as SecretText);
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withSecrets(inner, replace)]));
}
