// The scripts that documents name exist, and the commands of the README's first feed work as they stand.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { SHIPPED_PROGRAM } from '../cli/program.ts';
import { freePort } from '../support/free-port.ts';

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');
const readme = read('README.md');
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };

const DOCUMENTS = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md'],
  ...readdirSync(join(packageRoot, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

it.each(DOCUMENTS)('%s names scripts that package.json has', (path) => {
  const named = [...read(path).matchAll(/npm run (?:--silent )?([a-z][a-z:-]*)/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

describe('the first feed', () => {
  const section = /^## A feed in five minutes$([\s\S]*?)^## /m.exec(readme)?.[1] ?? '';
  const [alias = '', site = '', configure = '', send = ''] = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(
    ([, commands = '']) => commands,
  );
  let folder: string;
  let sandbox: ChildProcess | undefined;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'jobmirror-readme-'));
    symlinkSync(join(packageRoot, 'config'), join(folder, 'config'));
    writeFileSync(join(folder, 'jobmirror'), `#!/bin/sh\nexec '${process.execPath}' '${SHIPPED_PROGRAM}' "$@"\n`, {
      mode: 0o755,
    });
  });
  afterAll(async () => {
    if (sandbox !== undefined && sandbox.exitCode === null) {
      const ended = once(sandbox, 'close');
      process.kill(-(sandbox.pid ?? 0), 'SIGTERM');
      await ended;
    }
    rmSync(folder, { recursive: true, force: true });
  });

  const environment = () => ({ ...process.env, PATH: `${folder}:${process.env.PATH}` });

  /** Runs one line, as a person would paste it. */
  const run = (line: string): Promise<{ readonly status: number; readonly out: string; readonly errors: string }> =>
    new Promise((resolve) => {
      execFile('/bin/sh', ['-c', line], { cwd: folder, env: environment() }, (error, out, errors) =>
        resolve({ status: error === null ? 0 : Number(error.code), out, errors }),
      );
    });

  it('is mirrored by the commands as they stand', { timeout: 300_000, tags: 'slow' }, async () => {
    expect(alias).toContain("alias jobmirror='npm run --silent jobmirror --'");
    const port = await freePort();
    // Only the port differs: another one may be in use.
    const here = (commands: string) => commands.replaceAll(':8081', `:${port}`);
    const serve = site.replace('jobmirror sandbox', `jobmirror sandbox --port ${port}`);
    const serving = spawn('/bin/sh', ['-c', serve], { cwd: folder, env: environment(), detached: true });
    sandbox = serving;
    let shown = '';
    for (const stream of [serving.stdout, serving.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        shown += text;
        serving.emit('shown');
      });
    }
    while (!shown.includes(`http://127.0.0.1:${port}`)) {
      if (serving.exitCode !== null) throw new Error(`the sandbox ended:\n${shown}`);
      await Promise.race([once(serving, 'shown'), once(serving, 'exit')]);
    }
    const lines = [configure, send].flatMap((commands) => here(commands).trim().split('\n'));
    expect(lines.length).toBe(7);
    const results: { readonly line: string; readonly status: number; readonly out: string }[] = [];
    for (const line of lines) {
      const { status, out, errors } = await run(line);
      results.push({ line, status, out: `${out}${errors}` });
    }
    expect(results.filter(({ status }) => status !== 0)).toEqual([]);
    const outOf = (command: string) =>
      results.filter(({ line }) => line.startsWith(`jobmirror ${command}`)).map(({ out }) => out);
    expect(outOf('check')[0]).toContain('is right.');
    expect(outOf('plan')[0]).toContain('60 to create');
    expect(outOf('sync')).toEqual([
      expect.stringMatching(/60 created/),
      expect.stringMatching(/60 unchanged.*0 requests/),
    ]);
  });
});
