// `verify` compares mapped jobs with what the site shows, changes nothing by itself, and never takes a lie of the list for a fact.
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { type EditingProxy, openEditingProxy } from '../support/editing-proxy.ts';
import { changeJob, makeJob } from '../support/hand-made-jobs.ts';
import { holdPullLock } from '../support/hold-pull-lock.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';
import { patientSite } from '../support/patient-site.ts';
import { runSql } from '../support/sql.ts';
import { startProgram } from './program.ts';
import { runProgram } from './run-program.ts';

let mirror: Mirror;
let proxy: EditingProxy | undefined;
afterEach(async () => {
  await mirror?.close();
  await proxy?.close();
  proxy = undefined;
});

const verify = (...args: readonly string[]) => runProgram(mirror, 'verify', ...args);

async function openMirrored(list: readonly TestPosting[], options: MirrorOptions = {}): Promise<void> {
  mirror = await openMirror(options);
  await mirror.writeFeed(feedXml(list));
  await mirrorAll(list.length);
}

/** The same behind a proxy. */
async function openBehindProxy(list: readonly TestPosting[], options: MirrorOptions = {}): Promise<EditingProxy> {
  const opened = await openEditingProxy();
  proxy = opened;
  mirror = await openMirror({ ...options, site: { ...options.site, base_url: opened.url } });
  opened.target = mirror.sandbox.url;
  await mirror.writeFeed(feedXml(list));
  await mirrorAll(list.length);
  opened.asked.splice(0);
  return opened;
}

async function mirrorAll(created: number): Promise<void> {
  expect(await mirror.sync()).toMatchObject({ created, failed: 0, in_doubt: 0 });
  await mirror.stopEngine();
  mirror.sandbox.requests.clear();
}

/** Opening the app for a query takes as long as a command. */
const query = <Row extends Record<string, unknown> = Record<string, unknown>>(sql: string): Promise<Row[]> =>
  runSql<Row>(mirror.env.DATABASE_URL ?? '', sql);

async function jobIds(): Promise<Map<string, string>> {
  const rows = await query<{ key: string; id: string }>('select key, site_job_id as id from mapping');
  return new Map(rows.map(({ key, id }) => [key, id]));
}
const jobOf = async (key: string) => (await jobIds()).get(key) ?? '';

/** Changes a job by hand. */
const change = (id: string, fields: Readonly<Record<string, string>>) => changeJob(mirror, id, fields);

/** Creates a job by hand. */
const make = (fields: Readonly<Record<string, string>>) =>
  makeJob(mirror, { title: 'By hand', 'location-state': 'Ohio', ...fields });

const remove = async (key: string): Promise<void> => {
  expect(await mirror.sandbox.inspect.removeJob(await jobOf(key))).toBe(true);
};

const requests = () => mirror.sandbox.requests.recent();
const writes = () => requests().filter(({ method }) => method !== 'GET');
const requestsOf = (kind: 'list' | 'show') =>
  requests().filter(({ path }) => /^\/jobs\.xml/.test(path) === (kind === 'list'));

/** Findings, and the counts of the feeds. */
async function found(...args: readonly string[]) {
  const end = await verify(...args, '--json');
  const lines = end.json();
  return {
    status: end.status,
    errors: end.errors,
    findings: lines.filter(({ finding }) => finding !== undefined),
    counts: lines.find(({ finding }) => finding === undefined) as Record<string, unknown>,
  };
}

/** Everything that a run without `--repair` must leave as it is. */
async function stateOfDatabase(): Promise<unknown> {
  const tables = [
    'mapping',
    'document',
    'change',
    'uncertain_write',
    'site_reference',
    'site_sign',
    'audit',
    'site_state',
  ];
  // That a job was seen, and that the list may be read past caches, is noted.
  const noted = `array['never_shown', 'list_query_taken_at']`;
  const all = tables.map((table) => `select '${table}' as name, to_jsonb(t) - ${noted} as row from ${table} t`);
  return query(`select * from (${all.join(' union all ')}) r order by name, row::text`);
}

describe('verify', () => {
  it('finds what is gone, changed and foreign, changes nothing, and reads each page of the list once', async () => {
    await openMirrored(postings(13), { sandbox: { pageSize: 5 } });
    const ids = await jobIds();
    await change(ids.get('p2') ?? '', { title: 'By hand', description: 'also by hand' });
    await remove('p3');
    const double = await make({ number: 'p4' });
    await make({ number: 'somebody else’s' });
    const before = await stateOfDatabase();
    mirror.sandbox.requests.clear();

    const { status, errors, findings, counts } = await found();
    expect({ status, errors }).toEqual({ status: 2, errors: '' });
    expect(findings).toEqual([
      {
        feed: 'acme',
        key: 'p2',
        job_id: ids.get('p2'),
        finding: 'changed',
        fields: {
          title: { from: 'Nurse p2', to: 'By hand' },
          description: { from: '<p>Work p2</p>', to: 'also by hand' },
        },
      },
      { feed: 'acme', key: 'p3', job_id: ids.get('p3'), finding: 'gone', fields: {} },
      {
        feed: 'acme',
        key: 'p4',
        job_id: double,
        finding: 'foreign',
        fields: {},
        message: `another job shows the reference of the posting, whose own job is ${ids.get('p4')}`,
      },
    ]);
    expect(counts).toEqual({
      feed: 'acme',
      jobs: 13,
      same: 11,
      changed: 1,
      gone: 1,
      foreign: 1,
      waiting: 0,
      unknown: 0,
      unasked: 0,
      hidden: {},
    });
    expect(requestsOf('list')).toHaveLength(3);
    expect(requestsOf('show')).toHaveLength(4);
    expect(writes()).toEqual([]);
    expect(await stateOfDatabase()).toEqual(before);

    const shown = await verify('acme');
    expect(shown).toMatchObject({ status: 2, errors: '' });
    expect(shown.out).toContain(`changed acme p2 - job ${ids.get('p2')}\n    title: "Nurse p2" → "By hand"`);
    expect(shown.out).toContain(`gone acme p3 - job ${ids.get('p3')}`);
    expect(shown.out).toContain('acme: 13 jobs: 11 as sent, 1 changed, 1 gone, 1 foreign');
    expect(shown.out).toContain('verify acme --repair');
    const title = await verify('acme', '--each', '--field', 'title');
    expect(title.out).toContain('verify acme --each --field title --repair');
  });

  it('--repair has the next sync set it again, with no more fields than differ, and one new job for the one that is gone', async () => {
    await openMirrored(postings(6));
    const changed = await jobOf('p2');
    await change(changed, { title: 'By hand', 'location-city': 'Salem' });
    await remove('p3');
    const repaired = await found('--repair', '--as', 'anna');
    expect(repaired.status).toBe(0);
    expect(repaired.counts).toMatchObject({ changed: 1, gone: 1, marked: 2, not_marked: 0 });
    expect(writes().filter(({ method }) => method !== 'PUT')).toEqual([]);
    expect(await mirror.query('select actor, action, key, detail from audit order by key')).toEqual([
      expect.objectContaining({
        actor: 'anna',
        key: 'p2',
        detail: { siteJobId: changed, finding: 'changed', fields: expect.arrayContaining(['title', 'location-city']) },
      }),
      expect.objectContaining({ actor: 'anna', key: 'p3', detail: expect.objectContaining({ finding: 'gone' }) }),
    ]);
    await mirror.stopEngine();
    // Until the sync, they wait.
    expect(await found('--repair')).toMatchObject({
      status: 0,
      findings: [],
      counts: { same: 4, waiting: 2, marked: 0 },
    });

    mirror.sandbox.requests.clear();
    expect(await mirror.sync()).toMatchObject({ unchanged: 4, failed: 0, in_doubt: 0, pending: 0 });
    const rows = await mirror.query<{ fields: string[] }>(
      `select fields from request where operation = 'update' and key = 'p2' order by id desc limit 1`,
    );
    expect([...(rows[0]?.fields ?? [])].sort()).toEqual(['location-city', 'title']);
    const jobs = await mirror.siteJobs();
    expect([...jobs.keys()].sort()).toEqual(['p1', 'p2', 'p3', 'p4', 'p5', 'p6']);
    expect(jobs.get('p2')).toMatchObject({ title: 'Nurse p2', 'location-city': 'Boston' });
    expect(await jobOf('p2')).toBe(changed);
    expect(writes().filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(writes().filter(({ method }) => method === 'DELETE')).toEqual([]);
    expect(await found()).toMatchObject({ status: 0, findings: [], counts: { same: 6 } });
    mirror.sandbox.requests.clear();
    expect(await mirror.sync()).toMatchObject({ unchanged: 6, requests: 0 });
  });

  it.each(['trimmed', 'upper-case', 'stripped', 'cut', 'composed'] as const)(
    'finds nothing on a site that shows values %s',
    { tags: 'slow' },
    async (storedValues) => {
      const list = Array.from({ length: 3 }, (_, at) =>
        posting(`Req-00${at}-a`, {
          title: `  Nurse  Zo\u0065\u0301 ${at}`,
          description: `<p>Care for ${at}</p>\r\n<ul><li>long  hours, every day</li></ul>`,
        }),
      );
      await openMirrored(list, { sandbox: { storedValues } });
      expect(await found()).toMatchObject({ status: 0, findings: [], counts: { jobs: 3, same: 3 } });
    },
  );

  it('says the state of a posting’s change, and compares with what the site has accepted', {
    tags: 'slow',
  }, async () => {
    await openMirrored(postings(3));
    await mirror.writeFeed(feedXml([posting('p1'), posting('p2', { state: 'Atlantis', title: 'New' })]));
    expect(await mirror.sync()).toMatchObject({ rejected: 1, deleted: 1 });
    await mirror.stopEngine();
    await change(await jobOf('p2'), { title: 'By hand' });
    const { findings } = await found('--repair');
    expect(findings).toEqual([
      expect.objectContaining({
        key: 'p2',
        finding: 'changed',
        state: 'rejected',
        fields: { title: { from: 'Nurse p2', to: 'By hand' } },
      }),
    ]);
    // The feed decides once it is right: everything that differs is sent.
    expect(await mirror.syncOf([posting('p1'), posting('p2')])).toMatchObject({ updated: 1 });
    expect((await mirror.siteJobs()).get('p2')).toMatchObject({ title: 'Nurse p2' });
  });
});

describe('options', () => {
  it('--field compares only some fields, and refuses unknown ones', { tags: 'slow' }, async () => {
    await openMirrored(postings(2));
    await change(await jobOf('p1'), { title: 'By hand', description: 'by hand' });
    expect((await found('--field', 'title')).findings).toEqual([
      expect.objectContaining({ key: 'p1', fields: { title: { from: 'Nurse p1', to: 'By hand' } } }),
    ]);
    expect((await found('--field', 'location-city')).findings).toEqual([]);
    const refused = await verify('--field', 'tilte');
    expect(refused).toMatchObject({ status: 1, out: '' });
    expect(refused.errors).toContain('no feed here has the field tilte; fields: ');
    expect((await verify('nope')).errors).toContain('there is no feed nope');
  });

  it('--each asks for each job and reads no list; --after begins later', { tags: 'slow' }, async () => {
    await openMirrored(postings(5));
    await change(await jobOf('p4'), { title: 'By hand' });
    mirror.sandbox.requests.clear();
    expect(await found('--each')).toMatchObject({ status: 2, counts: { same: 4, changed: 1 } });
    expect(requestsOf('list')).toEqual([]);
    expect(requestsOf('show')).toHaveLength(5);
    mirror.sandbox.requests.clear();
    expect(await found('acme', '--each', '--after', 'p3')).toMatchObject({ counts: { jobs: 5, same: 1, changed: 1 } });
    expect(requestsOf('show')).toHaveLength(2);
    expect((await verify('--each', '--after', 'p3')).errors).toContain(
      '--after belongs to --each and the name of one feed',
    );
    expect((await verify('acme', '--after', 'p3')).status).toBe(1);
  });

  it('--each that is stopped prints the command that goes on', { tags: 'slow' }, async () => {
    const behind = await openBehindProxy(postings(5), { site: patientSite(120) });
    await change(await jobOf('p1'), { title: 'By hand' });
    const third = await jobOf('p3');
    const end = new AbortController();
    behind.edit = async (path, _method, answer) => {
      if (path.includes(`/${third}.`)) await once(end.signal, 'abort');
      return answer;
    };
    const running = startProgram(['verify', 'acme', '--each', '--config', mirror.configPath], {
      cwd: mirror.folder,
      env: mirror.env,
    });
    await expect.poll(() => behind.asked.length, { timeout: 60_000 }).toBe(3);
    running.process.kill('SIGINT');
    expect((await running.ended).status).not.toBe(0);
    end.abort();
    expect(running.out()).toContain('changed acme p1');
    expect(running.errors()).toMatch(/To go on after the last job that was compared: .*verify acme --each --after p2/);
  });

  it('--sample asks for so many jobs of each feed', { tags: 'slow' }, async () => {
    await openMirrored(postings(9));
    mirror.sandbox.requests.clear();
    expect(await found('--sample', '4')).toMatchObject({ status: 0, counts: { jobs: 9, same: 4 } });
    expect(requests()).toHaveLength(4);
    // A single job that is gone is no sign of another site, as others are there.
    for (const key of ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8']) await remove(key);
    const { findings } = await found('--sample', '1');
    expect(findings.every(({ finding }) => finding === 'gone')).toBe(true);
  });

  it('--repair reads the list to its proven end: what is gone may be made again', { tags: 'slow' }, async () => {
    const behind = await openBehindProxy(postings(9), { sandbox: { pageSize: 3, paging: 'link' } });
    await remove('p9');
    expect((await found()).counts).toMatchObject({ gone: 1 });
    const lists = () => behind.asked.filter((asked) => asked.startsWith('GET /jobs.xml'));
    expect(lists()).toHaveLength(3);
    behind.edit = (path, _method, answer) =>
      lists().length > 6 && /^\/jobs\.xml(\?_=[-\w]+)?$/.test(path)
        ? { ...answer, body: answer.body.replace(/<job>[\s\S]*?<\/job>/, '') }
        : answer;
    const moved = await found('--repair');
    expect(moved).toMatchObject({ status: 1, findings: [], counts: { same: 8, gone: 0, marked: 0 } });
    expect(moved.counts.message).toContain('it changes, so others may be missing too');
    behind.edit = (_path, _method, answer) => answer;
    expect(await found('--repair')).toMatchObject({ status: 0, counts: { gone: 1, marked: 1 } });
  });
});

describe('a list that lies', () => {
  const withoutJob = (body: string, id: string): string =>
    body.replace(new RegExp(`<job>(?:(?!</job>)[^])*?<id[^>]*>${id}</id>[^]*?</job>`), '');

  it('leaves jobs out: no job counts as gone that the site shows', async () => {
    const behind = await openBehindProxy(postings(4));
    const hidden = await jobOf('p2');
    let cut = 0;
    behind.edit = (path, _method, answer) => {
      if (!path.startsWith('/jobs.xml')) return answer;
      const body = withoutJob(answer.body, hidden).replace(/ total="\d+"/, '');
      if (body.length < answer.body.length - 50) cut++;
      return { ...answer, body };
    };
    expect(await found('--repair')).toMatchObject({ status: 0, findings: [], counts: { same: 4, marked: 0 } });
    expect(cut).toBeGreaterThan(0);
  });

  it('shows other values than the jobs: they are not believed, and after a few jobs not asked about any more', {
    tags: 'slow',
  }, async () => {
    const behind = await openBehindProxy(postings(12));
    behind.edit = (path, _method, answer) =>
      path.startsWith('/jobs.xml')
        ? {
            ...answer,
            body: answer.body.replace(/<description>[^<]*<\/description>/g, '<description>An excerpt</description>'),
          }
        : answer;
    expect(await found()).toMatchObject({
      status: 0,
      findings: [],
      counts: { same: 12, hidden: { description: 7 } },
    });
    expect(behind.asked.filter((asked) => /^GET \/jobs\/\d/.test(asked))).toHaveLength(5);
  });

  it('shows only some fields: it says which could not be compared', { tags: 'slow' }, async () => {
    const behind = await openBehindProxy(postings(3));
    behind.edit = (path, _method, answer) =>
      path.startsWith('/jobs.xml')
        ? { ...answer, body: answer.body.replace(/<description>[^<]*<\/description>/g, '') }
        : answer;
    await change(await jobOf('p1'), { description: 'by hand' });
    const shown = await verify();
    expect(shown).toMatchObject({ status: 0 });
    expect(shown.out).toContain('description could not be compared in 3 jobs');
    expect(await found('--each')).toMatchObject({ status: 2, counts: { changed: 1, same: 2, hidden: {} } });
  });

  it('ends in an error: what it did show is compared, and nothing else counts as gone', { tags: 'slow' }, async () => {
    const behind = await openBehindProxy(postings(9), { sandbox: { pageSize: 3 } });
    // The list begins with the newest job. Several postings are sent at a time, so any may have been the first.
    const byAge = [...(await jobIds())].sort(([, id], [, other]) => Number(id) - Number(other)).map(([key]) => key);
    const oldest = byAge.at(0) ?? '';
    const newest = byAge.at(-1) ?? '';
    await change(await jobOf(newest), { title: 'By hand' });
    await remove(oldest);
    behind.edit = (path, _method, answer) =>
      path.includes('page=3') ? { status: 500, body: '<error>out of order</error>' } : answer;
    const { status, findings, counts } = await found('--repair');
    expect(status).toBe(1);
    expect(findings).toEqual([expect.objectContaining({ key: newest, finding: 'changed' })]);
    expect(counts).toMatchObject({ same: 5, changed: 1, gone: 0, marked: 1 });
    expect(counts.message).toMatch(/could not be read.*Jobs that it did not show were not compared/);
  });
});

describe('a site that is not the right one', () => {
  const notFound = { status: 404, body: '<error>not found</error>' };

  it('has none of the jobs: none counts as gone, and nothing is marked', async () => {
    const behind = await openBehindProxy(postings(30));
    behind.edit = (path, _method, answer) =>
      path.startsWith('/jobs.xml') ? { status: 200, body: '<jobs type="array"/>' } : { ...answer, ...notFound };
    const before = await stateOfDatabase();
    const { status, findings, counts } = await found('--repair');
    expect({ status, findings }).toEqual({ status: 1, findings: [] });
    expect(counts).toMatchObject({ gone: 0, marked: 0 });
    expect(counts.message).toMatch(
      /has none of the 10 jobs of ours that it was asked for: check base_url and the token/,
    );
    expect(counts.message).toContain('resume board --emptied');
    expect(behind.asked.length).toBeLessThan(25);
    expect(await stateOfDatabase()).toEqual(before);
    expect(await found('--each')).toMatchObject({ status: 1, findings: [] });
    expect(await found('--sample', '2')).toMatchObject({ status: 1, findings: [] });

    // A person says that it was emptied.
    await query(`insert into site_state (site, trust_gone_until) values ('board', now() + interval '1 hour')
       on conflict (site) do update set trust_gone_until = excluded.trust_gone_until`);
    expect(await found()).toMatchObject({ status: 2, counts: { gone: 30 } });
  });

  it('has jobs of other postings under the same IDs: they are foreign, and --repair leaves them alone', {
    tags: 'slow',
  }, async () => {
    await openMirrored(postings(3));
    const id = await jobOf('p2');
    await change(id, { number: 'x-77', title: 'Painter' });
    const shown = await verify();
    expect([shown.status, shown.out]).toEqual([2, expect.not.stringContaining('--repair')]);
    const { status, findings, counts } = await found('--repair');
    expect(status).toBe(2);
    expect(findings).toEqual([
      expect.objectContaining({
        key: 'p2',
        job_id: id,
        finding: 'foreign',
        fields: { number: { from: 'p2', to: 'x-77' } },
        message: 'its job shows the reference of another posting',
      }),
    ]);
    expect(counts).toMatchObject({ foreign: 1, marked: 0 });
  });

  it('without a reference field, a job with another title is foreign, unless a value that only its posting has says otherwise', async () => {
    const shared = ['s1', 's2'].map((key) => posting(key, { description: '<p>Apply to Example Inc.</p>' }));
    await openMirrored([...postings(3), ...shared], { site: { reference_field: undefined } });
    await change(await jobOf('p1'), { title: 'Painter', description: 'Paints houses', 'contact-web-address': '' });
    await change(await jobOf('p2'), { description: 'by hand' });
    await change(await jobOf('p3'), { title: 'Cook' });
    await change(await jobOf('s1'), { title: 'Welder', 'contact-web-address': '' });
    const { findings } = await found('--repair');
    expect(findings.sort((one, other) => String(one.key).localeCompare(String(other.key)))).toEqual([
      expect.objectContaining({
        key: 'p1',
        finding: 'foreign',
        fields: { title: { from: 'Nurse p1', to: 'Painter' } },
      }),
      expect.objectContaining({ key: 'p2', finding: 'changed' }),
      expect.objectContaining({ key: 'p3', finding: 'changed', fields: { title: { from: 'Nurse p3', to: 'Cook' } } }),
      expect.objectContaining({ key: 's1', finding: 'foreign' }),
    ]);
  });
});

it('jobs with the reference of a posting that are not foreign', { tags: 'slow' }, async () => {
  await openMirrored(postings(4));
  const ids = [await make({ number: 'p1' }), await make({ number: 'p2' }), await make({ number: 'p3' })];
  expect((await found()).counts).toMatchObject({ foreign: 3 });
  // The first is about to be deleted, the second belongs to another feed, the third shares its reference with two postings.
  await mirror.query(
    `insert into orphan_site_job (site, site_job_id, feed, key) values ('board', $1, 'acme', 'p1')`,
    ids.slice(0, 1),
  );
  await mirror.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
     values ('other', 'p2', 'board', $1, decode(md5('c'), 'hex'), decode(md5('d'), 'hex'))`,
    ids.slice(1, 2),
  );
  await mirror.query(`update document set fields = (fields::jsonb || '{"number":"p3"}')::json where key = 'p4'`);
  await mirror.stopEngine();
  expect((await found()).findings.filter(({ job_id }) => ids.includes(String(job_id)))).toEqual([]);
});

it('a job that the list shows under another ID is not foreign', { tags: 'slow' }, async () => {
  const behind = await openBehindProxy(postings(3));
  await query(`update mapping set site_job_id = site_job_id || '-nurse'`);
  behind.route = (path) => path.replace('-nurse.', '.');
  expect(await found()).toMatchObject({ status: 0, findings: [], counts: { same: 3 } });
});

it('a job that belongs to a posting under another name of the site is not foreign', { tags: 'slow' }, async () => {
  await openMirrored(postings(2));
  const id = await make({ number: 'p1' });
  await mirror.query(
    `insert into site_state (site, address) select 'other', address from site_state where site = 'board'`,
  );
  await mirror.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
     values ('there', 'p1', 'other', $1, decode(md5('c'), 'hex'), decode(md5('d'), 'hex'))`,
    [id],
  );
  await mirror.stopEngine();
  expect(await found()).toMatchObject({ status: 0, findings: [] });
});

it('a job that is gone is left so where the site’s settings say so', { tags: 'slow' }, async () => {
  await openMirrored(postings(3), { site: { on_missing: 'leave' } });
  await remove('p1');
  expect(await found('--repair')).toMatchObject({ status: 0, counts: { gone: 1, marked: 1 } });
  expect(await mirror.sync()).toMatchObject({ created: 0, rejected: 1 });
  expect(await mirror.sandbox.inspect.count()).toBe(2);
});

it('the value that a reviewer edited is what the site should show', { tags: 'slow' }, async () => {
  await openMirrored([posting('p1'), posting('p2', { state: 'Atlantis' })].slice(0, 1));
  expect(await mirror.syncOf([posting('p1'), posting('p2', { state: 'Atlantis' })])).toMatchObject({ rejected: 1 });
  const [entry] = await mirror.query<{ id: number }>('select id from change');
  await mirror.stopEngine();
  expect(await runProgram(mirror, 'review', 'edit', String(entry?.id), '--set', 'location-state=Ohio')).toMatchObject({
    errors: '',
  });
  expect(await found()).toMatchObject({ status: 0, counts: { jobs: 2, same: 2 } });
  await change(await jobOf('p2'), { 'location-state': 'Texas' });
  expect((await found('--repair')).findings).toEqual([
    expect.objectContaining({ key: 'p2', fields: { 'location-state': { from: 'Ohio', to: 'Texas' } } }),
  ]);
  expect(await mirror.sync()).toMatchObject({ updated: 1 });
  expect((await mirror.siteJobs()).get('p2')).toMatchObject({ 'location-state': 'Ohio' });
});

it('a delete that waits for approval stays as it is', { tags: 'slow' }, async () => {
  await openMirrored(postings(3), { feed: { delete_guard: '{ percent: 1, count: 0 }' } });
  expect(await mirror.syncOf(postings(1))).toMatchObject({ held: 2 });
  await mirror.stopEngine();
  await change(await jobOf('p2'), { title: 'By hand' });
  await remove('p3');
  const { status, findings, counts } = await found('--repair');
  expect(status).toBe(2);
  expect(findings.map(({ key, finding, state }) => [key, finding, state])).toEqual([
    ['p2', 'changed', 'held'],
    ['p3', 'gone', 'held'],
  ]);
  expect(counts).toMatchObject({ marked: 0, not_marked: 2 });
  mirror.sandbox.requests.clear();
  expect(await mirror.sync()).toMatchObject({ held: 2 });
  expect(writes()).toEqual([]);
});

it('a job that is gone is not made again while another job shows the reference of its posting', {
  tags: 'slow',
}, async () => {
  await openMirrored(postings(3));
  const other = await make({ number: 'p2', title: 'Nurse p2' });
  await remove('p1');
  await remove('p2');
  const { status, findings, counts } = await found('--repair');
  expect(status).toBe(2);
  expect(findings.map(({ key, finding, job_id }) => [key, finding, job_id === other])).toEqual([
    ['p1', 'gone', false],
    ['p2', 'gone', false],
    ['p2', 'foreign', true],
  ]);
  expect(counts).toMatchObject({ gone: 2, foreign: 1, marked: 1 });
  await mirror.sync();
  await mirror.sync();
  const jobs = await mirror.sandbox.inspect.jobs();
  expect(jobs.map(({ fields }) => fields.number).sort()).toEqual(['p1', 'p2', 'p3']);
});

describe('a command that cannot do its work', () => {
  it('a site without a list: each job is asked for', { tags: 'slow' }, async () => {
    await openMirrored(postings(3), { site: { list_path: undefined } });
    await remove('p1');
    expect(await found()).toMatchObject({ status: 2, counts: { gone: 1, same: 2 } });
  });

  it('a paused site', async () => {
    await openMirrored(postings(1));
    await query(`insert into site_state (site, paused_since, pause_cause) values ('board', now(), '"it refuses all"')
      on conflict (site) do update set paused_since = now(), pause_cause = '"it refuses all"'`);
    mirror.sandbox.requests.clear();
    const { status, counts } = await found();
    expect(status).toBe(1);
    expect(counts.message).toContain('site board is paused (it refuses all)');
    expect(requests()).toEqual([]);
  });

  it('a site that stops showing jobs', { tags: 'slow' }, async () => {
    const behind = await openBehindProxy(postings(8), { site: { retry: '{ attempts: 1 }' } });
    behind.edit = (path, _method, answer) =>
      path.startsWith('/jobs/') ? { status: 403, body: '<error>no</error>' } : answer;
    const { status, findings, counts } = await found('--each');
    expect({ status, findings }).toEqual({ status: 1, findings: [] });
    expect(counts).toMatchObject({ unasked: 5, same: 0 });
    expect(counts.message).toContain('site board does not answer');
    expect(behind.asked).toHaveLength(5);
  });

  it('a pull of the feed: --repair waits for its end', { tags: 'slow' }, async () => {
    await openMirrored(postings(2));
    await change(await jobOf('p1'), { title: 'By hand' });
    const release = await holdPullLock((await mirror.app()).db, feedName('acme'));
    const running = startProgram(['verify', '--repair', '--json', '--config', mirror.configPath], {
      cwd: mirror.folder,
      env: mirror.env,
    });
    await expect
      .poll(running.errors, { timeout: 60_000 })
      .toContain('acme is being pulled: waiting until that has ended');
    expect(await mirror.query('select from uncertain_write')).toEqual([]);
    await release();
    expect(await running.ended).toMatchObject({ status: 0 });
    expect(await mirror.query('select key from uncertain_write')).toEqual([{ key: 'p1' }]);
  });
});

describe('a posting that is being sent', () => {
  it('in flight, or with an uncertain write: it waits', { tags: 'slow' }, async () => {
    await openMirrored(postings(3));
    for (const key of ['p1', 'p2']) await change(await jobOf(key), { title: 'By hand' });
    await mirror.query(
      `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, state, attempt_token,
         attempt_operation, attempt_started)
       select 'acme', 'p1', 'board', 'present', 'update', fields, '', '', 'sending', gen_random_uuid(), 'update', now()
       from document where key = 'p1'`,
    );
    await mirror.query(
      `insert into uncertain_write (feed, key, revision, fields, until) values ('acme', 'p2', 1, '{title}', now())`,
    );
    await mirror.stopEngine();
    expect(await found('--repair')).toMatchObject({
      status: 0,
      findings: [],
      counts: { waiting: 2, same: 1, marked: 0 },
    });
  });

  it('sent while the site is asked: it waits', { tags: 'slow' }, async () => {
    const behind = await openBehindProxy(postings(2));
    await change(await jobOf('p1'), { title: 'By hand' });
    const { db } = await mirror.app();
    behind.edit = async (path, _method, answer) => {
      if (path.startsWith('/jobs/'))
        await db.query(
          `insert into request (feed, key, operation, outcome, duration_ms) values ('acme', 'p1', 'update', 'accepted', 1)`,
        );
      return answer;
    };
    expect(await found('--repair')).toMatchObject({ status: 0, findings: [], counts: { waiting: 1 } });
  });

  it('a job of a create in doubt is not foreign, nor one that a person refused', { tags: 'slow' }, async () => {
    await openMirrored(postings(2));
    const doubtful = await make({ number: 'p9' });
    const refused = await make({ number: 'p1' });
    await mirror.query(
      `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, state, attempt_token,
         attempt_operation, attempt_started)
       values ('acme', 'p9', 'board', 'present', 'create', '{"number":"p9"}', '', '', 'in_doubt', gen_random_uuid(), 'create', now())`,
    );
    await mirror.query(`insert into refuted_job (site, site_job_id, feed, key) values ('board', $1, 'acme', 'p1')`, [
      refused,
    ]);
    await mirror.stopEngine();
    expect(await found()).toMatchObject({ status: 0, findings: [] });
    const { db: again } = await mirror.app();
    await again.query(`delete from change; delete from refuted_job`);
    await again.query(
      `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, state)
       values ('acme', 'p9', 'board', 'present', 'create', '{"number":"p9"}', '', '', 'rejected')`,
    );
    await mirror.stopEngine();
    const { findings } = await found();
    expect(findings.map(({ key, job_id }) => [key, job_id])).toEqual([
      ['p1', refused],
      ['p9', doubtful],
    ]);
    expect(findings[1]?.message).toContain('which has no job of its own');
  });
});

it('a deleted job that a restored site shows again is reported until its posting is back', {
  tags: 'slow',
}, async () => {
  await openMirrored(postings(3));
  const id = await jobOf('p2');
  await mirror.query('create table kept as select * from sandbox.job where id = $1', [id]);
  await mirror.syncOf([posting('p1'), posting('p3')]);
  await mirror.query('insert into sandbox.job overriding system value select * from kept');
  await mirror.stopEngine();
  const message = 'it was deleted for this posting, and is on the site again: delete it there if it is not to stay';
  expect(await found('--repair')).toMatchObject({
    status: 2,
    findings: [{ key: 'p2', job_id: id, finding: 'foreign', message }],
  });
  const requests = writes().length;
  await mirror.sync();
  expect(writes()).toHaveLength(requests);
  await mirror.syncOf(postings(3));
  await mirror.stopEngine();
  expect((await found()).findings.map((finding) => finding.message)).not.toContain(message);
});

it('deleted jobs that the site goes on listing as such are not asked for', async () => {
  const behind = await openBehindProxy(postings(3), { sandbox: { paging: 'link' } });
  const id = await jobOf('p2');
  await mirror.syncOf([posting('p1'), posting('p3')]);
  await mirror.stopEngine();
  behind.asked.splice(0);
  const deleted = `<job><id>${id}</id><number>p2</number><deleted-at>2026-01-01T00:00:00Z</deleted-at></job>`;
  behind.edit = (path, _method, answer) =>
    /^\/jobs\.xml(\?_=[-\w]+)?$/.test(path)
      ? { ...answer, body: answer.body.replace('</jobs>', `${deleted}</jobs>`) }
      : answer;
  expect(await found()).toMatchObject({ status: 0, findings: [], counts: { same: 2 } });
  expect(behind.asked.filter((asked) => asked.includes(`/jobs/${id}`))).toEqual([]);
});

it('an update that is ready is sent with the fields that were marked', { tags: 'slow' }, async () => {
  await openMirrored(postings(2));
  await mirror.writeFeed(feedXml([posting('p1', { description: 'new' }), posting('p2')]));
  await change(await jobOf('p1'), { title: 'By hand' });
  // An update that could not be sent yet.
  await mirror.query(
    `insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, state, not_before)
     select 'acme', 'p1', 'board', 'present', 'update',
       (fields::jsonb || '{"description":"new"}')::json, decode(md5('a'), 'hex'), decode(md5('b'), 'hex'), 'ready', 'infinity' from document where key = 'p1'`,
  );
  const [before] = await mirror.query<{ revision: number }>('select revision from change');
  await mirror.stopEngine();
  expect(await found('--repair')).toMatchObject({ status: 0, counts: { marked: 1 } });
  const { db: again } = await mirror.app();
  const [after] = await again.query<{ revision: number }>('select revision from change');
  // Whoever has read the old mapping holds the old revision.
  expect(Number(after?.revision)).toBeGreaterThan(Number(before?.revision));
  await mirror.stopEngine();
  expect(await mirror.sync()).toMatchObject({ updated: 1 });
  expect((await mirror.siteJobs()).get('p1')).toMatchObject({ title: 'Nurse p1', description: 'new' });
});

it('an imported mapping whose content is not known: its job exists, and no more can be said', {
  tags: 'slow',
}, async () => {
  await openMirrored(postings(2));
  await query(`delete from document where key = 'p1'`);
  expect(await found()).toMatchObject({ status: 0, findings: [], counts: { same: 1, unknown: 1 } });
});

it('several feeds of one site are verified with one reading of the list, and a renamed feed under its new name', {
  tags: 'slow',
}, async () => {
  await openMirrored(postings(2));
  const text = await readFile(mirror.configPath, 'utf8');
  await writeFile(`${mirror.folder}/other.xml`, feedXml([posting('q1'), posting('q2')]));
  await writeFile(mirror.configPath, `${text}  other:\n    site: board\n    source: other.xml\n    format: indeed\n`);
  expect(await mirror.sync('other')).toMatchObject({ created: 2 });
  await mirror.stopEngine();
  await change(await jobOf('q2'), { title: 'By hand' });
  mirror.sandbox.requests.clear();
  const end = await verify('--json');
  expect(end.json().filter(({ finding }) => finding === undefined)).toEqual([
    expect.objectContaining({ feed: 'acme', same: 2 }),
    expect.objectContaining({ feed: 'other', same: 1, changed: 1 }),
  ]);
  expect(requestsOf('list')).toHaveLength(1);
  expect((await found('acme')).counts).toMatchObject({ feed: 'acme', same: 2 });

  await mirror.configure('  other:', '  renamed:');
  expect((await runProgram(mirror, 'feeds', 'rename', 'other', 'renamed')).errors).toBe('');
  expect((await found('renamed')).counts).toMatchObject({ feed: 'renamed', changed: 1 });
});

it('the token of the site appears in no finding', async () => {
  await openMirrored(postings(1));
  const token = mirror.env.BOARD_TOKEN ?? '';
  await change(await jobOf('p1'), { description: `secret ${token} here` });
  const end = await verify('--json', '--repair');
  expect(end.out).toContain('"changed"');
  expect(end.out + end.errors).not.toContain(token);
});
