// Starts private OpenSSH servers from Debian's `sshd`; without one, explains why tests are skipped.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';

export interface PrivateSshd {
  readonly port: number;
  readonly user: string;
  /** The private key that the server accepts, in OpenSSH's format. */
  readonly key: string;
  /** The same key, encrypted. */
  readonly encryptedKey: string;
  readonly passphrase: string;
  /** `SHA256:…` */
  readonly hostKey: string;
  stop(): Promise<void>;
}

interface SshdForTests {
  readonly available: boolean;
  /** Title suffix for a suite that needs sshd, giving the reason for a skip. */
  readonly note: string;
  start(): Promise<PrivateSshd>;
}

/** OpenSSH wants its absolute path, to start itself again. */
const SSHD = '/usr/sbin/sshd';

/**
 * An OpenSSH server for tests on this machine.
 * @throws Error if there is none and `JOBMIRROR_REQUIRE_ALL=1` forbids skipping (as in CI).
 */
export function sshdForTests(): SshdForTests {
  const available = existsSync(SSHD);
  if (!available && process.env.JOBMIRROR_REQUIRE_ALL === '1') {
    throw new Error(`JOBMIRROR_REQUIRE_ALL=1, but no ${SSHD}: install it (Debian: apt-get install openssh-server)`);
  }
  return { available, note: available ? '' : ` (skipped: no ${SSHD})`, start: startSshd };
}

/** Another process may take the port between its choice and its use. */
async function startSshd(): Promise<PrivateSshd> {
  for (let tries = 1; ; tries++) {
    try {
      return await startOn(await freePort());
    } catch (error) {
      if (tries === 3 || !String(error).includes('Address already in use')) throw error;
    }
  }
}

/** Serves SFTP to the user who runs the tests, by key. */
async function startOn(port: number): Promise<PrivateSshd> {
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-sshd-'));
  // Where OpenSSH confines the part of it that talks to strangers. Debian makes it when the service starts.
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true });
  // One round of hashing the passphrase instead of 16 or more, which take the JavaScript that reads it a second.
  const makeKey = (name: string, passphrase: string) =>
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-a', '1', '-N', passphrase, '-f', join(folder, name)]);
  makeKey('host', '');
  makeKey('client', '');
  makeKey('encrypted', 'hush');
  const read = (name: string) => readFile(join(folder, name), 'utf8');
  await writeFile(join(folder, 'authorized'), (await read('client.pub')) + (await read('encrypted.pub')));
  const settings = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(folder, 'host')}`,
    `AuthorizedKeysFile ${join(folder, 'authorized')}`,
    'PidFile none',
    'UsePAM no',
    'StrictModes no',
    'PasswordAuthentication no',
    'PermitRootLogin prohibit-password',
    'Subsystem sftp internal-sftp',
  ];
  await writeFile(join(folder, 'config'), `${settings.join('\n')}\n`);
  const child = spawn(SSHD, ['-D', '-e', '-f', join(folder, 'config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  // Kill it even if a test forgets to.
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (piece: Buffer) => {
      said += piece.toString();
      if (said.includes('Server listening')) resolve();
    });
    child.once('close', () => reject(new Error(`sshd ended: ${said}`)));
  });
  const fingerprint = execFileSync('ssh-keygen', ['-l', '-f', join(folder, 'host.pub')]).toString();
  return {
    port,
    user: userInfo().username,
    key: await read('client'),
    encryptedKey: await read('encrypted'),
    passphrase: 'hush',
    hostKey: /SHA256:\S+/.exec(fingerprint)?.[0] ?? '',
    async stop() {
      child.kill('SIGTERM');
      await exited;
      process.off('exit', endWithUs);
      await rm(folder, { recursive: true });
    },
  };
}
