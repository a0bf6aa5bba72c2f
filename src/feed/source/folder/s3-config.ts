// What a source in S3-compatible storage is configured with, and where it is, for people.

import type { SecretText } from '../source.ts';
import type { FilePick } from './file-source.ts';

export interface S3Config {
  readonly kind: 's3';
  readonly bucket: string;
  /** Of the object, or of the folder if there is a `pick`: then it ends with a slash, or is empty. */
  readonly key: string;
  readonly pick?: FilePick;
  readonly access: S3Access;
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
