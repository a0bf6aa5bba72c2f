// The steps of "Upgrade" in docs/operations.md, and the way back, from one packed version to the next: nothing is sent twice.
// @module-tag slow
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const run = promisify(execFile);
const NEXT_MIGRATION =
  'create table of_the_next_version (id bigint);\nalter table pull add column of_the_next_version text;\n';

let folder: string;
const NOTHING = { status: 'mirrored', unchanged: 3, created: 0, updated: 0, deleted: 0 };

let mirror: Mirror;
let empty: TestDatabase;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jobmirror-upgrade-'));
  mirror = await openMirror();
  empty = await createTestDatabase({ empty: true });
});
afterAll(async () => {
  await mirror.close();
  await empty.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Packs a version and installs the archive: the package, with the libraries beside it. */
async function install(from: string, name: string): Promise<string> {
  const into = join(folder, name);
  await mkdir(into);
  await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', into], { cwd: from });
  const [archive = ''] = await readdir(into);
  await run('tar', ['-xzf', archive], { cwd: into });
  await symlink(join(packageRoot, 'node_modules'), join(into, 'package', 'node_modules'));
  return join(into, 'package');
}

/** The next version has a migration more. */
async function installNext(present: string): Promise<string> {
  const source = join(folder, 'source');
  await run('cp', ['-r', present, source]);
  await rm(join(source, 'node_modules'));
  const file = join(source, 'package.json');
  const described = JSON.parse(await readFile(file, 'utf8')) as { version: string };
  await writeFile(file, JSON.stringify({ ...described, version: '99.0.0' }));
  await writeFile(join(source, 'src', 'store', 'migrations', '9000_next.sql'), NEXT_MIGRATION);
  return install(source, 'next');
}

it('upgrades with a backup made before, and goes back to it', async () => {
  await mirror.writeFeed(feedXml(postings(3)));
  const present = await install(packageRoot, 'present');
  const next = await installNext(present);
  let database = {};
  const command = async (version: string, ...args: readonly string[]) => {
    const env = { ...process.env, ...mirror.env, ...database, npm_lifecycle_event: undefined, npm_command: undefined };
    const program = [join(version, 'dist', 'src', 'cli', 'main.js'), ...args, '--config', mirror.configPath];
    return run(process.execPath, program, { cwd: mirror.folder, env }).then(
      ({ stdout, stderr }) => ({ status: 0, out: stdout, errors: stderr }),
      ({ code, stdout, stderr }) => ({ status: code as number, out: stdout as string, errors: stderr as string }),
    );
  };
  const syncs = async (version: string) => JSON.parse((await command(version, 'sync', '--json')).out) as object;
  const backup = join(mirror.folder, 'before-upgrade.backup');

  expect(await syncs(present)).toMatchObject({ status: 'mirrored', created: 3 });
  expect((await command(present, 'backup', backup)).status).toBe(0);
  expect((await command(next, 'check')).errors).toBe('');
  expect(await syncs(next)).toMatchObject(NOTHING);
  expect((await command(next, 'changes', '--json')).out.trim().split('\n')).toHaveLength(3);

  const refused = await command(present, 'status');
  expect(refused).toMatchObject({ status: 1, out: '' });
  expect(refused.errors).toContain('migrations that this version does not know (9000_next.sql): update jobmirror');
  expect((await command(present, 'restore', backup, '--replace', '--yes')).errors).toContain(
    'configure an empty database',
  );
  database = { DATABASE_URL: empty.url };
  expect((await command(present, 'restore', backup)).status).toBe(0);
  expect(await syncs(present)).toMatchObject(NOTHING);
  expect([...(await mirror.siteJobs()).keys()]).toHaveLength(3);
  // And forward again.
  expect(await syncs(next)).toMatchObject(NOTHING);
}, 240_000);
