// What sources on an SFTP server and in S3-compatible storage are configured with, and where they are, for people.

import type { ProxySettings } from '../../../flow/proxy.ts';
import type { SecretText } from '../source.ts';
import type { FilePick } from './file-source.ts';

export interface SftpConfig {
  readonly kind: 'sftp';
  readonly host: string;
  readonly port: number;
  /** Of the file, or of the folder if there is a `pick`; from the root, or from the user's folder. */
  readonly path: string;
  readonly pick?: FilePick;
  readonly login: SftpLogin;
}

export interface SftpLogin {
  readonly user: string;
  readonly password?: SecretText;
  /** A private key, in OpenSSH's format or PEM. */
  readonly key?: SecretText;
  readonly passphrase?: SecretText;
  /** Fingerprints, `SHA256:…`, of the host keys that the server may have. */
  readonly hostKeys: readonly string[];
}

export function sftpPlace({ host, port, path, pick }: Omit<SftpConfig, 'login'>): string {
  const folder = path.startsWith('/') ? path : `/~/${path}`;
  const file = pick === undefined ? '' : `${folder.endsWith('/') ? '' : '/'}${pick.pattern}`;
  return `sftp://${host}${port === 22 ? '' : `:${port}`}${folder}${file}`;
}

export interface S3Config {
  readonly kind: 's3';
  readonly bucket: string;
  /** Of the object, or of the folder if there is a `pick`: then it ends with a slash, or is empty. */
  readonly key: string;
  readonly pick?: FilePick;
  readonly access: S3Access;
  /** Absent: directly. */
  readonly proxy?: ProxySettings | undefined;
}

export interface S3Access {
  readonly accessKeyId: string;
  readonly secretAccessKey: SecretText;
  /** Of temporary credentials. */
  readonly sessionToken?: SecretText;
  readonly region: string;
  /** Of a service other than Amazon's. */
  readonly endpoint?: string;
}

export const s3Place = ({ bucket, key, pick }: Pick<S3Config, 'bucket' | 'key' | 'pick'>): string =>
  `s3://${bucket}/${key}${pick?.pattern ?? ''}`;

/**
 * The address of an object, or of the bucket for an empty key. Amazon names the bucket in the host, unless a dot in it would
 * break the certificate; other services expect it in the path.
 */
export function s3Address({ bucket, access: { endpoint, region } }: S3Config, key: string): URL {
  const amazon = `s3.${region}.amazonaws.com`;
  const inHost = endpoint === undefined && !bucket.includes('.');
  const base = inHost ? `https://${bucket}.${amazon}` : `${endpoint ?? `https://${amazon}`}/${bucket}`;
  return new URL(`${base.replace(/\/+$/, '')}/${key.split('/').map(encodeStrictly).join('/')}`);
}

/** As the signature expects it: everything but letters, digits and `-._~`. */
export const encodeStrictly = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
