// `jobmirror demo` as a newcomer starts it: it explains itself, and cleans up however it ends. test/packaging/npm-package.test.ts
// runs it to its end and checks what it proves.
// @module-tag slow
import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SHIPPED_PROGRAM, startProgram } from './program.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'demo für alle '));
  await chmod(folder, 0o711);
});

afterEach(() => rm(folder, { recursive: true }));

/** Its folder exists, and the sync comes later. */
const BEGUN = /the site +http/;

/** A service is cut off 9.5 s after a signal. */
const LONGER_THAN_A_SERVICE_MS = 10_000;

/** The process ID of the database server of a demo. */
async function postgresOf(demo: number | undefined): Promise<number> {
  const files = await readdir(folder, { recursive: true });
  const file = files.find((name) => name.includes(`demo-${demo}/`) && name.endsWith('postmaster.pid'));
  return Number((await readFile(join(folder, String(file)), 'utf8')).split('\n', 1)[0]);
}

it('without --once, keeps its site open until a signal, then takes the time to clean up and exits with status 0', {
  timeout: 240_000,
}, async () => {
  const demo = startProgram(['demo'], { cwd: folder, program: SHIPPED_PROGRAM });
  const [, url = ''] = await demo.printed(/The site: +(\S+)/);
  await demo.printed(/Ctrl-C ends the demo/);
  expect((await fetch(`${url}/jobs.xml`)).status).toBe(200);
  const [, pages = ''] = await demo.printed(/The pages: +(\S+)/);
  expect(await (await fetch(pages)).text()).toContain('is not a valid U.S. state: &quot;Jalisco');
  // The printed commands work as typed, with paths quoted where needed.
  const commands = [...demo.out().matchAll(/^ +(node .*)$/gm)].map(([, command = '']) => command);
  expect(commands.map((command) => /main\.js'? (\w+(?: \w+)?)/.exec(command)?.[1])).toEqual([
    'review list',
    'review show',
    'review edit',
    'why corrandale',
  ]);
  for (const command of commands) {
    const result = spawnSync(command, { cwd: folder, shell: true, encoding: 'utf8' });
    expect([result.status, result.stdout, result.stderr]).toEqual([
      0,
      expect.stringMatching(/CH-20679|created \(201\)/),
      '',
    ]);
  }
  expect(await (await fetch(`${url}/states/new-hampshire.xml`)).text()).toContain('Patient Registrar, Weekends');
  const postgres = await postgresOf(demo.process.pid);
  process.kill(postgres, 'SIGSTOP');
  demo.process.kill('SIGINT');
  await setTimeout(LONGER_THAN_A_SERVICE_MS);
  process.kill(postgres, 'SIGCONT');
  expect(await demo.ended).toEqual({ status: 0, signal: null });
  expect(await readdir(folder)).toEqual([]);
});

it('stopped midway, removes everything, also what a killed demo left behind, and does not claim to be done', {
  timeout: 240_000,
}, async () => {
  const killed = startProgram(['demo', '--once'], { cwd: folder });
  await killed.printed(BEGUN);
  killed.process.kill('SIGKILL');
  await killed.ended;
  expect(await readdir(join(folder, '.jobmirror'))).toEqual([`demo-${killed.process.pid}`]);

  const demo = startProgram(['demo', '--once'], { cwd: folder });
  await demo.printed(BEGUN);
  demo.process.kill('SIGTERM');
  expect(await demo.ended).toEqual({ status: 1, signal: null });
  expect(demo.out()).not.toContain('proven');
  expect(await readdir(folder)).toEqual([]);
});
