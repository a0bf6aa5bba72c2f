// Builds the credentials of a feed's source from their written settings, and reads the files that they name.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Authorization, HttpCredentials } from '../../feed/source/sources.ts';
import { fillText } from '../environment.ts';
import { fileFault, readKey, readSecret, Secret, type SecretSettings, secretText } from '../read-secret.ts';
import type { WrittenCredentials } from '../schema/credentials-schema.ts';
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
