// `jobmirror demo` as a newcomer starts it: it explains itself, proves its result, and cleans up however it ends.
import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SHIPPED_PROGRAM, startProgram } from './program.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'demo für alle '));
  await chmod(folder, 0o711);
});

afterEach(() => rm(folder, { recursive: true }));

it('with --once, proves its result in plain lines and removes everything, also what a killed demo left behind', {
  timeout: 240_000,
}, async () => {
  const killed = startProgram(['demo', '--once'], { cwd: folder });
  await killed.printed(/The sync, as/);
  killed.process.kill('SIGKILL');
  await killed.ended;
  expect(await readdir(join(folder, '.jobmirror'))).toEqual([`demo-${killed.process.pid}`]);

  const demo = startProgram(['demo', '--once'], { cwd: folder });
  expect(await demo.ended, demo.errors()).toEqual({ status: 0, signal: null });
  const lines = demo.out().split('\n');
  const proven = lines.filter((line) => line.includes('proven:')).map((line) => line.trim());
  expect(proven).toEqual([
    "proven: 60 valid postings are live, each as one job with exactly the posting's fields",
    'proven: SL-0881 appears twice in the feed, and the first of the two is live',
    'proven: 5 invalid postings are in review; CH-20553 was live before and stays as it was',
    'proven: 5 postings left the feed, and the site answers 404 for their jobs',
    'proven: the site has 61 jobs: these 61 and no other',
    'proven: the pull of the unchanged feed sent the site no request',
    'proven: SL-0904, SL-0906, SL-0907 are live, each as one job with that state',
  ]);
  expect(lines.filter((line) => line.startsWith('    corrandale: '))).toEqual([
    expect.stringContaining(': 60 seen, 60 created; 60 requests in'),
    expect.stringContaining(
      ': 66 seen, 6 created, 8 updated, 5 deleted, 46 unchanged, 5 rejected, 1 duplicate; 19 requests in',
    ),
    expect.stringContaining(': 66 seen, 60 unchanged, 5 rejected, 1 duplicate; 0 requests in'),
  ]);
  // No escape sequences and no logs; on standard error at most progress lines, on a slow machine.
  expect(demo.out()).not.toContain('\u001b');
  expect(demo.errors().replace(/^corrandale: (?:reading|sending), .*\n/gm, '')).toBe('');
  expect(await readdir(folder)).toEqual([]);
});

it('without --once, keeps its site open until a signal, then exits with status 0', {
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
  demo.process.kill('SIGINT');
  expect(await demo.ended).toEqual({ status: 0, signal: null });
  expect(await readdir(folder)).toEqual([]);
});

it('stopped midway, removes everything, and does not claim to be done', { timeout: 240_000 }, async () => {
  const demo = startProgram(['demo', '--once'], { cwd: folder });
  await demo.printed(/The sync, as/);
  demo.process.kill('SIGTERM');
  expect(await demo.ended).toEqual({ status: 1, signal: null });
  expect(demo.out()).not.toContain('proven');
  expect(await readdir(folder)).toEqual([]);
});
