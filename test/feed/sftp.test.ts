// Reading over SFTP: a real OpenSSH server, and one of the test's own where it must misbehave or ask for a password.
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readFeed } from '../../src/feed/read-feed.ts';
import { kindOf, type SourceConfig } from '../../src/feed/source/sources.ts';
import { type PrivateSshd, sshdForTests } from '../support/sshd.ts';
import { collect, generousLimits } from './collect.ts';

type SftpConfig = Extract<SourceConfig, { kind: 'sftp' }>;

const secret = (text: string) => ({ reveal: () => text });
const feed = (from: number, count: number, filler = '') =>
  `<source>${Array.from({ length: count }, (_, at) => `<job>${from + at}${filler}</job>`).join('\n')}</source>`;

/** @param during is called once, when the first records have arrived. */
async function readFrom(from: SftpConfig, limits = {}, during?: () => void) {
  const sink = collect();
  let isBegun = false;
  const take: typeof sink.take = (batch) => {
    sink.take(batch);
    if (!isBegun && sink.records.length > 0) {
      isBegun = true;
      during?.();
    }
  };
  const reading = await readFeed(
    { from, format: 'xml', recordPath: 'source/job', totalPaths: [], limits: { ...generousLimits, ...limits } },
    { take, drain: sink.drain },
    { signal: new AbortController().signal, threadsFromBytes: Number.POSITIVE_INFINITY },
  );
  const problems = reading.kind === 'read' ? reading.shortfalls.join('\n') : JSON.stringify(reading);
  return { reading, problems, records: sink.records };
}

const sshd = sshdForTests();

describe.skipIf(!sshd.available)(`an OpenSSH server${sshd.note}`, () => {
  let server: PrivateSshd;
  let folder: string;
  beforeAll(async () => {
    server = await sshd.start();
  });
  afterAll(() => server.stop());
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'jobmirror-sftp-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const configOf = (
    name: string,
    more: Partial<SftpConfig> = {},
    login: Partial<SftpConfig['login']> = {},
  ): SftpConfig => ({
    kind: 'sftp',
    host: '127.0.0.1',
    port: server.port,
    path: join(folder, name),
    ...more,
    login: { user: server.user, key: secret(server.key), hostKeys: [server.hostKey], ...login },
  });
  const write = (name: string, content: string, minutesAgo = 0) => {
    writeFileSync(join(folder, name), content);
    const time = Math.floor(Date.now() / 1000) - 60 * minutesAgo;
    utimesSync(join(folder, name), time, time);
  };

  it.each([0, 1, 32 * 1024, 3_000_000])('sends a file of about %d bytes', { tags: 'slow' }, async (size) => {
    write('a.xml', feed(1, 3, 'x'.repeat(size / 3)));
    const { reading, records } = await readFrom(configOf('a.xml'));
    expect(reading).toMatchObject({ kind: 'read', shortfalls: [], records: 3 });
    expect(records).toHaveLength(3);
  });

  it('accepts an encrypted key with its passphrase', async () => {
    write('a.xml', feed(1, 1));
    const login = { key: secret(server.encryptedKey), passphrase: secret(server.passphrase) };
    expect((await readFrom(configOf('a.xml', {}, login))).problems).toBe('');
    const wrong = await readFrom(configOf('a.xml', {}, { ...login, passphrase: secret('zq-wrong') }));
    expect(wrong.problems).toMatch(/the private key for .* can't be used: it must be in OpenSSH's format or PEM/);
    expect(wrong.problems).not.toContain('zq');
  });

  it('whose host key is not the pinned one gets nothing', async () => {
    write('a.xml', feed(1, 1));
    const other = `SHA256:${'A'.repeat(43)}`;
    const { problems } = await readFrom(configOf('a.xml', {}, { hostKeys: [other] }));
    expect(problems).toContain(`has the host key ${server.hostKey}, which is not the pinned one`);
    expect((await readFrom(configOf('a.xml', {}, { hostKeys: [other, server.hostKey] }))).problems).toBe('');
  });

  it.each<[string, string, Partial<SftpConfig>, Partial<SftpConfig['login']>, RegExp]>([
    ['a file that is not there', 'nowhere.xml', {}, {}, /there is no .*nowhere.xml on the SFTP server/],
    ['a folder', '', {}, {}, /is a folder, not a feed: name the file in it, or set files/],
    [
      'an unknown key',
      'a.xml',
      {},
      { key: undefined, password: secret('zq-pass') },
      /refuses the user, or its password or key/,
    ],
    ['a text instead of a key', 'a.xml', {}, { key: secret('zq-key') }, /the private key for .* can't be used/],
    [
      'a port where nothing listens',
      'a.xml',
      { port: 1 },
      {},
      /the SFTP server 127.0.0.1:1 can't be reached: .*ECONNREFUSED/,
    ],
    [
      'a folder without matching files',
      '',
      { pick: { pattern: '*.none', pick: 'all' } },
      {},
      /no file in sftp:.* matches \*\.none/,
    ],
  ])('fails the reading of %s', async (_, name, more, login, message) => {
    write('a.xml', feed(1, 1));
    const { reading, problems } = await readFrom(configOf(name, more, login));
    expect(reading.kind).toBe('failed');
    expect(problems).toMatch(message);
    // The random name of the folder may hold any letters.
    expect(problems.replaceAll(folder, '')).not.toContain('zq');
  });

  it('sends the newest file of a folder, or all', async () => {
    const inbox = join(folder, 'inbox');
    mkdirSync(join(inbox, 'folder.xml'), { recursive: true });
    write('inbox/b.xml', feed(2, 1), 5);
    write('inbox/a.xml', feed(1, 1), 9);
    write('inbox/c.txt', feed(7, 1));
    symlinkSync(join(inbox, 'a.xml'), join(inbox, 'd.xml'));
    const all = await readFrom(configOf('inbox', { pick: { pattern: '*.xml', pick: 'all' } }));
    expect([all.problems, all.records]).toEqual(['', ['<job>1</job>', '<job>2</job>', '<job>1</job>']]);
    const newest = await readFrom(configOf('inbox', { pick: { pattern: '*.xml', pick: 'newest' } }));
    expect([newest.problems, newest.records]).toEqual(['', ['<job>2</job>']]);
    const appears = await readFrom(configOf('inbox', { pick: { pattern: '*.xml', pick: 'all' } }), {}, () =>
      write('inbox/e.xml', feed(8, 1)),
    );
    expect(appears.problems).toMatch(/the folder sftp:.*inbox changed while it was being read: e.xml appeared/);
    symlinkSync(join(inbox, 'nowhere'), join(inbox, 'f.xml'));
    const leadsNowhere = await readFrom(configOf('inbox', { pick: { pattern: '*.xml', pick: 'all' } }));
    expect(leadsNowhere.problems).toMatch(/there is no .*f.xml on the SFTP server/);
  });

  it.each<[string, (path: string) => void, RegExp]>([
    ['grows', (path) => appendFileSync(path, ' '), /the file grew while it was being read/],
    ['is cut', (path) => truncateSync(path, 1_000_000), /the file was cut while it was being read/],
    ['is touched', (path) => utimesSync(path, 1, 1), /the file changed while it was being read/],
  ])('sends a file that %s meanwhile, which is not complete', { tags: 'slow' }, async (_, change, message) => {
    write('large.xml', feed(1, 1_500, 'x'.repeat(2_000)));
    const { problems } = await readFrom(configOf('large.xml'), {}, () => change(join(folder, 'large.xml')));
    expect(problems).toMatch(message);
  });
});

describe('a server of the test', () => {
  const hostKey = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
  const fingerprintOf = async () => {
    const { hash } = await import('node:crypto');
    const key = ssh2.utils.parseKey(hostKey.private);
    if (key instanceof Error) throw key;
    return `SHA256:${hash('sha256', key.getPublicSSH(), 'base64').replace(/=+$/, '')}`;
  };
  const ends: (() => void)[] = [];
  afterEach(() => {
    for (const end of ends.splice(0)) end();
  });

  /** Accepts one password, by the method, and then does as told with each session. */
  async function serve(method: 'password' | 'keyboard-interactive', session: (client: ssh2.Connection) => void) {
    const server = new ssh2.Server({ hostKeys: [hostKey.private] }, (client) => {
      client.on('error', () => undefined);
      client.on('authentication', (context) => {
        const accepts = (password: string | undefined) =>
          password === 'zq-right' ? context.accept() : context.reject();
        if (context.method !== method) context.reject([method]);
        else if (context.method === 'password') accepts(context.password);
        else if (context.method === 'keyboard-interactive') context.prompt('Password: ', ([answer]) => accepts(answer));
      });
      client.on('ready', () => session(client));
      ends.push(() => client.end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(() => server.close());
    const login = { user: 'jim', hostKeys: [await fingerprintOf()] };
    return (password: string): SftpConfig => ({
      kind: 'sftp',
      host: '127.0.0.1',
      port: (server.address() as AddressInfo).port,
      path: 'feed.xml',
      login: { ...login, password: secret(password) },
    });
  }

  it.each(['password', 'keyboard-interactive'] as const)(
    'accepts a password (%s)',
    { tags: 'slow' },
    async (method) => {
      const text = feed(1, 2);
      const configOf = await serve(method, (client) => {
        client.on('session', (accept) => {
          accept().on('sftp', (acceptSftp) => {
            const sftp = acceptSftp();
            const attrs = { mode: 0o100644, uid: 0, gid: 0, size: text.length, atime: 1, mtime: 1 };
            sftp.on('STAT', (id) => sftp.attrs(id, attrs));
            sftp.on('OPEN', (id) => sftp.handle(id, Buffer.from('h')));
            sftp.on('CLOSE', (id) => sftp.status(id, 0));
            // Sends less than asked for.
            sftp.on('READ', (id, _handle, offset, length) => {
              if (offset >= text.length) sftp.status(id, 1);
              else sftp.data(id, Buffer.from(text.slice(offset, offset + Math.min(7, length))));
            });
          });
        });
      });
      expect((await readFrom(configOf('zq-right'))).records).toEqual(['<job>1</job>', '<job>2</job>']);
      const { reading, problems } = await readFrom(configOf('zq-wrong'));
      expect(reading.kind).toBe('failed');
      expect(problems).toMatch(/refuses the user, or its password or key/);
      expect(problems).not.toContain('zq');
    },
  );

  it('that does not say how large the file is proves no end', { tags: 'slow' }, async () => {
    const configOf = await serve('password', (client) => {
      client.on('session', (accept) => {
        accept().on('sftp', (acceptSftp) => {
          const sftp = acceptSftp();
          sftp.on('STAT', (id) => sftp.attrs(id, { mode: 0o100644 } as ssh2.Attributes));
        });
      });
    });
    expect((await readFrom(configOf('zq-right'))).problems).toMatch(/does not say how large feed\.xml is/);
  });

  it('that does not say what its entries are has files', { tags: 'slow' }, async () => {
    const text = feed(1, 2);
    const attrs = { size: text.length, atime: 1, mtime: 1 } as ssh2.Attributes;
    const configOf = await serve('password', (client) => {
      client.on('session', (accept) => {
        accept().on('sftp', (acceptSftp) => {
          const sftp = acceptSftp();
          let listed = false;
          sftp.on('OPENDIR', (id) => {
            listed = false;
            sftp.handle(id, Buffer.from('d'));
          });
          sftp.on('READDIR', (id) => {
            if (listed) return void sftp.status(id, 1);
            listed = true;
            sftp.name(id, [{ filename: 'a.xml', longname: 'a.xml', attrs }]);
          });
          sftp.on('STAT', (id) => sftp.attrs(id, attrs));
          sftp.on('OPEN', (id) => sftp.handle(id, Buffer.from('h')));
          sftp.on('CLOSE', (id) => sftp.status(id, 0));
          sftp.on('READ', (id, _handle, offset, length) => {
            if (offset >= text.length) sftp.status(id, 1);
            else sftp.data(id, Buffer.from(text.slice(offset, offset + length)));
          });
        });
      });
    });
    const { problems, records } = await readFrom({
      ...configOf('zq-right'),
      path: 'in',
      pick: { pattern: '*', pick: 'all' },
    });
    expect([problems, records.length]).toEqual(['', 2]);
  });

  it.each([
    ['with names that match', 'a.xml', /more than 10000 files in sftp:.* match/],
    ['with other names', 'b.txt', /lists more than 200000 entries in in"/],
  ])('that lists without end, %s, is left', { tags: 'slow' }, async (_, filename, message) => {
    const attrs = { mode: 0o100644, uid: 0, gid: 0, size: 1, atime: 1, mtime: 1 };
    const entries = Array.from({ length: 2_000 }, () => ({ filename, longname: filename, attrs }));
    const configOf = await serve('password', (client) => {
      client.on('session', (accept) => {
        accept().on('sftp', (acceptSftp) => {
          const sftp = acceptSftp();
          sftp.on('OPENDIR', (id) => sftp.handle(id, Buffer.from('d')));
          sftp.on('READDIR', (id) => sftp.name(id, entries));
          sftp.on('CLOSE', (id) => sftp.status(id, 0));
        });
      });
    });
    const pick = { pattern: '*.xml', pick: 'all' } as const;
    expect((await readFrom({ ...configOf('zq-right'), path: 'in', pick })).problems).toMatch(message);
  });

  it('that sends less than it said, and does not close the connection, is left', async () => {
    let closed: () => void = () => undefined;
    const closing = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const configOf = await serve('password', (client) => {
      client.on('close', closed);
      client.on('session', (accept) => {
        accept().on('sftp', (acceptSftp) => {
          const sftp = acceptSftp();
          sftp.on('STAT', (id) =>
            sftp.attrs(id, { mode: 0o100644, uid: 0, gid: 0, size: 99_999_999, atime: 1, mtime: 1 }),
          );
          sftp.on('OPEN', (id) => sftp.handle(id, Buffer.from('h')));
          sftp.on('READ', (id, _handle, offset) => {
            if (offset === 0) sftp.data(id, Buffer.from('<source><job>1</job>'));
            else if (offset < 32 * 1024) sftp.status(id, 1);
          });
        });
      });
    });
    const { problems } = await readFrom(configOf('zq-right'));
    expect(problems).toMatch(/the file was cut while it was being read/);
    await closing;
  });

  it('that loses the connection while it sends makes the reading incomplete', async () => {
    const configOf = await serve('password', (client) => {
      client.on('session', (accept) => {
        accept().on('sftp', (acceptSftp) => {
          const sftp = acceptSftp();
          sftp.on('STAT', (id) => sftp.attrs(id, { mode: 0o100644, uid: 0, gid: 0, size: 99_999, atime: 1, mtime: 1 }));
          sftp.on('OPEN', (id) => sftp.handle(id, Buffer.from('h')));
          sftp.on('READ', (id, _handle, offset) => {
            if (offset === 0) sftp.data(id, Buffer.from('<source><job>1</job>'));
            else client.end();
          });
        });
      });
    });
    const { problems } = await readFrom(configOf('zq-right'));
    expect(problems).toMatch(/broke off|failed/);
  });

  // Without a listener, the server's library would refuse the session or the request instead of never answering.
  const hanging: readonly (readonly [string, (client: ssh2.Connection) => void])[] = [
    ['when a session is opened', (client) => client.on('session', () => undefined)],
    [
      'when a file is asked for',
      (client) =>
        client.on('session', (accept) => {
          accept().on('sftp', (acceptSftp) => acceptSftp().on('STAT', () => undefined));
        }),
    ],
  ];
  it.each(hanging)('that hangs %s is left at the time limit', { tags: 'slow' }, async (_, session) => {
    const configOf = await serve('password', session);
    const { problems } = await readFrom(configOf('zq-right'), { firstByteTimeoutMs: 1500 });
    expect(problems).toMatch(/no data arrived within 1\.5 s/);
  });
});

it('an SFTP source is described without its secrets, and its login is no part of its place', () => {
  const config: SftpConfig = {
    kind: 'sftp',
    host: 'ftp.example.com',
    port: 2222,
    path: 'inbox',
    pick: { pattern: '*.xml', pick: 'newest' },
    login: {
      user: 'jim',
      password: secret('zq-1'),
      key: secret('zq-2'),
      passphrase: secret('zq-3'),
      hostKeys: ['SHA256:x'],
    },
  };
  const kind = kindOf(config);
  expect(kind.placeOf(config)).toBe('sftp://ftp.example.com:2222/~/inbox/*.xml');
  expect(kind.placeOf({ ...config, port: 22, path: '/a.xml', pick: undefined })).toBe('sftp://ftp.example.com/a.xml');
  expect(kind.secretsOf(config)).toEqual(['zq-1', 'zq-3']);
  expect(JSON.stringify([kind.publicConfig(config), kind.request(config)])).not.toContain('zq');
});
