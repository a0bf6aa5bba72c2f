// The examples work with the program as it is shipped.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { SHIPPED_PROGRAM } from '../cli/program.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const EXAMPLES = join(packageRoot, 'examples');
const read = (path: string): Promise<string> => readFile(join(EXAMPLES, path), 'utf8');

/** Has the command `jobmirror`, as an installation does. */
let bin: string;
beforeAll(async () => {
  bin = await mkdtemp(join(tmpdir(), 'jobmirror-examples-'));
  await writeFile(join(bin, 'jobmirror'), `#!/bin/sh\nexec '${process.execPath}' '${SHIPPED_PROGRAM}' "$@"\n`);
  await chmod(join(bin, 'jobmirror'), 0o755);
});
afterAll(() => rm(bin, { recursive: true }));

let mirror: Mirror | undefined;
const started: ChildProcess[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  }
  await mirror?.close();
  mirror = undefined;
});

const environment = (env: Readonly<Record<string, string>>) => ({
  ...process.env,
  ...env,
  PATH: `${bin}:${process.env.PATH}`,
});

interface Ended {
  readonly status: number;
  readonly out: string;
  readonly errors: string;
}

/** Runs a command to its end. */
const run = (command: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(command, [...args], { env: environment(env), cwd: bin }, (error, out, errors) =>
      resolve({ status: error === null ? 0 : Number(error.code), out, errors }),
    );
  });

/** Starts a command that runs until it is stopped, and resolves with what matches its output. */
async function startUntil(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  pattern: RegExp,
): Promise<{ readonly child: ChildProcess; readonly found: RegExpExecArray; readonly output: () => string }> {
  const child = spawn(command, [...args], { env: environment(env), cwd: bin });
  started.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      child.emit('output');
    });
  }
  for (;;) {
    const found = pattern.exec(output);
    if (found !== null) return { child, found, output: () => output };
    if (child.exitCode !== null) throw new Error(`it ended without ${pattern}:\n${output}`);
    await Promise.race([once(child, 'output'), once(child, 'exit')]);
  }
}

describe('cron', () => {
  it('the script prints nothing while all is mirrored, and else what cron shall mail', async () => {
    const open = await openMirror();
    mirror = open;
    const sync = () => run(join(EXAMPLES, 'cron/sync-feeds.sh'), [open.configPath], open.env);
    await open.writeFeed(feedXml(postings(2)));
    expect(await sync()).toEqual({ status: 0, out: '', errors: '' });
    expect((await open.siteJobs()).size).toBe(2);

    await open.writeFeed(feedXml([...postings(2), posting('odd', { state: 'Jalisco' })]));
    const review = await sync();
    expect(review).toMatchObject({ status: 2, errors: '' });
    // A machine that needs more than ten seconds for it adds lines of progress.
    expect(review.out).toMatch(/^Some postings need review: .*\n(?:acme: .*\n)*\{.*"rejected":1,/);

    await open.writeFeed('<html><body>down for maintenance</body></html>');
    const failed = await sync();
    expect(failed).toMatchObject({ status: 1, errors: '' });
    expect(failed.out).toMatch(
      /^jobmirror could not do all of its work.*\n(?:acme: .*\n)*\{.*"status":"(?:failed|incomplete)"/,
    );
    expect((await open.siteJobs()).size).toBe(2);
  });

  it('the crontab names the script, a user and the configuration', async () => {
    const [line = ''] = (await read('cron/crontab')).split('\n').filter((each) => /^[*\d]/.test(each));
    const [, user, script, config] = /^(?:\S+\s+){5}(\S+)\s+\S+\/(\S+)\s+(\S+)$/.exec(line) ?? [];
    expect([user, config]).toEqual(['jobmirror', '/etc/jobmirror/jobmirror.yaml']);
    expect(await readdir(join(EXAMPLES, 'cron'))).toContain(script);
  });
});

describe('systemd', () => {
  const CONFIG = '/etc/jobmirror/jobmirror.yaml';

  /** The settings of a unit: name → values. */
  async function unit(): Promise<ReadonlyMap<string, readonly string[]>> {
    const settings = new Map<string, readonly string[]>();
    for (const [, name = '', value = ''] of (await read('systemd/jobmirror.service')).matchAll(/^(\w+)=(.*)$/gm)) {
      settings.set(name, [...(settings.get(name) ?? []), value]);
    }
    return settings;
  }

  const secrets = async () =>
    Object.fromEntries(
      [...(await read('systemd/jobmirror.env')).matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [
        name,
        value,
      ]),
    );

  it('systemd accepts the unit', async () => {
    const { error, status, stderr } = spawnSync(
      'systemd-analyze',
      ['verify', join(EXAMPLES, 'systemd/jobmirror.service')],
      { encoding: 'utf8' },
    );
    // Where there is no systemd, the next test at least runs the command of the unit.
    if (error !== undefined) return expect((error as NodeJS.ErrnoException).code).toBe('ENOENT');
    expect([status, stderr]).toEqual([0, '']);
    // An exposure of at most 2.0.
    const secure = ['security', '--offline=true', '--threshold=20', join(EXAMPLES, 'systemd/jobmirror.service')];
    const judged = spawnSync('systemd-analyze', secure, { encoding: 'utf8' });
    expect([judged.status, judged.stdout]).toEqual([0, expect.stringContaining('Overall exposure level')]);
  });

  it('the command of the unit starts, and ends with status 0 in time when it is stopped', async () => {
    const open = await openMirror();
    mirror = open;
    await open.writeFeed(feedXml(postings(1)));
    await appendFile(open.configPath, 'web: { listen: "127.0.0.1:0" }\n');
    const settings = await unit();
    const [command = '', ...args] = settings.get('ExecStart')?.[0]?.split(' ') ?? [];
    expect(args).toContain(CONFIG);
    const own = args.map((arg) => (arg === CONFIG ? open.configPath : arg));
    const { child } = await startUntil(command, own, open.env, /"msg":"started"/);
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    // The program takes 10 seconds at most (docs/reference.md).
    expect(Number(settings.get('TimeoutStopSec')?.[0])).toBeGreaterThan(10);
    expect(settings.get('Restart')).toEqual(['on-failure']);
  });

  it('its EnvironmentFile has exactly the secrets that the configuration names, and the configuration is right', async () => {
    expect((await unit()).get('EnvironmentFile')).toEqual(['/etc/jobmirror/jobmirror.env']);
    const named = [...(await read('systemd/jobmirror.yaml')).matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(await secrets()).sort()).toEqual([...named].sort());
    const config = join(EXAMPLES, 'systemd/jobmirror.yaml');
    const { status, out, errors } = await run('jobmirror', ['check', '--config', config], await secrets());
    expect([status, errors]).toEqual([0, '']);
    expect(out).toContain(' is right.');
  });
});

describe('webhook-receiver', () => {
  const SECRET = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

  const listen = async () => {
    const { found, output } = await startUntil(
      process.execPath,
      [join(EXAMPLES, 'webhook-receiver/receiver.mjs')],
      { WEBHOOK_SECRET: SECRET, PORT: '0' },
      /listening on (\S+)\n/,
    );
    const lines = () => output().split('\n').slice(1, -1);
    return { url: found[1] ?? '', lines };
  };

  it('accepts what jobmirror sends', async () => {
    const receiver = await listen();
    const config = join(bin, 'jobmirror.yaml');
    const alerts = `alerts: { ops: { url: "${receiver.url}", secret: "\${WEBHOOK_SECRET}" } }\n`;
    await writeFile(config, (await read('own-preset/jobmirror.yaml')).replace('county-hospitals', 'indeed') + alerts);
    const env = { WEBHOOK_SECRET: SECRET, BOARD_TOKEN: '3f2c9b7e5d1a48c6' };
    const sent = await run('jobmirror', ['alerts', 'test', '--config', config], env);
    expect(sent).toEqual({ status: 0, out: 'ops: delivered\n', errors: '' });
    await expect
      .poll(() => receiver.lines().map((line) => JSON.parse(line)))
      .toEqual([
        expect.objectContaining({ type: 'alert.test', alert: 'test', message: expect.stringContaining('a test') }),
      ]);
  });

  it('handles a message once, and refuses one that is changed, old or signed with another secret', async () => {
    const receiver = await listen();
    const body = JSON.stringify({ type: 'posting.mirrored', data: { feed: 'acme', key: 'A-1', site: 'board' } });
    const send = async ({ id = 'msg_1', sent = body, secret = SECRET, at = new Date() } = {}) => {
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign(id, at, body),
      };
      return (await fetch(receiver.url, { method: 'POST', headers, body: sent })).status;
    };
    expect(await send()).toBe(204);
    expect(await send()).toBe(204);
    expect(await send({ id: 'msg_2', sent: body.replace('A-1', 'A-2') })).toBe(401);
    expect(await send({ id: 'msg_3', at: new Date(Date.now() - 600_000) })).toBe(401);
    expect(await send({ id: 'msg_4', secret: Buffer.alloc(24, 7).toString('base64') })).toBe(401);
    expect((await fetch(receiver.url, { method: 'POST', body })).status).toBe(401);
    await expect
      .poll(() => receiver.lines())
      .toEqual(['{"type":"posting.mirrored","site":"board","feed":"acme","key":"A-1"}']);
  });
});

it('own-preset: the configuration is right, and its feed becomes postings', async () => {
  const config = join(EXAMPLES, 'own-preset/jobmirror.yaml');
  const env = { BOARD_TOKEN: '3f2c9b7e5d1a48c6' };
  const checked = await run('jobmirror', ['check', '--config', config], env);
  expect(checked).toMatchObject({ status: 0, errors: '' });
  expect(checked.out).toMatch(/^preset county-hospitals: .*county-hospitals\.yaml$/m);
  const tried = await run('jobmirror', ['try', 'north', '--json', '--config', config], env);
  expect(tried).toMatchObject({ status: 0, errors: '' });
  const lines = tried.out.split('\n').slice(0, -1);
  const [nurse, technician, whole] = lines.map((line) => JSON.parse(line));
  expect(nurse).toMatchObject({
    key: 'CH-1001',
    fields: {
      number: 'CH-1001',
      'category-name': 'Nursing',
      description: 'Care for patients on the surgical ward.',
      'location-city': 'Corran',
      'location-state': 'Ohio',
    },
    problems: [],
  });
  expect(technician).toMatchObject({
    key: 'CH-1002',
    fields: { 'category-name': 'Healthcare', 'location-state': 'Texas' },
  });
  expect(whole).toMatchObject({ complete: true, seen: 3, postings: 2, skipped: 1, warnings: [] });
});
