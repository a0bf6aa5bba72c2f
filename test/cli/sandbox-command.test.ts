// `jobmirror sandbox`: in a process of its own it serves the interface, keeps its jobs, and reports invalid options.
// @module-tag slow
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { basic, jobOf, nurse } from '../sandbox/test-sandbox.ts';
import { createTestDatabase } from '../support/database.ts';
import { type RunningProgram, startProgram } from './program.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

const SECRETS = { JOBMIRROR_SANDBOX_TOKEN: 'a-known-token', JOBMIRROR_SANDBOX_PASSWORD: 'a known password' };

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandbox für alle '));
  await chmod(folder, 0o711);
});

afterAll(() => rm(folder, { recursive: true }));

const start = (args: readonly string[], env: NodeJS.ProcessEnv = {}): RunningProgram =>
  startProgram(['sandbox', ...args], { cwd: folder, env });

/** In this process. */
const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<ProgramResult> =>
  runProgram({ folder, env }, 'sandbox', ...args);

const urlOf = async (sandbox: RunningProgram): Promise<string> =>
  (await sandbox.printed(/The sandbox is at (\S+)[\s\S]*Ctrl-C/))[1] ?? '';

const send = (url: string, method: string, body?: string): Promise<Response> =>
  fetch(url, {
    method,
    body,
    headers: {
      authorization: basic('a-known-token'),
      ...(body === undefined ? {} : { 'content-type': 'application/xml' }),
    },
  });

async function stop(sandbox: RunningProgram, signal: NodeJS.Signals): Promise<void> {
  sandbox.process.kill(signal);
  expect(await sandbox.ended, sandbox.errors()).toEqual({ status: 0, signal: null });
}

describe('on the embedded database', { timeout: 240_000 }, () => {
  it('serves its account with settings and faults, keeps its jobs across a restart, and shows no secret', async () => {
    const first = start(
      ['--port', '0', '--account', 'ann@example.com', '--delete-status', '204', '--fault', '503=on:show,count:1'],
      SECRETS,
    );
    const url = await urlOf(first);
    const made = await send(`${url}/jobs.xml`, 'POST', jobOf(nurse));
    expect(made.status).toBe(201);
    const kept = new URL(made.headers.get('location') ?? '').pathname;
    expect((await send(`${url}${kept}.xml`, 'GET')).status).toBe(503);
    expect((await send(`${url}${kept}.xml`, 'GET')).status).toBe(200);
    const other = await send(`${url}/jobs.xml`, 'POST', jobOf(nurse));
    expect((await send(`${other.headers.get('location')}.xml`, 'DELETE')).status).toBe(204);
    await stop(first, 'SIGINT');
    for (const secret of Object.values(SECRETS)) expect(first.out() + first.errors()).not.toContain(secret);

    // Without a given password the account keeps its own; a generated one is shown.
    const second = start(['--port', '0', '--account', 'ann@example.com']);
    const again = await urlOf(second);
    expect((await send(`${again}${kept}.xml`, 'GET')).status).toBe(200);
    expect(second.out()).toContain('Account ann@example.com, with the password it was given.');
    await stop(second, 'SIGTERM');
  });

  it('generates a password for a new account, and shows it once', async () => {
    const first = start(['--port', '0', '--account', 'bob@example.com']);
    const url = await urlOf(first);
    const [, password = ''] = await first.printed(/Account bob@example\.com, password (\S+) \(not shown again\)/);
    const form = new URLSearchParams({ email: 'bob@example.com', password });
    const answer = await fetch(`${url}/login`, {
      method: 'POST',
      body: form,
      redirect: 'manual',
      headers: { origin: url },
    });
    expect([answer.status, answer.headers.has('set-cookie')]).toEqual([303, true]);
    await stop(first, 'SIGTERM');
  });

  it('refuses an existing account with another password', async () => {
    const { status, errors } = await run(['--port', '0', '--account', 'ann@example.com'], {
      ...SECRETS,
      JOBMIRROR_SANDBOX_PASSWORD: 'another password',
    });
    expect(status).toBe(1);
    expect(errors).toContain('an account ann@example.com already, with another password');
  });
});

it('keeps its jobs in the database of a configuration', { timeout: 180_000 }, async () => {
  const database = await createTestDatabase({ empty: true });
  const config = join(folder, 'jobmirror.yaml');
  await writeFile(config, `database: \${DATABASE_URL}\nsites: {}\nfeeds: {}\n`);
  const sandbox = start(['--port', '0', '--config', config], { DATABASE_URL: database.url });
  expect((await fetch(`${await urlOf(sandbox)}/jobs.xml`)).status).toBe(200);
  await stop(sandbox, 'SIGTERM');
  await database.drop();
});

it('says which port is taken, and what to do', { timeout: 180_000 }, async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => holder.once('listening', resolve));
  const { port } = holder.address() as AddressInfo;
  const { status, errors } = await run(['--port', String(port)]);
  expect(status).toBe(1);
  expect(errors).toContain(
    `jobmirror: port ${port} of 127.0.0.1 is taken; choose another one with --port, or --port 0`,
  );
  holder.close();
});

it.each([
  ['an unknown fault', ['--fault', 'nope'], /no fault 'nope': there are latency, refuse/],
  ['a wrong parameter of a fault', ['--fault', '429=retry-after:maybe'], /'maybe' is not one of none, seconds, date/],
  ['a wrong value of a setting', ['--id-form', 'roman'], /'roman' is not one of number, uuid, slug/],
  ['an unknown option', ['--id-forms', 'number'], /unknown option '--id-forms'/],
  ['an invalid port', ['--port', '65536'], /A port is a number from 0 to 65535/],
  [
    'two databases for its jobs',
    ['--config', 'a.yaml', '--data-dir', 'b'],
    /'--data-dir <folder>' cannot be used with/,
  ],
  ['an account that is not an address', ['--account', 'ann'], /--account ann: not an e-mail address/],
])('refuses %s, before it opens anything', async (_name, args, message) => {
  const { status, errors } = await run(args);
  expect(status).toBe(1);
  expect(errors).toMatch(message);
});

it('refuses a token that HTTP Basic cannot carry', async () => {
  const { status, errors } = await run(['--account', 'ann@example.com'], { JOBMIRROR_SANDBOX_TOKEN: 'a:b' });
  expect(status).toBe(1);
  expect(errors).toContain('JOBMIRROR_SANDBOX_TOKEN: a token holds no colon');
});

it('explains every setting and every fault in its help', async () => {
  const help = await run(['--help']);
  expect(help.status).toBe(0);
  for (const text of ['--validation-status <value>', '--paging <value>', 'timeout-late', 'retry-after: form of'])
    expect(help.out).toContain(text);
});
