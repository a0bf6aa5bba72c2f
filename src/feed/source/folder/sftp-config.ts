// What an SFTP source is configured with, and where it is, for people.

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
