// Opens a session with an SFTP server whose host key is pinned.
import { hash } from 'node:crypto';
import { Client, type SFTPWrapper } from 'ssh2';
import { BrokenOff, reasonOf } from '../source.ts';
import type { SftpConfig } from './sftp-config.ts';

export interface SftpSession {
  readonly sftp: SFTPWrapper;
  end(): void;
}

/** Throws {@link BrokenOff}, and the reason of the signal. */
export async function connectSftp({ host, port, login }: SftpConfig, signal: AbortSignal): Promise<SftpSession> {
  const client = new Client();
  const server = `the SFTP server ${host}:${port}`;
  let otherKey: string | undefined;
  const onAbort = (): void => void client.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  const end = (): void => {
    signal.removeEventListener('abort', onAbort);
    client.end();
  };
  try {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      client.on('ready', resolve).on('error', reject);
      client.on('close', () => reject(new Error('the server closed the connection')));
      client.on('keyboard-interactive', (_name, _instructions, _language, prompts, answer) =>
        answer(prompts.map(() => login.password?.reveal() ?? '')),
      );
      client.connect({
        host,
        port,
        username: login.user,
        password: login.password?.reveal(),
        privateKey: login.key?.reveal(),
        passphrase: login.passphrase?.reveal(),
        tryKeyboard: login.password !== undefined,
        // The reading has its own time limits.
        readyTimeout: 0,
        hostVerifier(key: Buffer) {
          const fingerprint = fingerprintOf(key);
          if (login.hostKeys.includes(fingerprint)) return true;
          otherKey = fingerprint;
          return false;
        },
      });
    });
    const sftp = await new Promise<SFTPWrapper>((resolve, reject) => {
      client.sftp((error, session) => (error === undefined ? resolve(session) : reject(error)));
    });
    // A lost connection fails the calls under way; without a listener it would end the process.
    client.on('error', () => undefined);
    return { sftp, end };
  } catch (error) {
    end();
    client.on('error', () => undefined);
    signal.throwIfAborted();
    if (otherKey !== undefined) {
      throw new BrokenOff(
        `${server} has the host key ${otherKey}, which is not the pinned one; nothing was sent to it. Ask its operator whether the key was changed, and only then set host_key`,
      );
    }
    throw new BrokenOff(explain(server, error));
  }
}

const fingerprintOf = (key: Buffer): string => `SHA256:${hash('sha256', key, 'base64').replace(/=+$/, '')}`;

function explain(server: string, error: unknown): string {
  const level = error instanceof Error && 'level' in error ? error.level : undefined;
  if (level === 'client-authentication') return `${server} refuses the user, or its password or key`;
  if (error instanceof Error && /privateKey|passphrase/i.test(error.message)) {
    return `the private key for ${server} can't be used: it must be in OpenSSH's format or PEM, and its passphrase right`;
  }
  return `${server} can't be reached: ${reasonOf(error)}`;
}
