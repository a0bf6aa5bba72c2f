// `mappings adopt` matches the jobs of a site to the postings of a feed, and maps only what is certain or named.
import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import type { SandboxSettings } from '../../src/sandbox/settings.ts';
import { jobOf, makeJob, removeJob, without } from '../support/hand-made-jobs.ts';
import { holdPullLock } from '../support/hold-pull-lock.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';
import { runProgram } from './run-program.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

const adopt = (...args: readonly string[]) => runProgram(mirror, 'mappings', 'adopt', 'acme', ...args);
const verdicts = (lines: readonly Record<string, unknown>[]) =>
  Object.fromEntries(lines.map(({ key, verdict }) => [key, verdict]));

const make = (fields: Readonly<Record<string, string>>) => makeJob(mirror, fields);
const remove = (id: string) => removeJob(mirror, id);
const writes = () => mirror.sandbox.requests.recent().filter(({ method }) => method !== 'GET');
const mapped = async () => {
  const rows = await mirror.query<{ key: string; id: string }>(
    'select key, site_job_id as id from mapping order by key',
  );
  return Object.fromEntries(rows.map(({ key, id }) => [key, id]));
};

/** An installation that has never mirrored anything. */
async function openNew(list: readonly TestPosting[], options: MirrorOptions = {}): Promise<void> {
  mirror = await openMirror({ searched: true, ...options });
  await mirror.writeFeed(feedXml(list));
}

describe('a site that already has jobs', () => {
  const list = [...postings(5), posting('p6', { city: 'Salem' })];

  it('shows what it found and changes nothing; --sure maps the certain ones, and the next sync sends the differences', async () => {
    await openNew(list, { sandbox: { pageSize: 3 } });
    const [one, two, three, four] = list.map(jobOf) as [Record<string, string>, ...Record<string, string>[]];
    const same = await make(one);
    const edited = await make({
      ...two,
      description: 'changed by hand',
      'contact-web-address': 'https://old.example.com',
    });
    const hidden = await make(without(three ?? {}, 'number'));
    const sparse = await make({ ...without(four ?? {}, 'number', 'description'), title: 'Nurse p4' });
    await make({ title: 'Painter', 'location-state': 'Ohio', number: 'x1' });
    mirror.sandbox.requests.clear();

    const shown = await adopt();
    expect(shown).toMatchObject({ status: 2, errors: '' });
    expect(shown.out).toContain(
      `sure p1 - job ${same} "Nurse p1" 1.00: same reference, same title, same place, same text`,
    );
    expect(shown.out).toContain(
      '3 sure, 1 unsure, 2 unmatched; 1 other job on the site without a posting. Nothing was changed.',
    );
    expect(shown.out).toContain('mappings adopt acme --sure');
    expect(writes()).toEqual([]);
    expect(await mapped()).toEqual({});
    await mirror.stopEngine();

    const done = await adopt('--sure', '--json', '--as', 'anna');
    expect(done.status).toBe(2);
    expect(done.json()).toEqual([
      expect.objectContaining({ key: 'p1', job_id: same, score: 1, verdict: 'sure', adopted: true }),
      expect.objectContaining({ key: 'p2', job_id: edited, verdict: 'sure', adopted: true }),
      expect.objectContaining({ key: 'p3', job_id: hidden, verdict: 'sure', adopted: true }),
      expect.objectContaining({ key: 'p4', job_id: sparse, verdict: 'unsure', adopted: false }),
      expect.objectContaining({ key: 'p5', job_id: null, score: 0, verdict: 'unmatched', adopted: false }),
      expect.objectContaining({ key: 'p6', job_id: null, verdict: 'unmatched' }),
    ]);
    expect(writes()).toEqual([]);
    expect(await mapped()).toEqual({ p1: same, p2: edited, p3: hidden });
    expect(await mirror.query('select actor, action, detail from audit')).toEqual([
      { actor: 'anna', action: 'adopt jobs', detail: { added: 3 } },
    ]);
    await mirror.stopEngine();

    // Running it again finds only what is left.
    expect(verdicts((await adopt('--sure', '--json')).json())).toEqual({
      p4: 'unsure',
      p5: 'unmatched',
      p6: 'unmatched',
    });
    const named = await adopt('--job', `${mirror.sandbox.url}/jobs/${sparse}`, '--posting', ' p4');
    expect(named).toMatchObject({ status: 0, errors: '' });
    expect(named.out).toContain(`Job ${sparse} adopted for posting p4 of feed acme`);
    expect(await mapped()).toMatchObject({ p4: sparse });

    expect(await mirror.sync()).toMatchObject({ created: 2, updated: 3, in_doubt: 0, unchanged: 1 });
    const sent = writes();
    expect(sent.map(({ method, path }) => `${method} ${path.split('?')[0]}`).sort()).toEqual(
      ['POST /jobs.xml', 'POST /jobs.xml', ...[edited, hidden, sparse].map((id) => `PUT /jobs/${id}.xml`)].sort(),
    );
    const rows = await mirror.query<{ key: string; fields: string[] }>(
      `select key, fields from request where operation = 'update' order by key`,
    );
    expect(rows.map(({ key, fields }) => [key, [...fields].sort()])).toEqual([
      ['p2', ['contact-web-address', 'description']],
      ['p3', ['number']],
      ['p4', ['description', 'number']],
    ]);
    const jobs = await mirror.siteJobs();
    for (const each of list) expect(jobs.get(each.key)).toMatchObject(jobOf(each));
    mirror.sandbox.requests.clear();
    expect(await mirror.sync()).toMatchObject({ unchanged: 6, requests: 0 });
  });
});

describe('a site that rewrites values', () => {
  it.each<SandboxSettings['storedValues']>(['trimmed', 'upper-case', 'stripped', 'cut', 'composed'])(
    '%s: its jobs are certain, and none is created again',
    { tags: 'slow' },
    async (storedValues) => {
      const list = Array.from({ length: 4 }, (_, at) =>
        posting(`Req-00${at}-a`, {
          title: `  Nurse  Zo\u0065\u0301 ${at}`,
          description: `<p>Care for ${at}</p>\r\n<ul><li>long  hours, every day</li></ul>`,
        }),
      );
      await openNew(list, { sandbox: { storedValues } });
      for (const each of list) await make(jobOf({ ...each, key: each.key }));
      expect(verdicts((await adopt('--sure', '--json')).json())).toEqual(
        Object.fromEntries(list.map(({ key }) => [key, 'sure'])),
      );
      mirror.sandbox.requests.clear();
      expect(await mirror.sync()).toMatchObject({ created: 0, in_doubt: 0 });
      expect(writes().filter(({ method }) => method === 'POST')).toEqual([]);
      expect(await mirror.sandbox.inspect.count()).toBe(list.length);
    },
  );
});

describe('what is not certain', () => {
  it('several candidates, one job for two postings, jobs of another posting, and what a person refused are left', async () => {
    const same = { title: 'Cook', description: 'Cooks' };
    await openNew([posting('p1'), posting('p2'), posting('a', same), posting('b', same), posting('p3'), posting('p4')]);
    await make(jobOf(posting('p1')));
    await make(jobOf(posting('p1')));
    const shared = await make(without(jobOf(posting('a', same)), 'number', 'contact-web-address'));
    const other = await make({ ...jobOf(posting('p3')), number: 'p2' });
    const refused = await make(jobOf(posting('p4')));
    await mirror.query(`insert into refuted_job (site, site_job_id, feed, key) values ('board', $1, 'acme', 'p4')`, [
      refused,
    ]);
    const found = (await adopt('--sure', '--json')).json();
    const unsure = { p1: 'unsure', p2: 'unsure', a: 'unsure', b: 'unsure', p3: 'unsure' };
    expect(verdicts(found)).toEqual({ ...unsure, p4: 'unmatched' });
    expect(found.find(({ key }) => key === 'p1')?.reasons).toContain('2 jobs share this reference');
    expect(found.find(({ key }) => key === 'a')).toMatchObject({ job_id: shared });
    expect(found.find(({ key }) => key === 'a')?.reasons).toContain('2 postings share this content');
    expect(found.find(({ key }) => key === 'p3')).toMatchObject({ job_id: other });
    expect(await mapped()).toEqual({});
  });

  it('jobs that postings of another feed have, or may get, are left', { tags: 'slow' }, async () => {
    await openNew([posting('p1'), posting('p2')]);
    const text = await readFile(mirror.configPath, 'utf8');
    const { folder } = mirror;
    await writeFile(`${folder}/other.xml`, feedXml([posting('p1'), posting('p9')]));
    await writeFile(mirror.configPath, `${text}  other:\n    site: board\n    source: other.xml\n    format: indeed\n`);
    const first = await make(jobOf(posting('p1')));
    await make(jobOf(posting('p2')));
    expect((await adopt()).errors).toContain('Postings of other, also of site board, were not compared');
    expect(await mirror.sync('other')).toMatchObject({ created: 1, in_doubt: 1 });
    await mirror.stopEngine();
    const found = (await adopt('--sure', '--json')).json();
    expect(verdicts(found)).toEqual({ p1: 'unsure', p2: 'sure' });
    expect(found.find(({ key }) => key === 'p1')?.reasons).toContain('2 postings share this reference');
    const taken = await runProgram(mirror, 'mappings', 'adopt', 'other', '--job', first, '--posting', 'p1', '--anyway');
    expect(taken).toMatchObject({ status: 0 });
    const refused = await adopt('--job', first, '--posting', 'p1', '--anyway');
    expect(refused).toMatchObject({ status: 1, out: '' });
    expect(refused.errors).toContain(`job ${first} belongs to posting p1 of feed other. Nothing was adopted.`);
    expect(verdicts((await adopt('--json')).json())).toEqual({ p1: 'unmatched' });
  });

  it('jobs of other users, where the list says whose they are', { tags: 'slow' }, async () => {
    await openNew([posting('p1'), posting('p2')]);
    await make({ ...jobOf(posting('p1')), 'user-id': '7' });
    await make({ ...jobOf(posting('p2')), 'user-id': '8' });
    const found = (await adopt('--sure', '--json')).json();
    expect(verdicts(found)).toEqual({ p1: 'unsure', p2: 'unsure' });
    expect(found[0]?.reasons).toContain('the job may be another user’s');
    await adopt('--job', String(found[0]?.job_id), '--posting', 'p1');
    expect(verdicts((await adopt('--json')).json())).toEqual({ p2: 'unsure' });
    await make({ ...jobOf(posting('p3')), 'user-id': '7' });
    await mirror.writeFeed(feedXml(postings(3)));
    expect(verdicts((await adopt('--json')).json())).toEqual({ p2: 'unsure', p3: 'sure' });
  });

  it('with a feed that was not read to its end, content alone proves nothing', { tags: 'slow' }, async () => {
    await openNew([]);
    await mirror.writeFeed(feedXml(postings(2)).replace('</source>', ''));
    await make(jobOf(posting('p1')));
    await make(without(jobOf(posting('p2')), 'number'));
    const found = await adopt('--sure', '--json');
    expect(verdicts(found.json())).toEqual({ p1: 'sure', p2: 'unsure' });
  });
});

describe('one job named by a person', () => {
  it('is refused if the site has no such job, or if it seems to be another one, unless the person insists', {
    tags: 'slow',
  }, async () => {
    await openNew(postings(2));
    const id = await make({ title: 'Painter', number: 'p2', 'location-state': 'Ohio' });
    expect((await adopt('--job', '999999', '--posting', 'p1')).errors).toContain('site board has no job 999999');
    expect((await adopt('--job', id, '--posting', 'nope')).errors).toContain(
      'feed acme has no posting nope without a job',
    );
    const refused = await adopt('--job', id, '--posting', 'p1');
    expect(refused.errors).toMatch(/seems to be another job: .*add --anyway. Nothing was adopted/);
    expect((await adopt('--job', id)).errors).toContain('--job and --posting belong together');
    expect((await adopt('--job', id, '--posting', 'p1', '--sure')).status).toBe(1);
    expect(await mapped()).toEqual({});
    await mirror.stopEngine();
    expect(await adopt('--job', id, '--posting', 'p1', '--anyway')).toMatchObject({ status: 0 });
    expect(await mapped()).toEqual({ p1: id });
  });
});

describe('a command that cannot do its work changes nothing', () => {
  it('a list that cannot be read to its end', async () => {
    await openNew(postings(2), { site: { list_path: '/no-such-list.xml' } });
    await make(jobOf(posting('p1')));
    const failed = await adopt('--sure');
    expect(failed).toMatchObject({ status: 1, out: '' });
    expect(failed.errors).toMatch(/list at .*no-such-list.xml could not be read.*Nothing was adopted/);
    expect(await mapped()).toEqual({});
  });

  it('a site without a list', { tags: 'slow' }, async () => {
    await openNew(postings(1), { site: { list_path: undefined } });
    const id = await make(jobOf(posting('p1')));
    expect((await adopt('--sure')).errors).toContain('site board has no list_path');
    expect(await adopt('--job', id, '--posting', 'p1')).toMatchObject({ status: 0 });
  });

  it('a pull of the feed, or another command that adopts', async () => {
    await openNew(postings(1));
    await make(jobOf(posting('p1')));
    const release = await holdPullLock((await mirror.app()).db, feedName('acme'));
    const busy = await adopt('--sure');
    expect(busy).toMatchObject({ status: 1, out: '' });
    expect(busy.errors).toContain('feed acme is being pulled, or its jobs are being adopted');
    await release();
    expect(await adopt('--sure')).toMatchObject({ status: 0 });
  });

  it('a paused site', { tags: 'slow' }, async () => {
    await openNew(postings(1));
    await make(jobOf(posting('p1')));
    await mirror.query(
      `insert into site_state (site, paused_since, pause_cause) values ('board', now(), '"it refuses all"')`,
    );
    expect((await adopt('--sure')).errors).toContain('site board is paused (it refuses all)');
    expect(await mapped()).toEqual({});
  });
});

it('a job that is deleted after it was adopted is created again, once', { tags: 'slow' }, async () => {
  await openNew(postings(2));
  const id = await make(jobOf(posting('p1', { title: 'Old title p1' })));
  await make(jobOf(posting('p2')));
  expect(await adopt('--sure')).toMatchObject({ status: 0 });
  await remove(id);
  expect(await mirror.sync()).toMatchObject({ in_doubt: 0, failed: 0 });
  expect(await mirror.sync()).toMatchObject({ unchanged: 2 });
  expect([...(await mirror.siteJobs()).keys()].sort()).toEqual(['p1', 'p2']);
});

describe('a posting whose create is', () => {
  const inState = (state: string) =>
    `state = '${state}', attempt_token = null, attempt_operation = null, attempt_started = null, found_job_id = null`;
  const STATES = [
    // Waiting for a decision about the found job.
    ['state = state'],
    [inState('ready')],
    [inState('failed')],
    [`${inState('held')}, target_state = 'held'`],
    [inState('rejected')],
    [inState('failed'), `state = 'discarded', discarded_from = 'failed'`],
  ];

  /** Each of these postings has a job, and its create is in the state after the changes. */
  async function openIn(...states: readonly (readonly string[])[]): Promise<Readonly<Record<string, string>>> {
    const list = postings(states.length);
    await openNew([...list, posting('other')]);
    const ids: Record<string, string> = {};
    for (const each of list) ids[each.key] = await make({ ...jobOf(each), description: 'by hand' });
    expect(await mirror.sync()).toMatchObject({ created: 1, in_doubt: states.length });
    await mirror.stopEngine();
    for (const [at, changes] of states.entries())
      for (const change of changes) await mirror.query(`update change set ${change} where key = $1`, [`p${at + 1}`]);
    await mirror.stopEngine();
    mirror.sandbox.requests.clear();
    return ids;
  }

  it('waiting, ready, failed, held, rejected or discarded: it is adopted, and never created', async () => {
    const ids = await openIn(...STATES);
    expect((await adopt('--sure', '--json')).json()).toEqual(
      Object.entries(ids).map(([key, id]) =>
        expect.objectContaining({ key, job_id: id, verdict: 'sure', adopted: true }),
      ),
    );
    expect(await mirror.query('select distinct operation, attempt_token from change')).toEqual([
      { operation: 'update', attempt_token: null },
    ]);
    await mirror.stopEngine();
    await mirror.sync();
    // What a person must decide stays so; a new version from the feed is an update of the job.
    const fresh = Object.keys(ids).map((key) => posting(key, { description: 'new' }));
    await mirror.writeFeed(feedXml([...fresh, posting('other')]));
    expect(await mirror.sync()).toMatchObject({ updated: STATES.length, created: 0, in_doubt: 0 });
    expect(writes().filter(({ method }) => method !== 'PUT')).toEqual([]);
    const jobs = await mirror.siteJobs();
    for (const { key } of fresh) expect(jobs.get(key)).toMatchObject({ description: 'new' });
    expect(await mirror.sandbox.inspect.count()).toBe(STATES.length + 1);
  });

  it('in doubt: it is left to whoever resolves the doubt', { tags: 'slow' }, async () => {
    const { p1: id = '' } = await openIn(['found_job_id = null']);
    const found = await adopt('--sure', '--json');
    expect(found.status).toBe(2);
    expect(found.json()).toEqual([
      expect.objectContaining({ key: 'p1', job_id: id, verdict: 'unsure', adopted: false }),
    ]);
    const refused = await adopt('--job', id, '--posting', 'p1', '--anyway');
    expect(refused.errors).toMatch(/in flight or in doubt; resolve that first: entry \d+\. Nothing was adopted/);
    expect(await mirror.query('select state from change')).toEqual([{ state: 'in_doubt' }]);
  });

  it('refused by a rule: it is adopted, and its job stays as it is until the feed is right', {
    tags: 'slow',
  }, async () => {
    await openNew([posting('p1', { state: 'Atlantis' })]);
    const id = await make({ ...jobOf(posting('p1')), title: 'Nurse p1' });
    const found = await adopt('--json');
    expect(found.json()).toEqual([expect.objectContaining({ key: 'p1', job_id: id, verdict: 'unsure' })]);
    expect(await adopt('--job', id, '--posting', 'p1')).toMatchObject({ status: 0 });
    mirror.sandbox.requests.clear();
    expect(await mirror.sync()).toMatchObject({ rejected: 1, created: 0 });
    expect(writes()).toEqual([]);
    expect(await mirror.syncOf([posting('p1', { title: 'Head nurse' })])).toMatchObject({ updated: 1, created: 0 });
  });

  it('edited in review: the job is compared with the edit, which the next sync sends', { tags: 'slow' }, async () => {
    await openIn([inState('failed')]);
    const [entry] = await mirror.query<{ id: number }>('select id from change');
    await mirror.stopEngine();
    const edit = await runProgram(
      mirror,
      'review',
      'edit',
      String(entry?.id),
      '--set',
      'title=Nurse p1, edited',
      '--no-send',
    );
    expect(edit).toMatchObject({ errors: '' });
    expect(verdicts((await adopt('--sure', '--json')).json())).toEqual({ p1: 'sure' });
    expect(await mirror.sync()).toMatchObject({ created: 0, updated: 1 });
    expect((await mirror.siteJobs()).get('p1')).toMatchObject({ title: 'Nurse p1, edited' });
  });
});

it('a feed under a new name is refused until it is renamed', { tags: 'slow' }, async () => {
  await openNew([posting('p1')]);
  await mirror.sync();
  await mirror.configure('  acme:', '  acme2:');
  const refused = await runProgram(mirror, 'mappings', 'adopt', 'acme2', '--sure');
  expect(refused).toMatchObject({ status: 1, out: '' });
  expect(refused.errors).toContain('feeds rename acme acme2');
});
