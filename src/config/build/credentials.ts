// Builds the credentials of a feed's source from their written settings, and reads the files that they name. Also which proxies lead where.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Authorization, HttpCredentials } from '../../feed/source/sources.ts';
import type { ProxySettings } from '../../flow/proxy.ts';
import { type Environment, fillText } from '../environment.ts';
import {
  type AbsentSecret,
  fileFault,
  readKey,
  readSecret,
  Secret,
  type SecretSettings,
  secretText,
} from '../read-secret.ts';
import type { WrittenCredentials } from '../schema/credentials-schema.ts';
import { outgoingProxySchema } from '../schema/scalars.ts';
import type { SchemeOpener } from '../scheme-sources.ts';
import { SCHEME_SOURCES } from '../scheme-sources.ts';
import { fileErrorInWords } from '../settings-file.ts';

/** The credentials of a feed, for each kind of source that has any. */
export interface FeedCredentials {
  readonly http: HttpCredentials;
  /** By scheme. */
  readonly openers: ReadonlyMap<string, SchemeOpener>;
}

/** Returns `undefined` after a complaint. */
export async function makeCredentials(
  written: WrittenCredentials,
  around: SecretSettings,
): Promise<FeedCredentials | undefined> {
  let isWhole = true;
  const complain: SecretSettings['complain'] = (path, message) => {
    isWhole = false;
    around.complain(path, message);
  };
  const context = { ...around, complain };
  const authorization = await makeAuthorization(written, context);
  const query = await makeQuery(written, context);
  const tls = await makeTls(written, context);
  const settingsOf: Readonly<Record<string, unknown>> = written;
  const openers = new Map<string, SchemeOpener>();
  for (const source of SCHEME_SOURCES) {
    const settings = settingsOf[source.scheme];
    const opener = settings === undefined ? undefined : await source.opener(settings, context);
    if (opener !== undefined) openers.set(source.scheme, opener);
  }
  return isWhole ? { http: { authorization, query, tls }, openers } : undefined;
}

async function makeAuthorization(
  { basic, bearer, oauth2 }: WrittenCredentials,
  around: SecretSettings,
): Promise<Authorization | undefined> {
  if (basic !== undefined) {
    const user = secretText(basic.user, ['basic', 'user'], around) as Secret;
    // The user name of HTTP Basic ends at the first colon (RFC 7617, section 2).
    if (user.absence === undefined && user.reveal().includes(':'))
      around.complain(['basic', 'user'], 'holds a colon, which HTTP Basic cannot carry');
    const password = await readSecret(basic, [['basic'], 'password'], around, fileFault);
    return { kind: 'basic', user, password };
  }
  if (bearer !== undefined) {
    const token = await readSecret(
      bearer,
      [['bearer'], 'token'],
      around,
      (text, setting) => fileFault(text, setting) ?? tokenFault(text),
    );
    return token && { kind: 'bearer', token };
  }
  if (oauth2 === undefined) return undefined;
  const clientSecret = await readSecret(oauth2, [['oauth2'], 'client_secret'], around, fileFault);
  if (clientSecret === undefined) return undefined;
  const { token_url: tokenUrl, client_id: clientId, scope, audience, client_in: clientIn } = oauth2;
  return { kind: 'oauth2', tokenUrl, clientId, clientSecret, scope, audience, clientIn };
}

const tokenFault = (text: string): string | undefined =>
  /^[\x21-\x7e]+$/.test(text)
    ? undefined
    : 'the token holds a space or another character that no token has; it was probably not copied right';

async function makeQuery({ query }: WrittenCredentials, around: SecretSettings): Promise<HttpCredentials['query']> {
  if (query === undefined) return undefined;
  const value = await readSecret(query, [['query'], 'value'], around, fileFault);
  return value === undefined ? undefined : { name: query.name, value };
}

async function makeTls({ tls }: WrittenCredentials, around: SecretSettings): Promise<HttpCredentials['tls']> {
  if (tls === undefined) return undefined;
  const { cert_file: certFile, key_file: keyFile, ca_file: caFile } = tls;
  const cert = await readPem(certFile, 'cert_file', around);
  const ca = await readPem(caFile, 'ca_file', around);
  const keyText = await readKey(keyFile, 'tls', around);
  const passphrase = tls.passphrase === undefined ? undefined : fillText(tls.passphrase, around.env);
  if ([cert, ca, keyText].filter(Boolean).length < [certFile, caFile, keyFile].filter(Boolean).length) return undefined;
  try {
    createSecureContext({ cert, key: keyText, passphrase, ca });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    around.complain(['tls'], `the certificate can't be used with this key: ${why}; check key_file and passphrase`);
    return undefined;
  }
  // Servers answer an expired one with any 400, or with the end of the connection.
  const { validTo } = cert === undefined ? {} : new X509Certificate(cert);
  if (validTo !== undefined && Date.parse(validTo) < Date.now())
    around.warn(`${around.setting}.tls.cert_file: the certificate expired on ${validTo}; get a new one, and reload`);
  return {
    cert,
    key: keyText === undefined ? undefined : new Secret(keyText),
    passphrase: passphrase === undefined ? undefined : new Secret(passphrase),
    ca,
  };
}

async function readPem(
  file: string | undefined,
  setting: string,
  { folder, complain }: SecretSettings,
): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const path = resolve(folder, file);
  try {
    const text = await readFile(path, 'utf8');
    if (isCertificate(text)) return text;
    complain(['tls', setting], `${path} is no PEM file with a certificate (-----BEGIN CERTIFICATE-----)`);
  } catch (error) {
    complain(['tls', setting], `${path} can't be read: ${fileErrorInWords(error as NodeJS.ErrnoException)}`);
  }
  return undefined;
}

function isCertificate(text: string): boolean {
  try {
    new X509Certificate(text);
    return text.includes('-----BEGIN ');
  } catch {
    return false;
  }
}

// Builds which proxies lead where. Only what is written says so: programs rely on variables of the environment alone changing nothing.

export interface ProxyReader {
  /**
   * What a setting `proxy` says; where it is not written, that at the top of the file. `undefined`: neither is written.
   * @param path of the setting from the top of the file
   */
  of(path: readonly string[], written: string | undefined): ProxySettings | undefined;
  /** All that some setting says. */
  readonly all: readonly ProxySettings[];
}

interface ProxySurroundings {
  readonly env: Environment;
  readonly absent: AbsentSecret;
  readonly complain: (path: readonly string[], message: string) => void;
}

/** @param top the setting at the top of the file, unchecked */
export function proxyReader(top: unknown, around: ProxySurroundings): ProxyReader {
  const all: ProxySettings[] = [];
  const read = (path: readonly string[], written: string): ProxySettings => {
    const settings = makeProxy(path, written, around);
    all.push(settings);
    return settings;
  };
  const { data } = outgoingProxySchema.safeParse(top);
  const general = data === undefined ? undefined : read(['proxy'], data);
  return { all, of: (path, written) => (written === undefined ? general : read(path, written)) };
}

const DIRECTLY: ProxySettings = { except: '' };

function makeProxy(
  path: readonly string[],
  written: string,
  { env, absent, complain }: ProxySurroundings,
): ProxySettings {
  if (written === 'none') return DIRECTLY;
  if (written === 'environment') {
    const first = (...names: readonly string[]): Secret | undefined => {
      const name = names.find((each) => env[each] !== undefined);
      const text = name === undefined ? '' : (env[name] ?? '');
      // As curl does.
      const address = text === '' || text.includes('://') ? text : `http://${text}`;
      if (address === '') return undefined;
      if (isProxyAddress(address)) return new Secret(address);
      complain(path, `the environment variable ${name} is not ${ADDRESS_FORM}`);
      return undefined;
    };
    const all = ['all_proxy', 'ALL_PROXY'];
    return {
      http: first('http_proxy', 'HTTP_PROXY', ...all),
      https: first('https_proxy', 'HTTPS_PROXY', ...all),
      except: env.no_proxy ?? env.NO_PROXY ?? '',
    };
  }
  const filled = absent(path) ?? new Secret(fillText(written, env));
  if (filled.absence === undefined && !isProxyAddress(filled.reveal())) {
    complain(path, `is not ${ADDRESS_FORM}`);
    return DIRECTLY;
  }
  const isOfFeed = path[0] === 'feeds';
  return { http: filled, https: filled, except: '', ...(isOfFeed ? { isOfFeed } : {}) };
}

const ADDRESS_FORM =
  'the address of an HTTP proxy, such as http://user:password@proxy.example.com:3128; characters such as @ and / in a password are written %40 and %2F';

function isProxyAddress(text: string): boolean {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return false;
  const { username, password, pathname, search, hash } = new URL(text);
  try {
    return (
      !decodeURIComponent(username).includes(':') &&
      decodeURIComponent(password) !== undefined &&
      pathname + search + hash === '/'
    );
  } catch {
    return false;
  }
}
