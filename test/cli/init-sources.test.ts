// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration itself contains ${NAME}.
// `jobmirror init` for files on servers and for standard input: what it asks for, reads and writes.
// @module-tag slow
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { keepInput } from '../../src/cli/init-answers.ts';
import { signedHeaders } from '../../src/feed/source/folder/open-s3.ts';
import { serveWeb, type WebServer } from '../feed/web-server.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { type PrivateSshd, sshdForTests } from '../support/sshd.ts';
import { startProgram } from './program.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

const SITE = 'https://jobs.example.com';
const TOKEN = { BOARD_TOKEN: 'zq-12345678' };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jobmirror-init-'));
});
afterEach(() => rm(folder, { recursive: true }));

const run = (env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<ProgramResult> =>
  runProgram({ folder, configPath: join(folder, 'jobmirror.yaml'), env }, ...args);
const written = (): Promise<string> => readFile(join(folder, 'jobmirror.yaml'), 'utf8');
const feedOf = async (name: string): Promise<unknown> => (parse(await written()) as { feeds: never }).feeds[name];
const READ = 'acme: 3 records: 3 postings to send to site board, 0 rejected';

const sshd = sshdForTests();

describe.skipIf(!sshd.available)(`a file on an OpenSSH server${sshd.note}`, () => {
  let server: PrivateSshd;
  let address: string;
  beforeAll(async () => {
    server = await sshd.start();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    await writeFile(join(folder, 'acme.xml'), feedXml(postings(3)));
    for (const [name, key] of [
      ['plain.key', server.key],
      ['encrypted.key', server.encryptedKey],
    ] as const) {
      await writeFile(join(folder, name), key);
      await chmod(join(folder, name), 0o600);
    }
    address = `127.0.0.1:${server.port}${folder}/acme.xml`;
  });

  it('is read, with the key in a file and its passphrase in the environment', async () => {
    const args = ['--site', SITE, '--user', server.user, '--host-key', server.hostKey];
    const plain = await run({}, 'init', `sftp://${address}`, ...args, '--key-file', 'plain.key');
    expect({ status: plain.status, errors: plain.errors }).toEqual({ status: 0, errors: '' });
    expect(plain.out).toContain(READ);
    const sftp = { user: server.user, key_file: 'plain.key', host_key: server.hostKey };
    expect(await feedOf('acme')).toMatchObject({
      source: `sftp://${address}`,
      format: 'indeed',
      credentials: { sftp },
    });
    expect((await run(TOKEN, 'check')).out).toMatch(/is right\.$/m);

    const env = { ACME_PASSPHRASE: server.passphrase };
    const encrypted = [`sftp://${server.user}@${address}`, ...args, '--key-file', 'encrypted.key', '--force'];
    expect((await run(env, 'init', ...encrypted)).out).toContain(READ);
    expect(await feedOf('acme')).toMatchObject({
      source: `sftp://${address}`,
      credentials: { sftp: { key_file: 'encrypted.key', passphrase: '${ACME_PASSPHRASE}' } },
    });
    expect(await written()).not.toContain(server.passphrase);
  });

  it('is not read from a server with another host key, and nothing is written', async () => {
    const args = ['--site', SITE, '--key-file', 'plain.key', '--host-key', `SHA256:${'A'.repeat(43)}`];
    const { errors, status } = await run({}, 'init', `sftp://${server.user}@${address}`, ...args);
    expect(errors).toContain(`has the host key ${server.hostKey}, which is not the pinned one`);
    expect(status).toBe(1);
    expect(await readdir(folder)).not.toContain('jobmirror.yaml');
  });

  it('needs a password from the environment or the address, which is written as a variable', async () => {
    const args = ['--site', SITE, '--host-key', server.hostKey];
    // The server takes no passwords.
    for (const [env, login] of [
      [{}, `${server.user}:zq-pass@`],
      [{ ACME_PASSWORD: 'zq-pass' }, `${server.user}@`],
    ] as const) {
      const { errors } = await run(env, 'init', `sftp://${login}${address}`, ...args);
      expect(errors).toContain('refuses the user, or its password or key');
      expect(errors).not.toContain('zq-');
    }
  });

  it('names all that is missing', async () => {
    const { errors, status } = await run({}, 'init', `sftp://${address}`, '--site', SITE);
    expect(errors).toMatch(
      /init needs --user NAME.*; and --key-file FILE.* variable ACME_PASSWORD; and --host-key SHA256.*ssh-keyscan -p \d+ 127/,
    );
    expect(status).toBe(1);
  });
});

describe('an object in S3-compatible storage', () => {
  const access = { AWS_ACCESS_KEY_ID: 'AKIA1', AWS_SECRET_ACCESS_KEY: 'zq-s3cret/key+of' };
  let server: WebServer;
  beforeEach(async () => {
    server = await serveWeb(({ path, headers }, response) => {
      const [, year, month, day, hour, minute, second] =
        /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date'])) ?? [];
      const expected = signedHeaders(
        new URL(path, `http://${headers.host}`),
        {
          accessKeyId: access.AWS_ACCESS_KEY_ID,
          secretAccessKey: { reveal: () => access.AWS_SECRET_ACCESS_KEY },
          ...(headers['x-amz-security-token'] === undefined ? {} : { sessionToken: { reveal: () => 'zq-session' } }),
          region: 'eu-central-1',
        },
        new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`),
      );
      if (headers.authorization !== expected.authorization) response.writeHead(403).end();
      else if (path === '/exports/jobs/acme.xml') response.end(feedXml(postings(3)));
      else response.writeHead(404).end();
    });
  });
  afterEach(() => server.close());

  it('is read with the access key from the environment, which is written as variables', async () => {
    const args = ['s3://exports/jobs/acme.xml', '--site', SITE, '--endpoint', server.origin];
    const { out, errors, status } = await run(access, 'init', ...args, '--region', 'eu-central-1');
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
    expect(out).toContain(READ);
    const s3 = {
      access_key_id: '${AWS_ACCESS_KEY_ID}',
      secret_access_key: '${AWS_SECRET_ACCESS_KEY}',
      region: 'eu-central-1',
      endpoint: server.origin,
    };
    expect(await feedOf('acme')).toMatchObject({ source: 's3://exports/jobs/acme.xml', credentials: { s3 } });
    for (const text of [await written(), out]) expect(text).not.toMatch(/zq-s3|AKIA1/);
    expect((await run({ ...TOKEN, ...access }, 'check')).out).toMatch(/is right\.$/m);
  });

  it('is read with the settings that other programs take from the environment', async () => {
    const env = {
      ...access,
      AWS_SESSION_TOKEN: 'zq-session',
      AWS_REGION: 'eu-central-1',
      AWS_ENDPOINT_URL: server.origin,
    };
    expect((await run(env, 'init', 's3://exports/jobs/acme.xml', '--site', SITE)).out).toContain(READ);
    expect(await feedOf('acme')).toMatchObject({
      credentials: { s3: { session_token: '${AWS_SESSION_TOKEN}', region: 'eu-central-1' } },
    });
  });

  it('names what is missing or wrong', async () => {
    const init = async (env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
      (await run(env, 'init', ...args, '--site', SITE)).errors;
    expect(await init({ AWS_ACCESS_KEY_ID: 'AKIA1' }, 's3://exports/a.xml')).toMatch(
      /init needs the access key in the environment: AWS_SECRET_ACCESS_KEY$/m,
    );
    expect(await init(access, 's3://exports/jobs/')).toMatch(/names no object; add its key/);
    expect(await init(access, 's3://exports/a.xml', '--region', 'EU 1')).toMatch(/must be the name of a region/);
    const other = { ...access, AWS_SECRET_ACCESS_KEY: 'zq-wrong' };
    expect(await init(other, 's3://exports/jobs/acme.xml', '--endpoint', server.origin)).toMatch(/403 Forbidden/);
  });
});

describe('standard input', () => {
  const pipe = async (content: string, ...args: readonly string[]) => {
    const all = [...args, '--config', join(folder, 'jobmirror.yaml')];
    const running = startProgram(all, { cwd: folder, env: { TMPDIR: folder, ...TOKEN } });
    running.process.stdin?.end(content);
    const { status } = await running.ended;
    return { status, out: running.out(), errors: running.errors() };
  };

  it('is read once, without a schedule, and left nowhere', async () => {
    const { status, out, errors } = await pipe(feedXml(postings(3)), 'init', '-', '--site', SITE, '--name', 'acme');
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
    expect(out).toContain(READ);
    expect(out).toMatch(/ sync acme.* < FILE$/m);
    expect(await feedOf('acme')).toEqual({ source: '-', format: 'indeed', site: 'board' });
    expect(await readdir(folder)).toEqual(['jobmirror.yaml']);
    expect((await run(TOKEN, 'check')).out).toMatch(/is right\.$/m);
    expect((await pipe(feedXml(postings(3)), 'try', 'acme')).out).toContain(READ);
  });

  it('that is no feed is refused, and nothing is left', async () => {
    const { status, errors } = await run({ TMPDIR: folder }, 'init', '-', '--site', SITE);
    expect(errors).toMatch(/it is empty/);
    expect(status).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });

  it('is bounded', async () => {
    const { signal } = new AbortController();
    await expect(keepInput(Readable.from([Buffer.alloc(60), Buffer.alloc(60)]), signal, 100)).rejects.toThrow(
      'standard input has more than 100 bytes',
    );
  });
});
