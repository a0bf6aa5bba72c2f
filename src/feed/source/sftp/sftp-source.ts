// A file, or the files of a folder, on an SFTP server as a source.
import type { SourceKind } from '../source.ts';
import { type SftpConfig, sftpPlace } from './sftp-config.ts';

export const sftpSource: SourceKind<SftpConfig> = {
  isRemote: true,
  isRepeatable: true,
  // The library is loaded only for a pull.
  open: async (config, context) => (await import('./open-sftp.ts')).openSftp(config, context),
  request: ({ kind, host, port, path, pick, login: { user } }) => ({ kind, host, port, path, pick, user }),
  placeOf: sftpPlace,
  secretsOf: ({ login: { password, passphrase } }) =>
    [password, passphrase].flatMap((secret) => (secret === undefined ? [] : [secret.reveal()])),
  publicConfig({ login: { user, hostKeys }, pick, ...config }) {
    return { place: sftpPlace({ ...config, pick }), settings: { user, hostKeys, pick: pick?.pick } };
  },
};
