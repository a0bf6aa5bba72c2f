// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the tests are about ${NAME} in the configuration.
// Feeds are shown, checked and saved as files: whole or not at all, never over somebody else's change, and without secrets.
import { createHash } from 'node:crypto';
import diagnostics from 'node:diagnostics_channel';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { complaintLine } from '../../src/config/config-error.ts';
import {
  checkFeedFile,
  findFormerText,
  keepHandEdits,
  listFeedFileVersions,
  saveFeedFile,
  showFeedFile,
} from '../../src/config/feed-files.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { feedName } from '../../src/posting/identifiers.ts';
import { type FeedSetup, sourceAccess } from '../../src/pull/feed-setup.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { addFoundVersion, addressesOfLastSave } from '../../src/store/feed/feed-file-versions.ts';
import { addUpload, keepNewest, readUploads } from '../../src/store/feed/feed-uploads.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let folder: string;
let database: TestDatabase;
let db: Database;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'jobmirror-feed-files-'));
  database = await createTestDatabase();
  db = openDatabase(database.url, { max: 3 });
  write('jobmirror.yaml', MAIN);
});
afterEach(async () => {
  await db.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const MAIN = `include: feeds/*.yaml
web:
  source_folders: [drop]
sites:
  board:
    base_url: https://jobs.example.com
    token: \${BOARD_TOKEN}
`;
const FEED =
  '# Acme sends this nightly.\nsource: https://acme.example/jobs.xml # their list\nformat: indeed\nsite: board\n';
const acme = feedName('acme');
const ENV = { BOARD_TOKEN: 'zq-51f0c2d7', KEY: 'zq-key' };

function write(file: string, text: string): string {
  const path = join(folder, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const around = async () => ({
  config: await loadConfig({ cwd: folder, env: ENV, brokenFeeds: 'leave_out', absentSecrets: 'keep' }),
  db,
  env: ENV,
});
const save = async (text: string, seen?: string, feed = 'acme') =>
  saveFeedFile(await around(), { feed, text, seen, actor: 'anna' });
/** As the operation does. `undefined`: there is no such version. */
async function restoreFeedFileVersion(
  context: Awaited<ReturnType<typeof around>>,
  { version, ...draft }: { feed: string; version: number; seen: string | undefined; actor: string },
) {
  const restored = await findFormerText(context, feedName(draft.feed), version);
  return restored && saveFeedFile(context, { ...draft, text: restored.text, restored });
}
const problemsOf = async (text: string, feed = 'acme'): Promise<readonly string[]> => {
  const checked = await checkFeedFile(await around(), feed, text);
  return checked.kind === 'wrong' ? checked.problems.map(complaintLine) : [];
};
const onDisk = (): string => readFileSync(join(folder, 'feeds/acme.yaml'), 'utf8');
const filesOnDisk = (): readonly string[] =>
  existsSync(join(folder, 'feeds')) ? readdirSync(join(folder, 'feeds')).sort() : [];

describe('saving', () => {
  it('writes a new feed as given, and a changed one over what was seen, with its mode', async () => {
    const first = await save(FEED.replaceAll('\n', '\r\n'));
    expect(first).toMatchObject({ kind: 'saved', version: 1, isNew: true, file: join(folder, 'feeds/acme.yaml') });
    expect(onDisk()).toBe(FEED);
    chmodSync(join(folder, 'feeds/acme.yaml'), 0o640);
    const shown = await showFeedFile(await around(), acme);
    expect(shown).toMatchObject({ text: FEED, readOnly: undefined, seen: first.kind === 'saved' ? first.seen : '' });
    const changed = await save(`${FEED}schedule: "0 3 * * *"\n`, shown?.seen);
    expect(changed).toMatchObject({ kind: 'saved', version: 2, isNew: false });
    expect(onDisk()).toBe(`${FEED}schedule: "0 3 * * *"\n`);
    expect(statSync(join(folder, 'feeds/acme.yaml')).mode & 0o777).toBe(0o640);
    expect(filesOnDisk()).toEqual(['acme.yaml']);
    expect(await save(onDisk(), changed.kind === 'saved' ? changed.seen : '')).toMatchObject({ kind: 'unchanged' });
    const audited = await db.query('select actor, action, feed, detail from audit order by id');
    expect(audited).toEqual([
      { actor: 'anna', action: 'save feed file', feed: 'acme', detail: { version: 1, new: true } },
      { actor: 'anna', action: 'save feed file', feed: 'acme', detail: { version: 2 } },
    ]);
  });

  it('checks the whole configuration first, and says where each mistake is', async () => {
    write('feeds/beta.yaml', 'source: [torn\n');
    expect(await problemsOf(`${FEED}shedule: x\nguard: 3\nencoding: klingon\n`)).toEqual([
      expect.stringMatching(/^feeds\/acme.yaml:5:1 feeds.acme.shedule: is not a setting/),
      expect.stringMatching(/^feeds\/acme.yaml:6:1 feeds.acme.guard: /),
    ]);
    expect(await problemsOf(`${FEED}encoding: klingon\n`)).toEqual([
      'feeds/acme.yaml feeds.acme.encoding: the encoding "klingon" is unknown; set one such as utf-8 or windows-1252',
    ]);
    expect(await problemsOf('source: [x\n')).toEqual([
      expect.stringMatching(/^feeds\/acme.yaml:\d:\d+ feeds.acme: not valid YAML/),
    ]);
    expect(await save(FEED.replace('board', 'bord'))).toMatchObject({ kind: 'wrong' });
    expect(filesOnDisk()).toEqual(['beta.yaml']);
    // The mistake of another feed is not this one's.
    expect(await save(FEED)).toMatchObject({ kind: 'saved' });
  });

  it('refuses what was changed by hand in between, and keeps that as a version once it is replaced', async () => {
    write('feeds/acme.yaml', FEED);
    const seen = (await showFeedFile(await around(), acme))?.seen;
    write('feeds/acme.yaml', `${FEED}schedule: "0 4 * * *"\n`);
    const refused = await save(`${FEED}schedule: "0 3 * * *"\n`, seen);
    expect(refused).toMatchObject({ kind: 'changed', text: `${FEED}schedule: "0 4 * * *"\n` });
    expect(await save(FEED.replace('indeed', 'rss'))).toMatchObject({ kind: 'changed' });
    expect(onDisk()).toContain('0 4 * * *');
    const now = refused.kind === 'changed' ? refused.seen : '';
    expect(await save(`${FEED}schedule: "0 3 * * *"\n`, now)).toMatchObject({ kind: 'saved', version: 2 });
    expect(await listFeedFileVersions(await around(), acme)).toMatchObject([
      { version: 2, actor: 'anna', isPresent: true },
      { version: 1, actor: undefined, text: `${FEED}schedule: "0 4 * * *"\n`, isPresent: false },
    ]);
    rmSync(join(folder, 'feeds/acme.yaml'));
    expect(await save(FEED, now)).toMatchObject({ kind: 'changed', text: undefined, seen: undefined });
  });

  it('restores a former version as a new one, also after the file was removed', async () => {
    const first = await save(FEED);
    const second = await save(`${FEED}schedule: "0 3 * * *"\n`, first.kind === 'saved' ? first.seen : '');
    const seen = second.kind === 'saved' ? second.seen : '';
    const restored = { feed: acme, version: 1, actor: 'bert' };
    expect(await restoreFeedFileVersion(await around(), { ...restored, seen: 'old' })).toMatchObject({
      kind: 'changed',
    });
    expect(await restoreFeedFileVersion(await around(), { ...restored, seen })).toMatchObject({
      kind: 'saved',
      version: 3,
    });
    expect(onDisk()).toBe(FEED);
    rmSync(join(folder, 'feeds/acme.yaml'));
    expect(await restoreFeedFileVersion(await around(), { ...restored, seen: undefined, version: 2 })).toMatchObject({
      version: 4,
    });
    expect(await restoreFeedFileVersion(await around(), { ...restored, seen: undefined, version: 9 })).toBeUndefined();
    const [last] = await db.query<{ detail: object }>('select detail from audit order by id desc limit 1');
    expect(last?.detail).toEqual({ version: 4, new: true, restores: 2 });
  });

  it('keeps the last 100 versions', async () => {
    await db.query(
      `insert into feed_file_version (feed, version, actor, text) select 'acme', n, 'anna', 'text ' || n from generate_series(1, 100) n`,
    );
    expect(await save(FEED)).toMatchObject({ kind: 'saved', version: 101 });
    const versions = await listFeedFileVersions(await around(), acme);
    expect([versions.length, versions.at(-1)?.version]).toEqual([100, 2]);
  });

  it('a file that repeats itself by an alias is a mistake of its feed only', async () => {
    write('feeds/beta.yaml', FEED);
    write('feeds/acme.yaml', `${FEED}credentials: &a\n  basic: *a\n`);
    const { config } = await around();
    expect([[...config.feeds.keys()], [...config.brokenFeeds.keys()]]).toEqual([['beta'], ['acme']]);
  });

  it('keeps which addresses were brought from here, however often the file is edited by hand', async () => {
    await save(FEED);
    for (let n = 1; n <= 101; n++) await db.transaction((tx) => addFoundVersion(tx, acme, `text ${n}`));
    expect([...(await addressesOfLastSave(db, acme))]).toEqual(['https://acme.example/jobs.xml']);
    expect((await listFeedFileVersions(await around(), acme)).length).toBe(101);
  });

  it('who saves over a text whose addresses are not recorded yet has brought them', async () => {
    const steps = diagnostics.channel('jobmirror:step');
    const seen = createHash('sha256').update(FEED).digest('base64url');
    const other = openDatabase(database.url, { max: 2 });
    let second: ReturnType<typeof save> | undefined;
    const onStep = (crossed: unknown) => {
      if (crossed === 'feed-file-replaced') second ??= save(`${FEED}schedule: "0 3 * * *"\n`, seen);
    };
    steps.subscribe(onStep);
    try {
      const first = await other.transaction(async (tx) => {
        // The first one can't record what it has written until the second one waits for it.
        await tx.query('lock table audit in exclusive mode');
        const saving = save(FEED);
        await expect
          .poll(() => other.query("select from pg_locks where locktype = 'advisory' and not granted"), {
            timeout: 10_000,
          })
          .toHaveLength(1);
        return { saving };
      });
      expect(await first.saving).toMatchObject({ kind: 'saved' });
      expect(await second).toMatchObject({ kind: 'saved' });
    } finally {
      steps.unsubscribe(onStep);
      await other.close();
    }
    expect([...(await addressesOfLastSave(db, acme))]).toEqual(['https://acme.example/jobs.xml']);
  });

  it.each(['feed-file-kept', 'feed-file-written', 'feed-file-replaced'])(
    'a process that dies at the step %s leaves the former or the new text, and the next one tells both',
    async (step) => {
      write('feeds/acme.yaml', FEED);
      const seen = (await showFeedFile(await around(), acme))?.seen;
      const next = `${FEED}schedule: "0 3 * * *"\n`;
      const steps = diagnostics.channel('jobmirror:step');
      const die = (crossed: unknown) => {
        if (crossed === step) throw new Error('died');
      };
      const failing = new Promise<void>((resolve) => process.once('uncaughtException', () => resolve()));
      steps.subscribe(die);
      try {
        await save(next, seen);
      } catch {
        // Some steps throw where they are crossed.
      } finally {
        steps.unsubscribe(die);
      }
      await failing;
      expect([FEED, next]).toContain(onDisk());
      write('feeds/.acme.yaml.0123456789ab.tmp', 'left by a crash');
      const present = (await showFeedFile(await around(), acme))?.seen;
      expect(await save(`${next}enabled: x\n`, present)).toMatchObject({ kind: 'wrong' });
      expect(await save(FEED.replace('nightly', 'daily'), present)).toMatchObject({ kind: 'saved' });
      expect(filesOnDisk()).toEqual(['acme.yaml']);
      const texts = (await listFeedFileVersions(await around(), acme)).map(({ text }) => text);
      expect(texts).toContain(FEED);
    },
  );
});

describe('the addresses that a page has brought', () => {
  const brought = 'https://brought.example/jobs.xml';
  const NEXT = FEED.replace('https://acme.example/jobs.xml', brought);

  /** Ends the connection that saves while it records that the file was replaced, as the end of the process would. */
  async function saveAndDie(text: string, seen: string | undefined): Promise<void> {
    const other = openDatabase(database.url, { max: 2 });
    try {
      await other.transaction(async (tx) => {
        await tx.query('lock table audit in exclusive mode');
        const saving = save(text, seen).then(
          () => 'saved',
          () => 'died',
        );
        const waiting = `select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%audit%'`;
        await expect.poll(() => other.query(waiting), { timeout: 10_000 }).toHaveLength(1);
        await other.query(`select pg_terminate_backend(pid) from (${waiting}) w`);
        expect(await saving).toBe('died');
      });
    } finally {
      await other.close();
    }
    expect(onDisk()).toBe(text);
  }

  it('are known although the process ended before it recorded that it had replaced the file', async () => {
    write('feeds/acme.yaml', FEED);
    const seen = (await showFeedFile(await around(), acme))?.seen;
    await saveAndDie(NEXT, seen);
    expect([...(await addressesOfLastSave(db, acme))]).toEqual([brought]);
    expect(await listFeedFileVersions(await around(), acme)).toMatchObject([
      { text: NEXT, actor: 'anna', isPresent: true },
      { text: FEED, actor: undefined },
    ]);
    // Nobody has written it by hand, and who has saved it is told.
    expect([...(await keepHandEdits(await around(), [acme]))]).toEqual([]);
    expect(await db.query('select actor, action from audit')).toEqual([{ actor: 'anna', action: 'save feed file' }]);
    const present = (await showFeedFile(await around(), acme))?.seen;
    expect(await save(`${NEXT}schedule: "0 3 * * *"\n`, present)).toMatchObject({ kind: 'saved' });
    expect([...(await addressesOfLastSave(db, acme))]).toEqual([brought]);
  });

  it('of the former text stay known as well while it is not', async () => {
    await save(NEXT);
    const seen = (await showFeedFile(await around(), acme))?.seen;
    await saveAndDie(NEXT.replace(brought, 'https://third.example/jobs.xml'), seen);
    expect([...(await addressesOfLastSave(db, acme))].sort()).toEqual([brought, 'https://third.example/jobs.xml']);
    // The process had ended before it replaced the file.
    write('feeds/acme.yaml', NEXT);
    expect([...(await addressesOfLastSave(db, acme))]).toContain(brought);
    const versions = await listFeedFileVersions(await around(), acme);
    expect(versions.map(({ text }) => text)).toEqual([NEXT]);
    expect(await save(`${NEXT}schedule: "0 3 * * *"\n`, seen)).toMatchObject({ kind: 'saved' });
    expect([...(await addressesOfLastSave(db, acme))]).toEqual([brought]);
  });

  it('stay brought in a version that is restored, and those that were written by hand stay that', async () => {
    const inside = FEED.replace('https://acme.example/jobs.xml', 'http://127.0.0.1:9/jobs.xml');
    write('feeds/acme.yaml', inside);
    const first = (await showFeedFile(await around(), acme))?.seen;
    const saved = await save(NEXT, first);
    expect(saved).toMatchObject({ kind: 'saved', version: 2 });
    const seen = saved.kind === 'saved' ? saved.seen : undefined;
    // Nobody may write it on a page.
    expect(await save(inside, seen)).toMatchObject({ kind: 'wrong' });
    const restored = await restoreFeedFileVersion(await around(), { feed: acme, version: 1, seen, actor: 'anna' });
    expect(restored).toMatchObject({ kind: 'saved', version: 3 });
    expect([...(await addressesOfLastSave(db, acme))]).toEqual([]);
    // The restored one can be changed and restored as well.
    const now = restored?.kind === 'saved' ? restored.seen : undefined;
    const again = await restoreFeedFileVersion(await around(), { feed: acme, version: 2, seen: now, actor: 'anna' });
    expect(again).toMatchObject({ kind: 'saved', version: 4 });
    expect([...(await addressesOfLastSave(db, acme))]).toEqual([brought]);
    const last = again?.kind === 'saved' ? again.seen : undefined;
    const back = await restoreFeedFileVersion(await around(), { feed: acme, version: 3, seen: last, actor: 'anna' });
    expect(back).toMatchObject({ kind: 'saved', version: 5 });
    expect(onDisk()).toBe(inside);
  });
});

describe('the addresses of a text that was found in the file', () => {
  const BROUGHT = 'https://brought.example/jobs.xml';
  const WITH = FEED.replace('https://acme.example/jobs.xml', BROUGHT);

  it.each(['saved', 'announced before its process ended'])(
    'stay those that a page has brought, if it is restored: %s',
    async (how) => {
      await save(WITH);
      if (how !== 'saved') await db.query('update feed_file_version set settled = false');
      // Somebody edits something else of it by hand.
      write('feeds/acme.yaml', `${WITH}# Nightly.\n`);
      const seen = (await showFeedFile(await around(), acme))?.seen;
      const saved = await save(FEED, seen);
      expect(saved).toMatchObject({ kind: 'saved', version: 3 });
      const now = saved.kind === 'saved' ? saved.seen : undefined;
      const back = await restoreFeedFileVersion(await around(), { feed: acme, version: 2, seen: now, actor: 'anna' });
      expect(back).toMatchObject({ kind: 'saved', version: 4 });
      expect(onDisk()).toBe(`${WITH}# Nightly.\n`);
      expect([...(await addressesOfLastSave(db, acme))]).toContain(BROUGHT);
    },
  );
});

it('what belongs to a text is kept also if somebody else saves the same text meanwhile', async () => {
  const context = await around();
  const steps = diagnostics.channel('jobmirror:step');
  const saveSame = (step: unknown) => {
    if (step === 'feed-file-kept') write('feeds/acme.yaml', FEED);
  };
  steps.subscribe(saveSame);
  const upload = { name: 'x', content: Buffer.from('<x/>'), actor: 'anna' };
  const end = await saveFeedFile(context, { feed: 'acme', text: FEED, seen: undefined, actor: 'anna', upload });
  steps.unsubscribe(saveSame);
  expect(end).toMatchObject({ kind: 'unchanged' });
  expect(await readUploads(db, acme)).toHaveLength(1);
});

describe('an uploaded file that comes with new settings is read with them, and not without them', () => {
  const PAPER = FEED.replace('https://acme.example/jobs.xml', 'upload://');
  const uploadOf = (content: string) => ({ name: content, content: Buffer.from(content), actor: 'anna' });
  /** A database whose transactions end like this, one after the other, and then as they should. */
  const failing = (...ends: readonly ('right' | 'lost')[]): Database => {
    const left = [...ends];
    const transaction: Database['transaction'] = (work) =>
      db.transaction(async (tx) => {
        const done = await work(tx);
        if (left.shift() === 'lost') throw new Error('the connection was lost');
        return done;
      });
    return Object.create(db, { transaction: { value: transaction } }) as Database;
  };
  const uploaded = async () => (await readUploads(db, acme)).map(({ name }) => name);
  const change = async (through: Database, text: string) => {
    const context = { ...(await around()), db: through };
    const seen = (await showFeedFile(context, acme))?.seen;
    return saveFeedFile(context, { feed: 'acme', text, seen, actor: 'anna', upload: uploadOf('second') });
  };
  /** As the next pull does. */
  const read = async () => {
    const [setup] = feedSetups((await around()).config, ['acme']);
    const { uploads } = await sourceAccess(setup as FeedSetup, { db });
    const chunks: Buffer[] = [];
    for await (const chunk of (await uploads(acme))?.chunks ?? []) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString();
  };
  beforeEach(async () => {
    const upload = uploadOf('first');
    await saveFeedFile(await around(), { feed: 'acme', text: PAPER, seen: undefined, actor: 'anna', upload });
  });
  const CHANGED = `${PAPER}lenient: true\n`;

  it('if the database fails once after the file was replaced, and a process takes the file over', async () => {
    await expect(change(failing('right', 'lost'), CHANGED)).rejects.toThrow('lost');
    expect(onDisk()).toBe(CHANGED);
    expect([...(await keepHandEdits(await around(), [acme]))]).toEqual([]);
    expect(await uploaded()).toEqual(['second', 'first']);
    expect(await listFeedFileVersions(await around(), acme)).toMatchObject([{ version: 2, isPresent: true }, {}]);
  });

  it('if the database is gone after the file was replaced: whoever reads it next completes the saving', async () => {
    await expect(change(failing('right', 'lost', 'lost'), CHANGED)).rejects.toThrow('lost');
    expect(onDisk()).toBe(CHANGED);
    expect(await uploaded()).toEqual(['first']);
    expect(await read()).toBe('second');
    expect(await uploaded()).toEqual(['second', 'first']);
    const actions = await db.query<{ action: string }>('select action from audit order by id desc limit 2');
    expect(actions.map(({ action }) => action).sort()).toEqual(['save feed file', 'upload feed']);
    expect(await read()).toBe('second');
  });

  it('if the process ends before the file is replaced: the former settings read the former file', async () => {
    await expect(change(failing('right', 'lost', 'lost'), CHANGED)).rejects.toThrow('lost');
    // As it is left by one that has ended before.
    write('feeds/acme.yaml', PAPER);
    expect(await read()).toBe('first');
    // Another save withdraws it.
    await db.query(`update feed_file_version set at = now() - interval '11 minutes' where not settled`);
    expect(
      await save(`${PAPER}schedule: "0 3 * * *"\n`, (await showFeedFile(await around(), acme))?.seen),
    ).toMatchObject({
      kind: 'saved',
    });
    expect(await read()).toBe('first');
    expect(await db.query('select from feed_upload where awaits is not null')).toEqual([]);
    expect(await db.query('select distinct version from feed_upload_part')).toHaveLength(1);
  });

  it('if it can not be written: nothing is left of it', async () => {
    const steps = diagnostics.channel('jobmirror:step');
    const changeByHand = (step: unknown) => {
      if (step === 'feed-file-written') write('feeds/acme.yaml', `${PAPER}# By hand.\n`);
    };
    steps.subscribe(changeByHand);
    const end = await change(db, CHANGED);
    steps.unsubscribe(changeByHand);
    expect(end).toMatchObject({ kind: 'changed' });
    expect(await db.query('select name from feed_upload')).toEqual([{ name: 'first' }]);
    expect(await read()).toBe('first');
  });

  it('unless a newer file was uploaded meanwhile: that is read', async () => {
    await expect(change(failing('right', 'lost', 'lost'), CHANGED)).rejects.toThrow('lost');
    // Through a process whose copy of the feed's file is the former one.
    await db.transaction((tx) => addUpload(tx, acme, uploadOf('third')));
    expect(await read()).toBe('third');
    expect(await uploaded()).toEqual(['third', 'second', 'first']);
  });

  it('and takes the place of no file that is read before', async () => {
    await expect(change(failing('right', 'lost', 'lost'), CHANGED)).rejects.toThrow('lost');
    write('feeds/acme.yaml', PAPER);
    await db.transaction((tx) => keepNewest(tx, acme, 1));
    expect(await read()).toBe('first');
  });

  it('also if the same text is saved again with a newer file', async () => {
    await expect(change(failing('right', 'lost', 'lost'), CHANGED)).rejects.toThrow('lost');
    const context = await around();
    const upload = uploadOf('third');
    const again = await saveFeedFile(context, { feed: 'acme', text: CHANGED, seen: undefined, actor: 'anna', upload });
    expect(again).toMatchObject({ kind: 'unchanged' });
    expect(await read()).toBe('third');
    expect(await uploaded()).toEqual(['third', 'second', 'first']);
  });
});

describe('where it may not write, it shows the file to commit', () => {
  const toCommit = async (reason: RegExp) => {
    expect(await save(FEED.replace('board', 'bord'))).toMatchObject({ kind: 'wrong' });
    const end = await save(FEED);
    expect(end).toMatchObject({ kind: 'to_commit', text: FEED, file: join(folder, 'feeds/acme.yaml') });
    expect(end.kind === 'to_commit' && end.reason).toMatch(reason);
    expect(await db.query('select from feed_file_version')).toEqual([]);
  };

  it('without include, with the line to add', async () => {
    write('jobmirror.yaml', `${MAIN.replace('include: feeds/*.yaml\n', '')}feeds: {}\n`);
    await toCommit(/includes no files of feeds: add the line include: feeds\/\*.yaml to it$/);
    expect(await save(FEED)).toMatchObject({ include: 'include: feeds/*.yaml' });
    expect(filesOnDisk()).toEqual([]);
  });

  it('read-only, a link, and a feed of the main file, which is shown as its file would be', async () => {
    write('jobmirror.yaml', MAIN.replace('web:\n', 'web:\n  configuration: read-only\n'));
    await toCommit(/read-only/);
    write('elsewhere/acme.yaml', FEED);
    write('feeds/..data/acme.yaml', FEED);
    symlinkSync('..data/acme.yaml', join(folder, 'feeds/acme.yaml'));
    write('jobmirror.yaml', MAIN);
    expect(
      await save(FEED.replace('nightly', 'daily'), (await showFeedFile(await around(), acme))?.seen),
    ).toMatchObject({
      kind: 'to_commit',
      reason: expect.stringMatching(/is a link/),
    });
    rmSync(join(folder, 'feeds/acme.yaml'));
    write(
      'jobmirror.yaml',
      `${MAIN}feeds:\n  acme:\n    # Acme sends this nightly.\n    source: https://acme.example/jobs.xml\n    format: indeed\n    site: board\n    guard:\n      count: 3\n  # Not acme's.\n  beta: { source: drop/b.xml, format: indeed, site: board }\n`,
    );
    expect(await showFeedFile(await around(), acme)).toMatchObject({
      text: expect.stringContaining(
        '# Acme sends this nightly.\nsource: https://acme.example/jobs.xml\nformat: indeed\nsite: board\nguard:\n  count: 3\n',
      ),
      seen: undefined,
      file: join(folder, 'jobmirror.yaml'),
      readOnly: expect.stringMatching(/is in jobmirror.yaml/),
    });
    expect((await showFeedFile(await around(), feedName('beta')))?.text).toBe(
      'source: drop/b.xml\nformat: indeed\nsite: board\n',
    );
    await toCommit(/is in jobmirror.yaml/);
  });

  it('a folder in which nobody may write, also the administrator', async () => {
    symlinkSync('/sys/kernel', join(folder, 'feeds'));
    expect(await save(FEED)).toMatchObject({
      kind: 'to_commit',
      text: FEED,
      reason: expect.stringMatching(/may not write in/),
    });
  });
});

describe('attacks', () => {
  it.each(['../evil', 'a/b', '.hidden', 'Acme', '', 'x\0y', 'a'.repeat(65), '__proto__'])(
    'refuses the name %j',
    async (name) => {
      expect(await problemsOf(FEED, name)).toHaveLength(1);
      expect(await save(FEED, undefined, name)).toMatchObject({ kind: 'wrong' });
      expect(filesOnDisk()).toEqual([]);
    },
  );

  it.each([
    ['credentials.basic.password', 'credentials:\n  basic: { user: anna, password: hunter2 }\n'],
    ['credentials.bearer.token', 'credentials:\n  bearer:\n    token: hunter2\n'],
    ['credentials.query.value', 'credentials:\n  query: { name: k, value: hunter2 }\n'],
    ['credentials.bearer.token', 'x: &s hunter2\ncredentials:\n  bearer:\n    token: *s\n'],
    ['headers.X-Api-Key', 'headers:\n  X-Api-Key: hunter2\n'],
    ['headers.X-Client', 'headers:\n  X-Client: Bearer hunter2\n'],
    [
      'credentials.oauth2.token_url',
      'credentials:\n  oauth2: { token_url: "https://l.example/t?api_key=hunter2", client_id: c, client_secret: "${KEY}" }\n',
    ],
  ])('refuses a secret that is written in %s by its name, and shows none', async (setting, lines) => {
    const problems = await problemsOf(FEED + lines);
    expect(problems.join('\n')).toContain(`feeds.acme.${setting}: is a secret`);
    expect(problems.join('\n')).not.toContain('hunter2');
    write('feeds/acme.yaml', FEED + lines);
    const shown = await showFeedFile(await around(), acme);
    expect(shown?.text).toContain('[secret]');
    expect(shown?.text).not.toContain('hunter2');
    expect(await save(shown?.text ?? '', shown?.seen)).toMatchObject({ kind: 'wrong' });
    expect(await save(FEED, shown?.seen)).toMatchObject({ kind: 'saved' });
    expect(JSON.stringify(await db.query('select text from feed_file_version'))).not.toContain('hunter2');
  });

  it('shows no secret of a file that is not YAML, and lets nobody save what stands for it', async () => {
    write('feeds/acme.yaml', `${FEED}credentials:\n  basic: { user: [a\n    password: hunter2\n`);
    const shown = await showFeedFile(await around(), acme);
    expect(shown?.text).not.toContain('hunter2');
    expect(await problemsOf(FEED.replace('https://acme.example/jobs.xml', '"https://acme.example/[secret]"'))).toEqual([
      expect.stringContaining('feeds.acme.source: is a secret'),
    ]);
  });

  it.each([
    ['source', FEED.replace('https://acme.example/jobs.xml', '/etc/passwd')],
    ['source', FEED.replace('https://acme.example/jobs.xml', '../../etc/passwd')],
    ['source', FEED.replace('https://acme.example/jobs.xml', 'drop/../jobmirror.yaml')],
    ['source', FEED.replace('https://acme.example/jobs.xml', 'drop/link/passwd')],
    ['source', FEED.replace('https://acme.example/jobs.xml', '"${KEY}"')],
    ['source', `x: &p /etc/passwd\n${FEED.replace('https://acme.example/jobs.xml', '*p')}`],
    ['sources.0', FEED.replace('source: https://acme.example/jobs.xml', 'sources: [/etc/passwd]')],
    ['credentials.bearer.token_file', `${FEED}credentials:\n  bearer: { token_file: /etc/hostname }\n`],
    ['credentials.bearer.token_file', `${FEED}credentials:\n  bearer: { token_file: .jobmirror/password }\n`],
    ['fields.title.map', `${FEED}fields:\n  title: { from: title, map: /etc/passwd }\n`],
  ])('refuses to read a file of the server by %s', async (setting, text) => {
    mkdirSync(join(folder, 'drop'));
    symlinkSync('/etc', join(folder, 'drop/link'));
    const problems = await problemsOf(text);
    expect(problems.join('\n')).toMatch(new RegExp(`feeds.acme.${setting}: is a (file|path)`));
    expect(problems.join('\n')).not.toContain('root:');
  });

  it('shows no other file by the name of a feed', async () => {
    write('other.yaml', 'password: zq-other');
    for (const name of ['../jobmirror', '../other', '../feeds/../other', '/etc/hosts']) {
      expect(await showFeedFile(await around(), name as never)).toBeUndefined();
      expect(await listFeedFileVersions(await around(), name as never)).toEqual([]);
      expect((await problemsOf(FEED, name)).join()).not.toContain('zq-other');
    }
  });

  const AT_ADDRESS = 'source: https://acme.example/jobs.xml # their list\n';
  it.each([
    [
      'an alias as a name',
      FEED.replace(AT_ADDRESS, '').concat('fields: { title: { value: &k source } }\n*k : /etc/passwd\n'),
    ],
    ['a merged map', `%YAML 1.1\n---\n${FEED.replace(AT_ADDRESS, '<<: { source: /etc/passwd }\n')}`],
    [
      'parts that are repeated',
      `${FEED.replace(AT_ADDRESS, '')}x: &p [${'a, '.repeat(1_060)}b]\nskip:\n${'  - { a: *p }\n'.repeat(97)}source: /etc/passwd\n`,
    ],
  ])('finds the file that a text names by %s', async (_, text) => {
    const problems = (await problemsOf(text)).join('\n');
    expect(problems).toMatch(/source: is a file of the server|has more than 100000 values/);
  });

  it.each([
    ['a variable in its host', 'https://${KEY}/jobs.xml', /has a variable in its host/],
    ['an address of this machine', 'http://127.0.0.1:1/', /is not a public address/],
  ])('refuses an address with %s', async (_, address, message) => {
    expect((await problemsOf(FEED.replace('https://acme.example/jobs.xml', address))).join()).toMatch(message);
  });

  it('refuses redirects to private addresses also for an address that it has already', async () => {
    write('feeds/acme.yaml', FEED);
    const allowed = `${FEED}allow_private_redirects: true\n`;
    expect((await problemsOf(allowed)).join()).toMatch(/allow_private_redirects: would lead to addresses/);
    write('feeds/acme.yaml', allowed);
    expect(await problemsOf(`${allowed}schedule: "0 3 * * *"\n`)).toEqual([]);
  });

  it('refuses variables whose values would be shown or sent to the site', async () => {
    const shown = `${FEED}fields: { title: { value: "\${KEY}" } }\n`;
    expect((await problemsOf(shown)).join()).toMatch(/fields.title.value: names an environment variable/);
    expect(await problemsOf(`${FEED}headers: { X-Key: "\${KEY}" }\n`)).toEqual([]);
    write('feeds/acme.yaml', shown);
    expect(await problemsOf(`${shown}schedule: "0 3 * * *"\n`)).toEqual([]);
  });

  it('reads files of the folders that are named for that, and those that the feed has had by hand', async () => {
    write('drop/jobs.xml', '<jobs/>');
    write('secrets/token', 'zq-token');
    const text = FEED.replace('https://acme.example/jobs.xml', 'drop/jobs.xml');
    expect(await problemsOf(text)).toEqual([]);
    expect(await problemsOf(`${FEED}credentials:\n  bearer: { token_file: secrets/token }\n`)).toEqual([]);
    const byHand = FEED.replace('https://acme.example/jobs.xml', write('elsewhere/jobs.xml', '<jobs/>'));
    expect(await problemsOf(byHand)).toHaveLength(1);
    write('feeds/acme.yaml', byHand);
    expect(await problemsOf(`${byHand}schedule: "0 3 * * *"\n`)).toEqual([]);
  });
});
