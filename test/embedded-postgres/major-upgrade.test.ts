// A backup moves a database of the embedded server from one major version of Postgres to the next.
// @module-tag slow
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import type { Binaries } from '../../src/embedded-postgres/binaries.ts';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { oldPostgresForTests } from '../support/old-postgres.ts';

vi.setConfig({ testTimeout: 300_000 });

const old = oldPostgresForTests();
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

it.skipIf(old.binaries === undefined)(
  `restores a backup of an older server, and says so before${old.note}`,
  async () => {
    const version = old.binaries?.version ?? '';
    mirror = await openMirror();
    await mirror.writeFeed(feedXml(postings(5)));
    installed.instead = old.binaries;
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
  },
);
