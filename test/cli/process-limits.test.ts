// A process with too few file descriptors or too small a heap says so; its files are never writable by others.
// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explainLowLimits } from '../../src/cli/run-process.ts';
import { PROGRAM, SHIPPED_PROGRAM } from './program.ts';

/** Most tests use the same data folder: creating a database takes longer than anything else here. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jobmirror-limits-'));
  await writeFile(join(folder, 'token'), 'a-token-of-some-length', { mode: 0o600 });
  await writeFile(join(folder, 'feed.xml'), '<source></source>');
  await writeFile(
    join(folder, 'jobmirror.yaml'),
    `data_dir: ${join(folder, 'data')}
sites: { board: { base_url: "http://127.0.0.1:9", token_file: token } }
feeds: { acme: { source: feed.xml, format: indeed, site: board } }
`,
  );
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a shell line in which `$run` is the program, by default as it is shipped. */
async function shell(line: string, program = SHIPPED_PROGRAM): Promise<{ status: number | null; errors: string }> {
  const run = `'${process.execPath}' '${program}'`;
  const child = spawn('/bin/sh', ['-c', line.replaceAll('$run', run)], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [status] = await once(child, 'close');
  return { status, errors };
}

it('created files are not writable by others under umask 000', { tags: 'every-node' }, async () => {
  await rm(join(folder, 'data'), { recursive: true, force: true });
  expect((await shell('umask 000; $run status', PROGRAM)).status).toBe(0);
  for (const path of ['data', 'data/postgres', 'data/postgres/cluster/made-for']) {
    expect([path, (await stat(join(folder, path))).mode & 0o022]).toEqual([path, 0]);
  }
});

describe('limits of the process', { tags: 'every-node' }, () => {
  it.skipIf(process.platform !== 'linux')('too few open files: says how many are needed', async () => {
    const { status, errors } = await shell('ulimit -n 64; $run status', PROGRAM);
    expect(status).toBe(1);
    expect(errors).toBe(
      'jobmirror: only 64 files may be open at a time, and 256 are needed; raise the limit: ulimit -n 256\n',
    );
  });

  // Newer versions of Node.js fail with such a small heap before they run anything.
  it('a heap that is too small: says how much is needed', () => {
    expect(explainLowLimits(1024, 64)).toMatch(/^the heap is limited to 64 MiB, and 96 are needed; raise the limit: /);
    expect(explainLowLimits(1024, 96)).toBeUndefined();
  });

  it('a heap of 128 MB is enough for every command', async () => {
    expect(await shell('NODE_OPTIONS=--max-old-space-size=128 $run status')).toEqual({ status: 0, errors: '' });
  });
});

it('a table with an unclosed quote is tried in little memory', async () => {
  const rows = Array.from(
    { length: 250_000 },
    (_, n) => `${n},${n === 10 ? '"' : ''}Nurse of ward ${n} with a long title as some have them,TX`,
  );
  await writeFile(join(folder, 'quote.csv'), ['id,title,state', ...rows, ''].join('\n'));
  await writeFile(
    join(folder, 'quote.yaml'),
    `sites: { board: { base_url: "http://127.0.0.1:9", token_file: token } }
feeds: { acme: { source: quote.csv, format: { type: csv, key: id, fields: { title: title, location-state: state } }, site: board } }
`,
  );
  // Kibibytes, when the process ends.
  const peak = `process.once('exit', () => process.stderr.write('peak ' + process.resourceUsage().maxRSS))`;
  await writeFile(join(folder, 'peak.mjs'), peak);
  const options = '--max-old-space-size=128 --import=./peak.mjs';
  const { errors } = await shell(`NODE_OPTIONS='${options}' $run try acme --config quote.yaml`, PROGRAM);
  expect(Number(/peak (\d+)$/.exec(errors)?.[1]) / 1024, errors).toBeLessThan(300);
});

it('four commands at once share the embedded server, and the last one stops it', async () => {
  await rm(join(folder, 'data'), { recursive: true, force: true });
  const ended = await Promise.all(
    Array.from({ length: 4 }, (_, at) => shell(at % 2 === 0 ? '$run sync --json' : '$run status --json', PROGRAM)),
  );
  // On a slow machine, progress lines.
  const errors = ended.map((command) => command.errors.replace(/^acme: (?:waiting|reading|sending)\b.*\n/gm, ''));
  expect(errors.join('')).toBe('');
  expect(ended.filter(({ status }) => status !== 0)).toEqual([]);
  expect(existsSync(join(folder, 'data/postgres/cluster/data/postmaster.pid'))).toBe(false);
});
