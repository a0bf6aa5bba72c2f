// `backup` and `restore`: a backup made while jobmirror runs is whole, a restore is complete or changes nothing, and a restored
// database creates and deletes nothing that the site shows to be otherwise.
import { createHash } from 'node:crypto';
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { objectsOf } from '../../src/store/backup/backup-frames.ts';
import { readMigrations } from '../../src/store/postgres/migrate.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { FORMER_MIGRATIONS, makeFormer } from '../support/former-schema.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { runSql } from '../support/sql.ts';
import { runProgram } from './run-program.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jobmirror-backup-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const opened: Mirror[] = [];
const databases: TestDatabase[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((mirror) => mirror.close()));
  await Promise.all(databases.splice(0).map((database) => database.drop()));
});

/** Texts that COPY has to escape. */
const ODD = posting('p10', { title: 'Nurse\t“ward” \\N \\. 𝔸', description: '<p>a\\\nb\r\nc</p>' });

let number = 0;
const newFile = (): string => join(folder, `${++number}.backup`);

/** Ten jobs, a rejected posting, an edit, and a feed with signs of every kind of text. */
async function openMirrored(site: Readonly<Record<string, string | undefined>> = {}): Promise<Mirror> {
  const mirror = await openMirror({ site, databaseUrl: await ownDatabase({}), searched: true });
  opened.push(mirror);
  await pull(mirror, [...postings(9), ODD, posting('bad', { state: 'Jalisco' })]);
  return mirror;
}

/** Apart from that of the sandbox, which stays as it is when the mirror's is replaced. */
async function ownDatabase(options: { readonly empty?: true }): Promise<string> {
  const database = await createTestDatabase(options);
  databases.push(database);
  return database.url;
}
const emptyDatabase = () => ownDatabase({ empty: true });

async function pull(mirror: Mirror, list: readonly TestPosting[]) {
  const report = await mirror.syncOf(list);
  await mirror.stopEngine();
  return report;
}

/** The same installation with another database. */
const withDatabase = (mirror: Mirror, url: string): Mirror => ({
  ...mirror,
  env: { ...mirror.env, DATABASE_URL: url },
});

/** All rows that must be equal after a restore, as text. */
async function contentOf(url: string): Promise<Record<string, string[]>> {
  const content: Record<string, string[]> = {};
  for (const table of [
    'mapping',
    'document',
    'change',
    'pull',
    'request',
    'failure',
    'review_entry',
    'record_problem',
    'outcome_count',
  ]) {
    const rows = await runSql<{ row: string }>(url, `select t::text as row from ${table} t order by 1`);
    content[table] = rows.map(({ row }) => row);
  }
  return content;
}

async function newestSchema(): Promise<string> {
  return [...(await readMigrations()).keys()].at(-1) ?? '';
}

describe('a backup', () => {
  it('is made while jobmirror sends, is readable by its owner only, and replaces no file unless told to', {
    tags: 'slow',
  }, async () => {
    const mirror = await openMirrored();
    await mirror.engine();
    const file = newFile();
    const made = await runProgram(mirror, 'backup', file, '--json');
    expect(made.errors).toBe('');
    expect(made.json()).toMatchObject([{ file, schema: await newestSchema(), jobmirror: expect.any(String) }]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const before = await readFile(file);
    const again = await runProgram(mirror, 'backup', file);
    expect(again).toMatchObject({ status: 1, errors: expect.stringContaining('--force') });
    expect(await readFile(file)).toEqual(before);
    expect((await runProgram(mirror, 'backup', file, '--force')).status).toBe(0);
    expect((await runProgram(mirror, 'backup', join(folder, 'none', 'x'))).errors).toMatch(
      /no backup was written.*ENOENT/,
    );
    expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
    expect((await runProgram(mirror, 'restore', file, '--check', '--json')).json()).toMatchObject([{ whole: true }]);
    // What only lives as long as a session or process is not in it, nor is the token of the site.
    const text = gunzipSync((await readFile(file)).subarray('jobmirror-backup 1\n'.length)).toString('latin1');
    expect(text).toContain('"name":"mapping"');
    for (const left of ['web_session', 'web_request', '"process"', mirror.env.BOARD_TOKEN ?? '?'])
      expect(text).not.toContain(left);
  });

  it('is refused if it is damaged, cut, longer, of a newer version or no backup; the database stays as it was', {
    tags: 'slow',
  }, async () => {
    const mirror = await openMirrored();
    const file = newFile();
    await runProgram(mirror, 'backup', file);
    const whole = await readFile(file);
    const target = await emptyDatabase();
    const refuse = async (content: Buffer, why: RegExp) => {
      const broken = newFile();
      await writeFile(broken, content);
      for (const args of [['--check'], ['--replace', '--yes']]) {
        const result = await runProgram(withDatabase(mirror, target), 'restore', broken, ...args);
        expect(result).toMatchObject({ status: 1, out: '', errors: expect.stringMatching(why) });
        expect(result.errors).toContain('Nothing was changed');
      }
    };
    const magic = whole.indexOf(0x0a) + 1;
    const changed = (change: (frames: string) => string): Buffer =>
      Buffer.concat([
        whole.subarray(0, magic),
        gzipSync(Buffer.from(change(gunzipSync(whole.subarray(magic)).toString('latin1')), 'latin1')),
      ]);
    const flipped = Buffer.from(whole);
    flipped.writeUInt8(flipped.readUInt8(whole.length >> 1) ^ 0x10, whole.length >> 1);
    await refuse(flipped, /damaged|cut/);
    for (const length of [0, 5, magic, magic + 30, whole.length >> 1, whole.length - 1])
      await refuse(whole.subarray(0, length), /cut|no backup/);
    await refuse(Buffer.concat([whole, Buffer.from('more')]), /damaged/);
    await refuse(
      changed((frames) => frames.replace('Nurse p3', 'Nurse p4')),
      /damaged: the rows of the table/,
    );
    await refuse(
      changed((frames) => frames.slice(0, frames.lastIndexOf('Z\0\0'))),
      /cut: its end is missing/,
    );
    await refuse(
      changed((frames) => frames.replace('0100_schema.sql', '9001_schema.sql')),
      /update jobmirror/,
    );
    await refuse(Buffer.from('jobmirror-backup 2\nwhatever'), /newer version/);
    await refuse(Buffer.from('-- PostgreSQL database dump\n\n'), /no backup of jobmirror/);
    expect(await runSql(target, `select tablename from pg_tables where schemaname = 'public'`)).toEqual([]);
    expect((await runProgram(mirror, 'restore', join(folder, 'missing'), '--check')).errors).toMatch(
      /can't be read: ENOENT/,
    );
  });
});

describe('a restore', () => {
  it('brings back every row, and continues all numbers', async () => {
    const mirror = await openMirrored();
    const file = newFile();
    const source = mirror.env.DATABASE_URL ?? '';
    await runProgram(mirror, 'backup', file);
    const target = await emptyDatabase();
    const restored = await runProgram(withDatabase(mirror, target), 'restore', file, '--json');
    expect(restored.errors).toBe('');
    expect(restored.json()).toMatchObject([{ restored: true, feeds: 1, held_deletes: 0 }]);
    expect(await contentOf(target)).toEqual(await contentOf(source));
    const parts = 'select distinct tableoid::regclass::text as part from request';
    expect(await runSql(target, parts)).toEqual([{ part: 'request_former' }]);
    const numbers = `select (select last_value from entry_number) as entry,
      (select last_value from pull_id_seq) as pull, (select last_value from request_id_seq) as request`;
    expect(await runSql(target, numbers)).toEqual(await runSql(source, numbers));
    // What was seen before the restore fits no entry that has the same number since.
    const revision = 'select last_value from revision_number';
    const [[before], [after]] = [
      await runSql<{ last_value: string }>(source, revision),
      await runSql<{ last_value: string }>(target, revision),
    ];
    expect(Number(after?.last_value)).toBeGreaterThan(Number(before?.last_value) + 1_000);
    expect(await runSql(target, 'select name from migration order by 1')).toEqual(
      await runSql(source, 'select name from migration order by 1'),
    );
    expect(await runSql(target, 'select id from installation')).toEqual(
      await runSql(source, 'select id from installation'),
    );
    // Its triggers are on again: a review entry goes with its change.
    await runSql(target, 'delete from change');
    expect(await runSql(target, `select from review_entry where kind = 'rejected'`)).toEqual([]);
  });

  it('refuses a database that is in use or not empty, and replaces one only if told to', { tags: 'slow' }, async () => {
    const mirror = await openMirrored();
    const file = newFile();
    await runProgram(mirror, 'backup', file);
    await pull(mirror, postings(3));
    const source = mirror.env.DATABASE_URL ?? '';
    const before = await contentOf(source);
    expect((await runProgram(mirror, 'restore', file)).errors).toMatch(
      /not empty: it has 10 jobs and 2 pulls.*--replace/,
    );
    expect((await runProgram(mirror, 'restore', file, '--replace')).errors).toMatch(/--replace --yes/);
    expect((await runProgram(mirror, 'restore', file, '--yes')).errors).toMatch(/--yes belongs to --replace/);
    await mirror.engine();
    expect((await runProgram(mirror, 'restore', file, '--replace', '--yes')).errors).toMatch(
      /sync on .*, process \d+.*stop all/,
    );
    await mirror.stopEngine();
    expect(await contentOf(source)).toEqual(before);
    const replaced = await runProgram(mirror, 'restore', file, '--replace', '--yes');
    expect(replaced).toMatchObject({ status: 0, errors: '' });
    expect(await runSql(source, 'select count(*)::int as n from pull')).toEqual([{ n: 1 }]);
    expect(await runSql(source, `select actor, action from audit where action like 'restore%'`)).toHaveLength(1);
  });

  it('leaves the database as it was if it fails at the end', { tags: 'slow' }, async () => {
    const mirror = await openMirrored();
    const file = newFile();
    await runProgram(mirror, 'backup', file);
    const source = mirror.env.DATABASE_URL ?? '';
    // Somebody has built on our tables.
    await runSql(source, 'create view jobs_of_mine as select key from mapping');
    const before = await contentOf(source);
    expect(await runProgram(mirror, 'restore', file, '--replace', '--yes')).toMatchObject({ status: 1 });
    expect(await contentOf(source)).toEqual(before);
  });

  it('takes over a backup of the former schema, and refuses an older one, and a newer database', {
    tags: 'slow',
  }, async () => {
    const mirror = await openMirrored();
    const source = mirror.env.DATABASE_URL ?? '';
    const file = newFile();
    await runProgram(mirror, 'backup', file);
    const whole = await readFile(file);
    const magic = whole.indexOf(0x0a) + 1;
    const [header, frames] = splitHeader(gunzipSync(whole.subarray(magic)));
    const { rest, removed } = await withoutNewerTables(frames);
    const rewritten = async (migrations: readonly string[], more: Buffer[]): Promise<string> => {
      const path = newFile();
      const end = JSON.parse(rest.subarray(rest.lastIndexOf('Z\0\0') + 5).toString()) as {
        tables: number;
        rows: number;
      };
      const body = [
        frame('H', JSON.stringify({ ...header, migrations })),
        rest.subarray(0, rest.lastIndexOf('Z\0\0')),
        ...more,
      ];
      const sha256 = createHash('sha256').update(Buffer.concat(body)).digest('hex');
      const tables = end.tables - removed + (more.length > 0 ? 1 : 0);
      body.push(frame('Z', JSON.stringify({ tables, rows: end.rows + (more.length > 0 ? 1 : 0), sha256 })));
      await writeFile(path, Buffer.concat([whole.subarray(0, magic), gzipSync(Buffer.concat(body))]));
      return path;
    };
    const ungrouped = table('ungrouped_entry', ['one', 'after_id', 'last_id'], 't\t0\t1000\n');
    const target = await emptyDatabase();
    const restored = await runProgram(
      withDatabase(mirror, target),
      'restore',
      await rewritten(FORMER_MIGRATIONS, ungrouped),
    );
    expect(restored).toMatchObject({ status: 0, errors: '', out: expect.stringContaining(' recover FEED --yes') });
    expect(await contentOf(target)).toEqual(await contentOf(source));
    const older = await rewritten(FORMER_MIGRATIONS.slice(0, -2), []);
    expect(await runProgram(withDatabase(mirror, target), 'restore', older, '--replace', '--yes')).toMatchObject({
      status: 1,
      errors: expect.stringMatching(/tables are too old .*0086_recovered.sql.*0091_entry_circumstances.sql/),
    });
    // A database of the former schema may be replaced.
    await makeFormer(target);
    const again = await runProgram(withDatabase(mirror, target), 'restore', file, '--replace', '--yes');
    expect(again).toMatchObject({ status: 0, errors: '' });
    expect(await runSql(target, 'select name from migration order by 1')).toEqual(
      await runSql(source, 'select name from migration order by 1'),
    );
    for (const [name, message] of [
      ['9999_later.sql', /newer version of jobmirror uses the database \(9999_later\.sql\)/],
      ['0086_recovered.sql', /tables are too old .*or configure an empty database\. Nothing was changed/],
    ] as const) {
      await runSql(target, `insert into migration (name) values ('${name}')`);
      expect((await runProgram(withDatabase(mirror, target), 'restore', file, '--replace', '--yes')).errors).toMatch(
        message,
      );
      await runSql(target, `delete from migration where name = '${name}'`);
    }
  });
});

function frame(kind: string, content: string): Buffer {
  const head = Buffer.alloc(5, kind);
  head.writeUInt32BE(Buffer.byteLength(content), 1);
  return Buffer.concat([head, Buffer.from(content)]);
}

function table(name: string, columns: string[], rows: string): Buffer[] {
  const sha256 = createHash('sha256').update(rows).digest('hex');
  const end = { rows: rows.split('\n').length - 1, bytes: Buffer.byteLength(rows), sha256 };
  const data = rows === '' ? [] : [frame('D', rows)];
  return [frame('T', JSON.stringify({ name, columns })), ...data, frame('E', JSON.stringify(end))];
}

/** A column that the former schema does not have, as a migration adds it. */
const ADDED_COLUMN = /^alter table (\w+) add column (\w+)/gm;

/** The frames of a table without these columns, each of which is null in all rows. */
function withoutColumns(
  { name, columns }: { name: string; columns: string[] },
  rows: string,
  newer: ReadonlySet<string>,
) {
  const kept = columns.flatMap((column, at) => (newer.has(`${name}.${column}`) ? [] : [at]));
  const lines = rows.split('\n').map((line) => (line === '' ? '' : kept.map((at) => line.split('\t')[at]).join('\t')));
  return table(
    name,
    kept.map((at) => columns[at] as string),
    lines.join('\n'),
  );
}

/** Frames without those of tables that the former schema does not have, and how many of these there were; they are empty. */
async function withoutNewerTables(frames: Buffer): Promise<{ readonly rest: Buffer; readonly removed: number }> {
  const [schema, ...migrations] = [...(await readMigrations())];
  // A later migration may make a table of the former schema anew.
  const former = new Set(objectsOf(new Map(schema && [schema])).tables);
  const newer = new Set(objectsOf(new Map(migrations)).tables.filter((name) => !former.has(name)));
  const added = new Set(
    migrations.flatMap(([, sql]) => [...sql.matchAll(ADDED_COLUMN)].map(([, name, column]) => `${name}.${column}`)),
  );
  let altered: { name: string; columns: string[] } | undefined;
  let rows = '';
  const kept: Buffer[] = [];
  let removed = 0;
  let isNewer = false;
  for (let at = 0; at < frames.length; ) {
    const end = at + 5 + frames.readUInt32BE(at + 1);
    const kind = String.fromCharCode(frames[at] as number);
    if (kind === 'T') {
      const read = JSON.parse(frames.subarray(at + 5, end).toString()) as { name: string; columns: string[] };
      isNewer = newer.has(read.name);
      altered = !isNewer && read.columns.some((column) => added.has(`${read.name}.${column}`)) ? read : undefined;
      rows = '';
    }
    if (kind === 'T' && isNewer) removed++;
    if (altered !== undefined && 'TDE'.includes(kind)) {
      if (kind === 'D') rows += frames.subarray(at + 5, end).toString();
      if (kind === 'E') kept.push(...withoutColumns(altered, rows, added));
    } else if (!(isNewer && 'TDE'.includes(kind))) kept.push(frames.subarray(at, end));
    at = end;
  }
  return { rest: Buffer.concat(kept), removed };
}

/** The header of a backup, and its other frames. */
function splitHeader(frames: Buffer): [header: object, rest: Buffer] {
  const end = 5 + frames.readUInt32BE(1);
  return [JSON.parse(frames.subarray(5, end).toString()) as object, frames.subarray(end)];
}

describe('after a restore', () => {
  it('creates no job again that was made since, and deletes none whose posting is back', async () => {
    const mirror = await openMirrored();
    const source = mirror.env.DATABASE_URL ?? '';
    const file = newFile();
    // The backup has a delete of p8 that has failed, and a delete of p9 and a create of p11 that were not sent yet.
    await runSql(
      source,
      `insert into site_state (site, paused_since) values ('board', now())
      on conflict (site) do update set paused_since = now()`,
    );
    await pull(mirror, [...postings(7), ODD, posting('p11')]);
    await runSql(source, `update change set state = 'failed', since = now() where key = 'p8'`);
    await runProgram(mirror, 'backup', file);
    await runSql(source, 'update site_state set paused_since = null');
    // Since then p8 and p9 are back, p11 and p12 were created.
    const now = [...postings(9), ODD, posting('p11'), posting('p12')];
    expect(await pull(mirror, now)).toMatchObject({ created: 2 });
    const ids = new Map((await mirror.sandbox.inspect.jobs()).map(({ id, fields }) => [fields.number, id]));
    const jobs = await mirror.sandbox.inspect.count();

    const restored = await runProgram(mirror, 'restore', file, '--replace', '--yes', '--json');
    expect(restored.json()).toMatchObject([{ held_deletes: 2, waiting_creates: 1 }]);
    await runSql(source, 'update site_state set paused_since = null');
    mirror.sandbox.requests.clear();
    // Nothing is sent until the next complete pull and the search of the site.
    expect(await runSql(source, 'select key, state, operation from change order by key')).toEqual([
      { key: 'p11', state: 'ready', operation: 'create' },
      { key: 'p8', state: 'held', operation: 'delete' },
      { key: 'p9', state: 'held', operation: 'delete' },
    ]);
    expect(await runSql(source, 'select from feed_state where site_checked_at is not null')).toEqual([]);
    expect(await pull(mirror, now)).toMatchObject({ complete: true, held: 0 });
    const after = new Map((await mirror.sandbox.inspect.jobs()).map(({ id, fields }) => [fields.number, id]));
    expect(after).toEqual(ids);
    expect(await mirror.sandbox.inspect.count()).toBe(jobs);
    expect(
      (await runProgram(mirror, 'review', 'list', '--json')).json().filter(({ kind }) => kind === 'in_doubt'),
    ).toHaveLength(2);
    await runProgram(mirror, 'review', 'settle', 'acme', '--found', '--yes');
    expect(await pull(mirror, now)).toMatchObject({ status: 'mirrored' });
    expect(await mirror.sandbox.inspect.count()).toBe(jobs);
  });

  it('deletes a posting that is still missing, within the guard', { tags: 'slow' }, async () => {
    const mirror = await openMirrored();
    const source = mirror.env.DATABASE_URL ?? '';
    await runSql(
      source,
      `insert into site_state (site, paused_since) values ('board', now())
      on conflict (site) do update set paused_since = now()`,
    );
    await pull(mirror, [...postings(8), ODD]);
    const file = newFile();
    await runProgram(mirror, 'backup', file);
    expect((await runProgram(mirror, 'restore', file, '--replace', '--yes')).status).toBe(0);
    await runSql(source, 'update site_state set paused_since = null');
    expect(await pull(mirror, [...postings(8), ODD])).toMatchObject({ gone: 1, deleted: 1, held: 0 });
  });

  it('creates nothing on a site without a list until a person says so', { tags: 'slow' }, async () => {
    const mirror = await openMirrored({ list_path: undefined });
    const file = newFile();
    await runProgram(mirror, 'backup', file);
    expect((await runProgram(mirror, 'restore', file, '--replace', '--yes')).status).toBe(0);
    const jobs = await mirror.sandbox.inspect.count();
    const list = [...postings(9), ODD, posting('new')];
    await mirror.writeFeed(feedXml(list));
    const report = await runProgram(mirror, 'sync', '--json');
    expect(report.json()).toMatchObject([{ created: 0, pending: 1 }]);
    expect(`${report.out}${report.errors}`).toContain('restored from a backup');
    expect(await mirror.sandbox.inspect.count()).toBe(jobs);
    expect((await runProgram(mirror, 'feeds', 'new', 'acme')).status).toBe(0);
    expect((await runProgram(mirror, 'sync', '--json')).json()).toMatchObject([{ created: 1 }]);
  });

  it('creates no job again of a feed that was added after the backup, on a site without a list', async () => {
    const mirror = await openMirrored({ list_path: undefined });
    const file = newFile();
    await runProgram(mirror, 'backup', file);
    const added = ['  beta:', '    site: board', '    source: beta.xml', '    format: indeed', ''].join('\n');
    await appendFile(mirror.configPath, added);
    await writeFile(join(mirror.folder, 'beta.xml'), feedXml([posting('b1'), posting('b2')]));
    expect((await runProgram(mirror, 'sync', 'beta', '--json')).json()).toMatchObject([{ created: 2 }]);
    const jobs = await mirror.sandbox.inspect.count();
    expect((await runProgram(mirror, 'restore', file, '--replace', '--yes')).status).toBe(0);
    const report = await runProgram(mirror, 'sync', 'beta', '--json');
    expect(report.json()).toMatchObject([{ created: 0, pending: 2 }]);
    expect(`${report.out}${report.errors}`).toContain('restored from a backup');
    expect(await mirror.sandbox.inspect.count()).toBe(jobs);
  });

  it('drops sessions and unfinished work, and does not send alerts twice', { tags: 'slow' }, async () => {
    const mirror = await openMirrored();
    const source = mirror.env.DATABASE_URL ?? '';
    await runSql(source, `insert into web_session (digest, user_name, credential) values ('\\x00', 'ann', '\\x00')`);
    await runSql(source, `insert into alert_message (destination, payload) values ('chat', '{}')`);
    await runSql(source, `insert into bulk_action (action, actor, detail) values ('approve', 'ann', '{}')`);
    await runSql(
      source,
      `insert into orphan_site_job (site, site_job_id, feed, key) values ('board', '99', 'acme', 'x')`,
    );
    const file = newFile();
    await runProgram(mirror, 'backup', file);
    const restored = await runProgram(mirror, 'restore', file, '--replace', '--yes', '--json');
    expect(restored.json()).toMatchObject([{ unsent_messages: 1, stopped_actions: 1, dropped_orphans: 1 }]);
    expect(await runSql(source, 'select from web_session')).toEqual([]);
    expect(await runSql(source, 'select state from alert_message')).toEqual([{ state: 'dead' }]);
    expect(await runSql(source, 'select state from bulk_action')).toEqual([{ state: 'stopped' }]);
    expect(await runSql(source, 'select from orphan_site_job')).toEqual([]);
  });
});
