// Plants one fault after another in a copy of the project, runs the tests that should catch it, and reports the faults that survive.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.ts';
import { openEmbeddedServer } from '../../src/embedded-postgres/server.ts';
import { type PlantedFault, plantedFaults } from './faults.ts';

// `dist` is what the tests run: they compile the planted fault to it.
const FOLDERS = ['src', 'jobs', 'dist', 'test', 'config', 'docs'];
const COPIED = [...FOLDERS, 'package.json', 'tsconfig.json', 'vitest.config.ts', 'rolldown.config.mjs'];

/** Runs tests of `project`; returns the exit status and the end of the output. */
async function runTests(
  project: string,
  { tests, named }: Pick<PlantedFault, 'tests' | 'named'>,
  databaseUrl: string,
): Promise<{ status: number | null; output: string }> {
  const vitest = join(packageRoot, 'node_modules/vitest/vitest.mjs');
  const args = ['run', '--bail', '1', '--tags-filter=!slow', ...tests, ...(named ? ['-t', named] : [])];
  const child = spawn(process.execPath, [vitest, ...args], {
    cwd: project,
    // As `npm test` runs them: what only `npm run test:all` runs must not be needed to catch a fault.
    env: { ...process.env, TEST_EXTENT: 'quick', TEST_DATABASE_URL: databaseUrl, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece: Buffer) => {
      output = (output + piece.toString()).slice(-4_000);
    });
  }
  const [status] = (await once(child, 'close')) as [number | null];
  if (status === 0 && !/Tests .*\d passed/.test(output))
    throw new Error(`no test of ${tests.join(', ')} is named ${named}`);
  return { status, output };
}

/** Plants the fault and returns a function that removes it. Throws if the file no longer contains the text. */
function plant(project: string, { file, find, put }: PlantedFault): () => void {
  const path = join(project, file);
  const before = readFileSync(path, 'utf8');
  if (!before.includes(find)) throw new Error(`${file} no longer contains: ${find}`);
  writeFileSync(
    path,
    before.replaceAll(find, () => put),
  );
  return () => writeFileSync(path, before);
}

/** By default all; otherwise those whose file, text or tests contain one of the arguments. */
const only = process.argv.slice(2);
const chosen = plantedFaults.filter(({ file, find, tests }) => {
  const text = [file, find, ...tests].join('\n');
  return only.length === 0 || only.some((part) => text.includes(part));
});
const folder = mkdtempSync(join(tmpdir(), 'jobmirror-planted-'));
// The unprivileged user of the database server must be able to enter the folder.
chmodSync(folder, 0o711);
const project = join(folder, 'project');
const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
const server = await openEmbeddedServer(join(folder, 'data'), { settings });
const survivors: PlantedFault[] = [];
try {
  for (const name of COPIED) cpSync(join(packageRoot, name), join(project, name), { recursive: true });
  symlinkSync(join(packageRoot, 'node_modules'), join(project, 'node_modules'));
  const all = { tests: [...new Set(chosen.flatMap(({ tests }) => tests))] };
  const { status, output } = await runTests(project, all, server.url('postgres'));
  if (status !== 0)
    throw new Error(`the tests also fail without any fault, so no result would prove anything:\n${output}`);
  for (const fault of chosen) {
    const takeOut = plant(project, fault);
    const { status } = await runTests(project, fault, server.url('postgres'));
    takeOut();
    if (status === 0) survivors.push(fault);
    process.stdout.write(`${status === 0 ? 'SURVIVED' : 'caught  '} ${fault.file}: ${fault.find} → ${fault.put}\n`);
  }
} finally {
  await server.leave();
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`${chosen.length - survivors.length} of ${chosen.length} planted faults were caught\n`);
if (survivors.length > 0) process.exitCode = 1;
