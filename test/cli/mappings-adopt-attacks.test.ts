// `mappings adopt` on sites and databases that mislead it: no job gets two postings, and no posting a second job.
// @module-tag slow
import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { startFindingProxy } from '../support/finding-proxy.ts';
import { jobOf, makeJob } from '../support/hand-made-jobs.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';
import { runProgram } from './run-program.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

const adopt = (...args: readonly string[]) => runProgram(mirror, 'mappings', 'adopt', 'acme', ...args);
const make = (fields: Readonly<Record<string, string>>) => makeJob(mirror, fields);
const verdicts = (lines: readonly Record<string, unknown>[]) =>
  Object.fromEntries(lines.map(({ key, verdict }) => [key, verdict]));
const mapped = async () => {
  const rows = await mirror.query<{ key: string; id: string }>(
    'select key, site_job_id as id from mapping order by feed, key',
  );
  return Object.fromEntries(rows.map(({ key, id }) => [key, id]));
};
const query = async (text: string, values: readonly unknown[] = []) => mirror.query(text, values);

async function open(list: readonly TestPosting[], options: MirrorOptions = {}): Promise<void> {
  mirror = await openMirror({ searched: true, ...options });
  await mirror.writeFeed(feedXml(list));
}

describe('a site at another address than before', () => {
  it('is searched again before a create, although the feed was searched where it was', async () => {
    await open(postings(2));
    // The feed has no jobs at the former address any more.
    await query(`insert into site_state (site, address) values ('board', 'former.example.com')`);
    await query(
      `insert into value_rewrite (site, field, kind, detail, seen) values ('board', 'number', 'cut', '4', 20)`,
    );
    await query(`update feed_state set site_checked_at = now()`);
    await make(jobOf(posting('p1')));
    await make(jobOf(posting('p1')));
    const second = await make(jobOf(posting('p2')));
    expect(verdicts((await adopt('--sure', '--json')).json())).toEqual({ p1: 'unsure', p2: 'sure' });
    expect(await mapped()).toEqual({ p2: second });
    expect(await query('select from value_rewrite')).toEqual([]);
    expect(await mirror.sync()).toMatchObject({ created: 0, in_doubt: 1, unchanged: 1 });
    expect(await mirror.sandbox.inspect.count()).toBe(3);
  });

  it('is recorded before a job there is mapped', async () => {
    await open(postings(1));
    const id = await make(jobOf(posting('p1')));
    await mirror.query(`create function no_address() returns trigger language plpgsql as $$ begin
      if not exists (select from site_state where address is not null) then raise exception 'no address is known'; end if;
      return new; end $$`);
    await mirror.query('create trigger no_address before insert on mapping for each row execute function no_address()');
    expect(await adopt('--job', id, '--posting', 'p1')).toMatchObject({ status: 0, errors: '' });
  });
});

describe('two names of one site', () => {
  /** Feed `other` mirrors into `again`, which is `board` under another name. */
  async function openTwice(): Promise<void> {
    await open(postings(2));
    const text = await readFile(mirror.configPath, 'utf8');
    const board = /^ {2}board:\n(?: {4}.*\n)+/m.exec(text)?.[0] ?? '';
    const sites = text.replace(board, `${board}${board.replace('board', 'again')}`);
    await writeFile(
      mirror.configPath,
      `${sites}  other:\n    site: again\n    source: other.xml\n    format: indeed\n`,
    );
    await writeFile(`${mirror.folder}/other.xml`, feedXml(postings(2)));
  }

  it('a job that a posting has under the one is not adopted under the other', async () => {
    await openTwice();
    const [first, second] = [await make(jobOf(posting('p1'))), await make(jobOf(posting('p2')))];
    expect(await adopt('--sure')).toMatchObject({ status: 0 });
    expect(await mapped()).toEqual({ p1: first, p2: second });
    const other = (...args: readonly string[]) => runProgram(mirror, 'mappings', 'adopt', 'other', ...args);
    expect(verdicts((await other('--sure', '--json')).json())).toEqual({ p1: 'unmatched', p2: 'unmatched' });
    const named = await other('--job', first, '--posting', 'p1', '--anyway');
    expect(named.errors).toContain(`job ${first} belongs to posting p1 of feed acme`);
    await writeFile(`${mirror.folder}/mappings.csv`, `feed,key,site_job_id\nother,p1,${first}\n`);
    const imported = await runProgram(mirror, 'mappings', 'import', `${mirror.folder}/mappings.csv`);
    expect(imported.errors).toContain(`job ${first} belongs to posting p1 of feed acme`);
    expect(await query('select count(*) as n from mapping')).toEqual([{ n: 2 }]);
  });

  it('postings that wait under the one compete for the jobs under the other', async () => {
    await openTwice();
    await make(jobOf(posting('p1')));
    await make(jobOf(posting('p2')));
    await mirror.sync('other');
    await mirror.stopEngine();
    expect(verdicts((await adopt('--sure', '--json')).json())).toEqual({ p1: 'unsure', p2: 'unsure' });
    expect(await mapped()).toEqual({});
  });
});

describe('a job named by a person', () => {
  it('with the reference of another posting is refused, even if no pull has read that posting', async () => {
    const same = { title: 'Cook', description: 'Cooks' };
    await open([posting('p1', same), posting('p2', same)]);
    const id = await make(jobOf(posting('p2', same)));
    const refused = await adopt('--job', id, '--posting', 'p1');
    expect(refused).toMatchObject({ status: 1, out: '' });
    expect(refused.errors).toMatch(/seems to be another job: another reference \(p2\).*add --anyway/);
    expect(await mapped()).toEqual({});
    expect(await adopt('--job', id, '--posting', 'p2')).toMatchObject({ status: 0 });
  });
});

describe('what a site shows', () => {
  it('cannot add lines to the output', async () => {
    await open(postings(1));
    await make({ ...jobOf(posting('p1')), number: `x\nsure p1 - job 7 ${'\u{1f600}'.repeat(40)}` });
    const shown = await adopt();
    expect(shown.out.split('\n').filter((line) => line.startsWith('sure'))).toEqual([]);
  });
});

describe('a job named by another form of its ID', () => {
  it('is refused: it would get a second posting', async () => {
    await open(postings(3));
    const proxy = await startFindingProxy(mirror.sandbox.url);
    try {
      await mirror.configure(mirror.sandbox.url, proxy.url);
      const first = await make(jobOf(posting('p1')));
      expect(await adopt('--job', first, '--posting', 'p1')).toMatchObject({ status: 0 });
      await mirror.stopEngine();
      for (const id of [`00${first}`, `${first}-nurse`]) {
        const refused = await adopt('--job', id, '--posting', 'p2', '--anyway');
        expect(refused.errors).toContain(`the site shows job ${first} for the ID ${id}: use the ID ${first}`);
        await writeFile(`${mirror.folder}/mappings.csv`, `feed,key,site_job_id\nacme,p1x,${id}\n`);
        const imported = await runProgram(mirror, 'mappings', 'import', `${mirror.folder}/mappings.csv`);
        expect(imported.errors).toContain(`:2: the site shows job ${first} for the ID ${id}`);
      }
      const { db } = await mirror.app();
      await mirror.sync();
      await db.query(
        `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, state, attempt_token, attempt_operation, attempt_started)
         values ('acme', 'p9', 'board', 'present', 'create', '{"title":"Nurse p1"}', 'x', 'x', 'in_doubt', gen_random_uuid(), 'create', now())`,
      );
      const [entry] = await db.query<{ id: number }>(`select id from change where key = 'p9'`);
      await mirror.stopEngine();
      const decided = await runProgram(
        mirror,
        'review',
        'settle',
        String(entry?.id),
        '--exists',
        `00${first}`,
        '--anyway',
      );
      expect(decided.errors + decided.out).toContain(`use the ID ${first}`);
      expect(await query('select count(*) as n from mapping where site_job_id like $1', [`%${first}%`])).toEqual([
        { n: 1 },
      ]);
    } finally {
      await mirror.stopEngine();
      await proxy.close();
    }
  });
});

it('a job that a posting has under an ID with its title is not named by its number', async () => {
  await open(postings(2));
  const id = await make(jobOf(posting('p2')));
  await query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash) 
     values ('acme', 'p1', 'board', $1, decode(repeat('00', 16), 'hex'), decode(repeat('00', 16), 'hex'))`,
    [`${id}-nurse`],
  );
  const owned = `job ${id} belongs, as ${id}-nurse, to posting p1 of feed acme`;
  expect((await adopt('--job', id, '--posting', 'p2', '--anyway')).errors).toContain(owned);
  await writeFile(`${mirror.folder}/mappings.csv`, `feed,key,site_job_id\nacme,p2,${id}\n`);
  const imported = await runProgram(mirror, 'mappings', 'import', `${mirror.folder}/mappings.csv`);
  expect(imported.errors).toContain(owned);
});

describe('after certain jobs were adopted', () => {
  it('a posting whose job could not be told is not created, even if its feed was searched long ago', async () => {
    await open(postings(2));
    expect(await mirror.sync()).toMatchObject({ created: 2 });
    await mirror.stopEngine();
    await make(jobOf(posting('p3')));
    await make(jobOf(posting('p3')));
    const fourth = await make(jobOf(posting('p4')));
    await mirror.writeFeed(feedXml(postings(5)));
    expect(verdicts((await adopt('--sure', '--json')).json())).toEqual({ p3: 'unsure', p4: 'sure', p5: 'unmatched' });
    expect(await mirror.sync()).toMatchObject({ created: 1, in_doubt: 1, unchanged: 3 });
    expect(await mapped()).toMatchObject({ p4: fourth });
    expect(await mirror.sandbox.inspect.count()).toBe(6);
  });
});

describe('a posting that leaves the feed', () => {
  it('is not adopted while it is missing within its grace, and is once it is back', async () => {
    await open(postings(2), { feed: { delete_guard: '{ missing_pulls: 3 }' } });
    const id = await make({ ...jobOf(posting('p1')), description: 'by hand' });
    expect(await mirror.sync()).toMatchObject({ created: 1, in_doubt: 1 });
    await query(
      `update change set state = 'failed', attempt_token = null, attempt_operation = null, attempt_started = null, found_job_id = null`,
    );
    await mirror.syncOf([posting('p2')]);
    await mirror.stopEngine();
    expect((await adopt('--sure', '--json')).json()).toEqual([]);
    expect((await adopt('--job', id, '--posting', 'p1', '--anyway')).errors).toContain(
      'has no posting p1 without a job',
    );
    await mirror.writeFeed(feedXml(postings(2)));
    expect(verdicts((await adopt('--sure', '--json')).json())).toEqual({ p1: 'sure' });
    expect(await mirror.sync()).toMatchObject({ created: 0, updated: 1 });
    expect(await mirror.sandbox.inspect.count()).toBe(2);
  });

  it('after it was adopted: many deletes at once are held, as those of created jobs', async () => {
    await open(postings(8));
    for (const each of postings(8)) await make(jobOf(each));
    expect(await adopt('--sure')).toMatchObject({ status: 0 });
    expect(await mirror.syncOf(postings(1))).toMatchObject({ deleted: 0, held: 7 });
    expect(await mirror.sandbox.inspect.count()).toBe(8);
  });
});
