// Builds the credentials of a feed's source from their written settings, and reads the files that they name.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Authorization, HttpCredentials, S3Access, SftpLogin } from '../../feed/source/sources.ts';
import { type Environment, fillText } from '../environment.ts';
import type { WrittenCredentials } from '../schema/credentials-schema.ts';
import { Secret } from '../secret.ts';
import { readSecretFile } from '../secret-file.ts';
import { fileErrorInWords } from '../settings-file.ts';

export interface CredentialsContext {
  readonly env: Environment;
  /** Folder of the configuration file. */
  readonly folder: string;
  /** The full name of the group, for warnings: `feeds.acme.credentials`. */
  readonly setting: string;
  /** Reports an invalid setting; `path` is relative to the group. */
  readonly complain: (path: readonly string[], message: string) => void;
  readonly warn: (message: string) => void;
}

/** The credentials of a feed, for each kind of source that has any. */
export interface FeedCredentials {
  readonly http?: HttpCredentials;
  readonly s3?: S3Access;
  readonly sftp?: SftpLogin;
}

/** Returns `undefined` after a complaint. */
export async function makeCredentials(
  written: WrittenCredentials,
  around: CredentialsContext,
): Promise<FeedCredentials | undefined> {
  let isWhole = true;
  const complain: CredentialsContext['complain'] = (path, message) => {
    isWhole = false;
    around.complain(path, message);
  };
  const context = { ...around, complain };
  const authorization = await makeAuthorization(written, context);
  const query = await makeQuery(written, context);
  const tls = await makeTls(written, context);
  const s3 = await makeS3Access(written, context);
  const sftp = await makeSftpLogin(written, context);
  return isWhole ? { http: { authorization, query, tls }, s3, sftp } : undefined;
}

async function makeAuthorization(
  { basic, bearer, oauth2 }: WrittenCredentials,
  around: CredentialsContext,
): Promise<Authorization | undefined> {
  if (basic !== undefined) {
    const user = fillText(basic.user, around.env);
    // The user name of HTTP Basic ends at the first colon (RFC 7617, section 2).
    if (user.includes(':')) around.complain(['basic', 'user'], 'holds a colon, which HTTP Basic cannot carry');
    const password = await readSecret(basic, 'basic', 'password', around);
    return { kind: 'basic', user: new Secret(user), password };
  }
  if (bearer !== undefined) {
    const token = await readSecret(bearer, 'bearer', 'token', around);
    if (token === undefined) return undefined;
    if (!/^[\x21-\x7e]+$/.test(token.reveal())) {
      const message =
        'the token holds a space or another character that no token has; it was probably not copied right';
      around.complain(['bearer', bearer.token === undefined ? 'token_file' : 'token'], message);
    }
    return { kind: 'bearer', token };
  }
  if (oauth2 === undefined) return undefined;
  const clientSecret = await readSecret(oauth2, 'oauth2', 'client_secret', around);
  if (clientSecret === undefined) return undefined;
  const { token_url: tokenUrl, client_id: clientId, scope, audience, client_in: clientIn } = oauth2;
  return { kind: 'oauth2', tokenUrl, clientId, clientSecret, scope, audience, clientIn };
}

async function makeQuery({ query }: WrittenCredentials, around: CredentialsContext): Promise<HttpCredentials['query']> {
  if (query === undefined) return undefined;
  const value = await readSecret(query, 'query', 'value', around);
  return value === undefined ? undefined : { name: query.name, value };
}

/** The secret from the environment or from the file that the setting `…_file` names. */
async function readSecret<Name extends string>(
  written: { readonly [Setting in Name | `${Name}_file`]?: string | undefined },
  group: string,
  name: Name,
  around: CredentialsContext,
): Promise<Secret | undefined> {
  const text: string | undefined = written[name];
  if (text !== undefined) return new Secret(fillText(text, around.env));
  const file: string | undefined = written[`${name}_file`];
  if (file === undefined) return undefined;
  const path = [group, `${name}_file`];
  const complain = (message: string): void => around.complain(path, message);
  const setting = [around.setting, ...path].join('.');
  const read = await readSecretFile(file, { folder: around.folder, setting, complain, warn: around.warn });
  if (read === '') complain('the file is empty');
  else if (read !== undefined && /\p{Cc}/u.test(read))
    complain('the file holds more than one line, or a control character');
  return read === undefined ? undefined : new Secret(read);
}

async function makeTls({ tls }: WrittenCredentials, around: CredentialsContext): Promise<HttpCredentials['tls']> {
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

async function makeS3Access({ s3 }: WrittenCredentials, around: CredentialsContext): Promise<S3Access | undefined> {
  if (s3 === undefined) return undefined;
  const secretAccessKey = await readSecret(s3, 's3', 'secret_access_key', around);
  if (secretAccessKey === undefined) return undefined;
  const { access_key_id: accessKeyId, session_token: token, region, endpoint } = s3;
  const sessionToken = token === undefined ? undefined : new Secret(fillText(token, around.env));
  return { accessKeyId, secretAccessKey, sessionToken, region, endpoint };
}

async function makeSftpLogin({ sftp }: WrittenCredentials, around: CredentialsContext): Promise<SftpLogin | undefined> {
  if (sftp === undefined) return undefined;
  const password = await readSecret(sftp, 'sftp', 'password', around);
  const key = await readKey(sftp.key_file, 'sftp', around);
  if (key !== undefined && !/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key)) {
    around.complain(['sftp', 'key_file'], 'the file holds no private key (-----BEGIN … PRIVATE KEY-----)');
  }
  return {
    user: sftp.user,
    password,
    key: key === undefined ? undefined : new Secret(`${key}\n`),
    passphrase: sftp.passphrase === undefined ? undefined : new Secret(fillText(sftp.passphrase, around.env)),
    hostKeys: sftp.host_key,
  };
}

/** The text of the private key that the group's `key_file` names. */
async function readKey(
  file: string | undefined,
  group: string,
  { folder, setting, complain, warn }: CredentialsContext,
): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const path = [group, 'key_file'];
  return readSecretFile(file, {
    folder,
    setting: [setting, ...path].join('.'),
    complain: (message) => complain(path, message),
    warn,
  });
}

async function readPem(
  file: string | undefined,
  setting: string,
  { folder, complain }: CredentialsContext,
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
