// Sites that answer a create with the job ID of another posting: the new posting's job is never changed or deleted for the older.
// @module-tag slow
import { describe, expect } from 'vitest';
import { type ProgramResult, runProgram } from '../cli/run-program.ts';
import { type Got, openSite, type Reply } from '../site/scripted-site.ts';
import { type Ends, endsTest as it } from '../support/ends-test.ts';
import { changeJob } from '../support/hand-made-jobs.ts';
import { feedXml, posting, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';

/** Opens a site that answers so, without a list, and a mirror into it. */
async function openAt(ends: Ends, answer: Parameters<typeof openSite>[0], options: MirrorOptions = {}) {
  const site = await openSite(answer);
  ends.push(() => site[Symbol.asyncDispose]());
  const mirror = await openMirror({
    ...options,
    site: { base_url: site.url.href, list_path: undefined, ...options.site },
  });
  ends.push(mirror.close);
  return { mirror, site };
}

async function openSandbox(ends: Ends): Promise<Mirror> {
  const mirror = await openMirror();
  ends.push(mirror.close);
  return mirror;
}

const GUARD = { delete_guard: '{ percent: 100, count: 100 }' };

const jobXml = (id: string, fields: string): string => `<job><id>${id}</id>${fields}</job>`;
const fieldsOf = (body: string): string => /<job>([\s\S]*)<\/job>/.exec(body)?.[1] ?? '';
const numberOf = (body: string): string => /<number>([^<]*)</.exec(body)?.[1] ?? '';

/** A site that stores jobs under the ID that `idOf` gives a posting; `bodies`: whether its responses show the job. */
async function openReusing(ends: Ends, idOf: (number: string) => string, bodies: boolean) {
  const jobs = new Map<string, string>();
  let shown: (id: string) => Reply | undefined = () => undefined;
  const showWith = (reply: typeof shown): void => {
    shown = reply;
  };
  const answer = (got: Got): Reply => {
    const [, id = ''] = /\/jobs\/([^.]+)\.xml/.exec(got.url) ?? [];
    const odd = got.method === 'GET' ? shown(id) : undefined;
    if (odd !== undefined) return odd;
    if (got.method === 'POST') {
      const made = idOf(numberOf(got.body));
      jobs.set(made, fieldsOf(got.body));
      if (numberOf(got.body).startsWith('lost')) return [500];
      return [201, { location: `/jobs/${made}` }, bodies ? jobXml(made, fieldsOf(got.body)) : ''];
    }
    const job = jobs.get(id);
    if (job === undefined) return [404, {}, ''];
    if (got.method === 'DELETE') jobs.delete(id);
    return [200, {}, got.method === 'GET' ? jobXml(id, job) : ''];
  };
  const opened = await openAt(ends, answer, { site: { canary: '{ requests: 0 }' }, feed: GUARD });
  return { jobs, ...opened, showWith };
}

const mapped = async (mirror: Mirror) => mirror.query('select key, site_job_id as id from mapping order by key');

describe.each([
  ['shows the new job in its response', true],
  ['shows it only on request', false],
])('a site that reuses the ID of an expired job and %s', { concurrent: true }, (_name, bodies) => {
  it('the newer posting is not deleted in place of the older, and the sums hold', async ({ ends }) => {
    const {
      jobs,
      mirror,
      site: reusing,
    } = await openReusing(ends, (key) => (key === 'new' ? 'id-old' : `id-${key}`), bodies);
    await mirror.syncOf([posting('old'), posting('stays')]);
    jobs.delete('id-old');
    await mirror.writeFeed(feedXml([posting('old'), posting('stays'), posting('new')]));
    expect(await mirror.sync()).toMatchObject({ seen: 3, created: 1, unchanged: 2, in_doubt: 0 });
    expect(await mapped(mirror)).toEqual([
      { key: 'new', id: 'id-old' },
      { key: 'stays', id: 'id-stays' },
    ]);
    const acts = await mirror.query('select key, action from audit order by id');
    expect(acts).toEqual([
      { key: 'old', action: expect.stringContaining('end the claim to job id-old') },
      { key: 'new', action: expect.stringContaining('take job id-old') },
    ]);
    await mirror.writeFeed(feedXml([posting('stays'), posting('new')]));
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', seen: 2, unchanged: 2, gone: 0 });
    expect(reusing.got.filter(({ method }) => method === 'DELETE')).toEqual([]);
    expect(jobs.get('id-old')).toContain('<number>new</number>');
  });
});

it.concurrent('a job that only a lost response would have named is not deleted or changed for the posting that had its ID', async ({
  ends,
}) => {
  const { jobs, mirror, site: reusing } = await openReusing(ends, (key) => key.replace(/^(lost )?/, 'id-'), true);
  const before = [posting('gone'), posting('changed')];
  const lost = [posting('lost gone'), posting('lost changed')];
  await mirror.syncOf(before);
  jobs.clear();
  expect(await mirror.syncOf([...before, ...lost])).toMatchObject({ in_doubt: 2 });
  await mirror.syncOf([posting('changed', { title: 'Changed' }), ...lost]);
  expect(reusing.got.filter(({ method }) => method === 'DELETE' || method === 'PUT')).toEqual([]);
  for (const key of ['gone', 'changed']) expect(jobs.get(`id-${key}`)).toContain(`<number>lost ${key}</number>`);
});

describe('while a create is in doubt, at a site that does not show the job', { concurrent: true }, () => {
  /**
   * Mirrors `stays` and these postings; then they expire, and for each of them a create of `lost KEY`, which is not answered,
   * gets the ID that `lostId` gives that key.
   */
  async function openInDoubt(ends: Ends, keys: readonly string[], lostId: (key: string) => string) {
    const opened = await openReusing(
      ends,
      (key) => (key.startsWith('lost ') ? lostId(key.slice('lost '.length)) : `id-${key}`),
      true,
    );
    const lost = keys.map((key) => posting(`lost ${key}`));
    const before = [...keys.map((key) => posting(key)), posting('stays')];
    await opened.mirror.syncOf(before);
    for (const key of keys) if (lostId(key) === `id-${key}`) opened.jobs.delete(`id-${key}`);
    expect(await opened.mirror.syncOf([...before, ...lost])).toMatchObject({ in_doubt: keys.length });
    await opened.mirror.writeFeed(feedXml([posting('stays', { title: 'Changed' }), ...lost]));
    return opened;
  }

  const REPLIES: Record<string, [Reply, string]> = {
    error: [[500], 'it answered 500'],
    'says-nothing': [[405], 'it answered 405'],
    page: [[200, { 'content-type': 'text/html' }, '<html></html>'], 'is not the XML of a job'],
    unreferenced: [[200, {}, jobXml('id-unreferenced', '<title>Another</title>')], 'with another title'],
  };
  it.for([
    ['an error, a page, or another job', REPLIES],
    ['"not found" for every job', { every: [[404], 'the site shows neither this job nor others of ours'] }],
  ] as [string, typeof REPLIES][])('a job is not deleted when it answers with %s', async ([, replies], { ends }) => {
    const keys = Object.keys(replies);
    const { jobs, mirror, site: reusing, showWith } = await openInDoubt(ends, keys, (key) => `id-${key}`);
    showWith((id) => (replies.every ?? replies[id.slice('id-'.length)])?.[0]);
    const count = keys.length;
    expect(await mirror.sync()).toMatchObject({
      updated: 1,
      in_doubt: count,
      deleted: 0,
      gone: count,
      failed_deletes: count,
    });
    expect(reusing.got.filter(({ method }) => method === 'DELETE')).toEqual([]);
    for (const key of keys) expect(jobs.get(`id-${key}`)).toContain(`<number>lost ${key}</number>`);
    const failed = await mirror.query<{ key: string; kind: string; message: string }>(
      `select key, reason->>'kind' as kind, reason->>'message' as message from change where state = 'failed'`,
    );
    expect(failed.map(({ key }) => key).sort()).toEqual(keys.sort());
    for (const { key, kind, message } of failed) {
      expect({ kind, message }).toEqual({
        kind: 'unconfirmed',
        message: expect.stringMatching(/^not sent: /),
      });
      expect(message).toContain(`id-${key}`);
      expect(message).toContain(replies[key]?.[1]);
    }
    expect(await mirror.query('select from uncertain_write')).toEqual([]);
  });

  it('a job is deleted once it is shown, if it is still the job of the posting', async ({ ends, expect }) => {
    const { jobs, mirror, site: reusing, showWith } = await openInDoubt(ends, ['old'], () => 'id-lost');
    showWith(() => [429, { 'retry-after': '1' }, '']);
    const syncing = mirror.sync();
    await expect.poll(() => reusing.got.filter(({ method }) => method === 'GET').length).toBeGreaterThan(0);
    expect(reusing.got.filter(({ method }) => method === 'DELETE')).toEqual([]);
    showWith(() => undefined);
    expect(await syncing).toMatchObject({ deleted: 1, in_doubt: 1 });
    expect([...jobs.keys()].sort()).toEqual(['id-lost', 'id-stays']);
  });
});

function openGate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('the site gives a create the ID of an expired job, and a request for the older posting arrives before its answer', {
  concurrent: true,
}, () => {
  /**
   * Mirrors `old` and `stays`. Then the job of `old` expires, and its ID goes to the create of `new`, which is answered after the next
   * request to that job.
   */
  async function openRacing(ends: Ends) {
    const jobs = new Map<string, string>();
    const made = openGate();
    const reached = openGate();
    let lastId = 0;
    let free: string | undefined;
    const answering: Parameters<typeof openSite>[0] = (got, response) => {
      const [, id = ''] = /\/jobs\/([^.]+)\.xml/.exec(got.url) ?? [];
      if (got.method === 'POST') {
        const fields = fieldsOf(got.body);
        const isReusing = free !== undefined && numberOf(got.body) === 'new';
        const own = isReusing ? `${free}` : `${++lastId}`;
        if (isReusing) free = undefined;
        jobs.set(own, fields);
        const answer = () => response.writeHead(201, { location: `/jobs/${own}` }).end(jobXml(own, fields));
        if (isReusing) made.open();
        if (isReusing) void reached.opened.then(() => setTimeout(answer, 300));
        else answer();
        return undefined;
      }
      const before = jobs.get(id);
      if (got.method === 'GET') return before === undefined ? [404] : [200, {}, jobXml(id, before)];
      const change = () => {
        const now = jobs.get(id);
        const [title = ''] = /<title>[^<]*</.exec(got.body) ?? [];
        if (got.method === 'DELETE') jobs.delete(id);
        else if (now !== undefined) jobs.set(id, now.replace(/<title>[^<]*</, title));
        response.writeHead(now === undefined ? 404 : 200).end();
        reached.open();
      };
      if (before === undefined) void made.opened.then(change);
      else change();
      return undefined;
    };
    const { mirror } = await openAt(ends, answering, { feed: GUARD });
    await mirror.syncOf([posting('old'), posting('stays')]);
    free = [...jobs.keys()].find((id) => jobs.get(id)?.includes('<number>old<')) ?? '';
    jobs.delete(free);
    return { jobs, mirror };
  }
  const jobsOfNew = (jobs: ReadonlyMap<string, string>) =>
    [...jobs.values()].filter((job) => job.includes('<number>new<'));

  it('a delete: the new posting gets another job', async ({ ends }) => {
    const { jobs, mirror } = await openRacing(ends);
    expect(await mirror.syncOf([posting('stays'), posting('new')])).toMatchObject({ seen: 2, deleted: 1 });
    expect(jobsOfNew(jobs)).toHaveLength(1);
  });

  it('an update: the new posting gets its own content again', async ({ ends }) => {
    const { jobs, mirror } = await openRacing(ends);
    await mirror.writeFeed(
      feedXml([posting('old', { title: 'Changed' }), posting('stays'), posting('new', { title: 'New' })]),
    );
    await mirror.sync();
    await mirror.sync();
    expect(jobsOfNew(jobs)).toEqual([expect.stringContaining('<title>New<')]);
  });
});

it.concurrent('a job that a site uses for two postings does not alternate between them', async ({ ends }) => {
  const { mirror, site: merging } = await openReusing(ends, () => '17', true);
  await mirror.syncOf([posting('a')]);
  await mirror.syncOf([posting('a'), posting('b')]);
  expect(await mapped(mirror)).toEqual([{ key: 'b', id: '17' }]);
  expect(await mirror.sync()).toMatchObject({ status: 'review', failed: 1, unchanged: 1 });
  const [said] = await mirror.query<{ message: string }>(`select reason->>'message' as message from change`);
  expect(said?.message).toMatch(
    /both postings as one job, which has the content of posting a now: leave one of them out/,
  );
  const sent = merging.got.length;
  expect(await mirror.sync()).toMatchObject({ status: 'review', failed: 1, unchanged: 1, requests: 0 });
  expect(merging.got.length).toBe(sent);
});

it.concurrent('a posting whose ID two expired jobs have had is not created again when the older one leaves its job alone', async ({
  ends,
}) => {
  const { jobs, mirror, site: reusing } = await openReusing(ends, () => '17', true);
  await mirror.syncOf([posting('b')]);
  jobs.clear();
  await mirror.syncOf([posting('b'), posting('a')]);
  expect(await mapped(mirror)).toEqual([{ key: 'a', id: '17' }]);
  jobs.clear();
  expect(await mirror.sync()).toMatchObject({ created: 0, failed: 1 });
  const made = reusing.got.filter(({ method }) => method === 'POST').length;
  expect(jobs.get('17')).toContain('<number>b</number>');
  expect(await mirror.syncOf([posting('b')])).toMatchObject({ failed: 1 });
  expect(reusing.got.filter(({ method }) => method === 'POST')).toHaveLength(made);
  expect(jobs.get('17')).toContain('<number>b</number>');
});

it.concurrent("a delete that waits, as the job may be another posting's, ends once a person has removed the job, which the site still shows", async ({
  ends,
}) => {
  const { jobs, mirror, showWith } = await openReusing(ends, (key) => `${key.length}0`, false);
  let deletedAt = '';
  const showAs = (id: string) => `${jobs.get(id)?.replace(/<number>[^<]*/, '<number>0')}${deletedAt}`;
  showWith((id) => (jobs.has(id) ? [200, {}, jobXml(id, showAs(id))] : undefined));
  await mirror.syncOf([posting('going'), posting('stays on')]);
  const later = [posting('stays on'), posting('lost')];
  await mirror.syncOf([posting('going'), ...later]);
  expect(await mirror.syncOf(later)).toMatchObject({ deleted: 0, failed_deletes: 1 });
  expect(await mirror.query(`select reason->>'message' as message from change where state = 'failed'`)).toMatchObject([
    { message: expect.stringMatching(/job 50 may be another posting's .* delete it on the site and retry/) },
  ]);
  deletedAt = '<deleted_at>2026-01-01T00:00:00Z</deleted_at>';
  await mirror.stopEngine();
  await runProgram(mirror, 'review', 'retry', 'acme');
  expect(await mirror.sync()).toMatchObject({ failed_deletes: 0 });
  expect(await mirror.query('select key from mapping')).toEqual([{ key: 'stays on' }]);
});

describe('a job whose reference the site may have rewritten is kept in review while a create is in doubt, and afterwards', {
  concurrent: true,
}, () => {
  const LATER = [posting('stays'), posting('lost')];
  type Run = (...command: readonly string[]) => Promise<ProgramResult>;
  /** What happens meanwhile, the feed from then on, and the jobs that the site has in the end. */
  const MEANWHILE: [string, ((run: Run) => Promise<unknown>) | undefined, readonly TestPosting[], readonly string[]][] =
    [
      ['deleted', undefined, LATER, []],
      [
        'kept if the delete is discarded',
        (run) => run('review', 'discard', 'acme', '--kind', 'failed', '--yes'),
        LATER,
        ['id-gone'],
      ],
      ['kept if the posting came back', undefined, [...LATER, posting('gone')], ['id-gone']],
      [
        'kept if a person has undone the pull',
        (run) => run('undo', '3', '--yes'),
        [...LATER, posting('gone')],
        ['id-gone'],
      ],
      [
        'deleted if the posting came under another key',
        undefined,
        [...LATER, posting('new', { title: 'Nurse gone' })],
        ['id-new'],
      ],
      ['deleted if the site was paused', (run) => run('pause', 'board').then(() => run('resume', 'board')), LATER, []],
    ];
  it.for(MEANWHILE)('%s', async ([, act, feed, left], { ends }) => {
    const { jobs, mirror, site, showWith } = await openReusing(ends, (key) => `id-${key}`, false);
    showWith((id) => {
      const job = jobs.get(id);
      return job === undefined ? undefined : [200, {}, jobXml(id, job.replace(/<number>[^<]*/, '<number>0'))];
    });
    await mirror.syncOf([posting('gone'), posting('stays')]);
    await mirror.syncOf([posting('gone'), posting('stays'), posting('lost')]);
    expect(await mirror.syncOf(LATER)).toMatchObject({ deleted: 0, failed_deletes: 1 });
    const [failed] = await mirror.query<{ message: string }>(
      `select reason->>'message' as message from change where state = 'failed'`,
    );
    expect(failed?.message).toMatch(
      /^not sent: job id-gone may be another posting's .*number "0", but the posting has "gone"/,
    );
    const run: Run = async (...command) => {
      await mirror.stopEngine();
      return runProgram(mirror, ...command);
    };
    await act?.(run);
    await mirror.syncOf(feed);
    const entries = (await run('review', 'list', '--json')).json();
    const doubt = entries.find(({ kind }) => kind === 'in_doubt');
    await mirror.query(`update change set attempt_started = now() - interval '1 hour' where state = 'in_doubt'`);
    await run('review', 'settle', String(doubt?.id), '--exists', 'id-lost', '--anyway');
    await run('review', 'retry', 'acme');
    await mirror.sync();
    expect([...jobs.keys()].sort()).toEqual([...left, 'id-lost', 'id-stays'].sort());
    const deleted = site.got.filter(({ method }) => method === 'DELETE').map(({ url }) => url);
    expect(deleted).toEqual(left.includes('id-gone') ? [] : ['/jobs/id-gone.xml']);
  });
});

it.concurrent('an orphan site job whose ID a create was answered with is not deleted', async ({ ends }) => {
  const { mirror } = await openReusing(ends, (key) => `id-${key}`, true);
  await mirror.query(
    `insert into orphan_site_job (site, site_job_id, feed, key) values ('board', 'id-a', 'acme', 'gone')`,
  );
  await mirror.syncOf([posting('a')]);
  expect(await mirror.query('select site_job_id from orphan_site_job')).toEqual([]);
});

it.concurrent('an orphan site job that may have been deleted is left alone while a later create is in doubt', async ({
  ends,
}) => {
  const {
    jobs,
    mirror,
    site: reusing,
  } = await openReusing(ends, (key) => (key === 'lost' ? 'id-orphan' : `id-${key}`), true);
  await mirror.query(
    `insert into orphan_site_job (site, site_job_id, feed, key, attempts, not_before)
     values ('board', 'id-orphan', 'acme', 'gone', 1, now() + interval '1 day')`,
  );
  expect(await mirror.syncOf([posting('lost')])).toMatchObject({ in_doubt: 1 });
  await mirror.query('update orphan_site_job set not_before = now()');
  expect(await mirror.syncOf([posting('lost'), posting('more')])).toMatchObject({ created: 1, in_doubt: 1 });
  expect(reusing.got.filter(({ method }) => method === 'DELETE')).toEqual([]);
  expect(jobs.has('id-orphan')).toBe(true);
});

it.concurrent('an update whose response shows the reference of another posting ends in review, and the job is left alone', async ({
  ends,
}) => {
  const { mirror, site } = await openAt(ends, (got) => {
    const key = numberOf(got.body) || 'a';
    if (got.method === 'POST') return [201, { location: `/jobs/id-${key}` }, ''];
    return [200, {}, jobXml('id-a', '<title>Cook</title><number>of-another</number>')];
  });
  await mirror.syncOf([posting('a'), posting('b')]);
  await mirror.writeFeed(feedXml([posting('a', { title: 'Other' }), posting('b')]));
  expect(await mirror.sync()).toMatchObject({ status: 'review', seen: 2, in_doubt: 1, unchanged: 1 });
  expect(await mapped(mirror)).toEqual([{ key: 'b', id: 'id-b' }]);
  const sent = site.got.length;
  await mirror.syncOf([posting('b')]);
  expect(site.got.slice(sent)).toEqual([]);
});

it.concurrent('a job that is another posting’s by now is not changed when it is read for the fields that are left to the site', async ({
  ends,
}) => {
  const jobs = new Map<string, string>();
  const answer = (got: Got): Reply => {
    const [, id = ''] = /\/jobs\/([^.]+)\.xml/.exec(got.url) ?? [];
    const key = numberOf(got.body);
    if (got.method === 'POST') jobs.set(`id-${key}`, fieldsOf(got.body));
    if (got.method === 'POST') return [201, { location: `/jobs/id-${key}` }, ''];
    if (got.method === 'PUT') jobs.set(id, fieldsOf(got.body));
    return [200, {}, jobXml(id, jobs.get(id) ?? '')];
  };
  const options = { feed: { create_only_fields: '[description]' }, site: { omitted_fields: 'clear' } };
  const { mirror } = await openAt(ends, answer, options);
  await mirror.syncOf([posting('a'), posting('b')]);
  const others = '<title>Pilot</title><number>of-another</number><description>Flies</description>';
  jobs.set('id-a', others);
  await mirror.writeFeed(feedXml([posting('a', { title: 'Other' }), posting('b')]));
  expect(await mirror.sync()).toMatchObject({ status: 'review', updated: 0, in_doubt: 1, unchanged: 1 });
  expect(jobs.get('id-a')).toBe(others);
});

describe('a posting whose job shows the reference of another one', { concurrent: true }, () => {
  /** Mirrors `a` and `b`, gives the job of `a` another reference, and changes the record of `a`. */
  async function openForeign(ends: Ends) {
    const mirror = await openSandbox(ends);
    await mirror.syncOf([posting('a'), posting('b')]);
    const { db } = await mirror.app();
    const [own] = await db.query<{ id: string }>(`select site_job_id as id from mapping where key = 'a'`);
    await changeJob(mirror, own?.id ?? '', { number: 'of-another' });
    // Such as one made long before: it is not mistaken for the job of a create that was just sent.
    await db.query(`update sandbox.job set created_at = created_at - interval '1 hour'`);
    await mirror.writeFeed(feedXml([posting('a', { title: 'First' }), posting('b')]));
    expect(await mirror.sync()).toMatchObject({ status: 'review', created: 0, in_doubt: 1, unchanged: 1 });
    return { db, mirror };
  }

  it('waits for a person, also when its record changes again', async ({ ends }) => {
    const { mirror } = await openForeign(ends);
    await mirror.writeFeed(feedXml([posting('a', { title: 'Second' }), posting('b')]));
    expect(await mirror.sync()).toMatchObject({ status: 'review', created: 0, in_doubt: 1, unchanged: 1 });
    expect(await mirror.sandbox.inspect.count()).toBe(2);
  });

  it('waits for nobody once it is gone: nothing is left to delete', async ({ ends }) => {
    const { db, mirror } = await openForeign(ends);
    expect(await mirror.syncOf([posting('b')])).toMatchObject({ status: 'mirrored', gone: 0, in_doubt: 0, review: 0 });
    expect(await db.query('select from change')).toHaveLength(0);
    expect(await mirror.sandbox.inspect.count()).toBe(2);
  });
});

/** A site with a list that gives posting `new` the ID of posting `old`, and never answers that create. */
async function openListing(ends: Ends, stored: (text: string) => string) {
  const jobs = new Map<string, string>();
  const answering: Parameters<typeof openSite>[0] = (got, response) => {
    const [, id = ''] = /\/jobs\/([^.]+)\.xml/.exec(got.url) ?? [];
    const made = numberOf(got.body) === 'new' ? 'old' : numberOf(got.body);
    if (got.method === 'POST') {
      jobs.set(made, stored(fieldsOf(got.body)));
      if (numberOf(got.body) !== 'new') return [201, { location: `/jobs/${made}` }, ''];
      response.destroy();
      return undefined;
    }
    if (got.url.startsWith('/jobs.xml')) {
      const all = [...jobs].map(([listed, fields]) => jobXml(listed, fields)).join('');
      return [200, { 'content-type': 'application/xml' }, `<jobs>${all}</jobs>`];
    }
    const job = jobs.get(id);
    if (job === undefined) return [404, {}, ''];
    if (got.method === 'DELETE') jobs.delete(id);
    return [200, {}, got.method === 'GET' ? jobXml(id, job) : ''];
  };
  const { mirror, site } = await openAt(ends, answering, { site: { list_path: '/jobs.xml' }, feed: GUARD });
  await mirror.syncOf([posting('old'), posting('stays')]);
  jobs.delete('old');
  await mirror.writeFeed(feedXml([posting('old'), posting('stays'), posting('new', { title: 'Cook' })]));
  return { jobs, site, mirror };
}

it.concurrent.for<[string, (text: string) => string]>([
  ['as sent', (text: string) => text],
  [
    'in upper case',
    (text: string) =>
      text.replace(/(?<=>[^<]*)(?:&\w+;|[^<&]+)/g, (part) => (part.startsWith('&') ? part : part.toUpperCase())),
  ],
])(
  'a mapped job that the list shows %s as the job of a create in doubt no longer belongs to the older posting',
  async ([, stored], { ends }) => {
    const { jobs, site, mirror } = await openListing(ends, stored);
    await mirror.sync();
    const { db } = await mirror.app();
    expect(await mapped(mirror)).toContainEqual({ key: 'new', id: 'old' });
    expect(
      await db.query(`select from audit where key = 'old' and action like 'end the claim to job old%'`),
    ).toHaveLength(1);
    await mirror.syncOf([posting('stays'), posting('new', { title: 'Cook' })]);
    expect(site.got.filter(({ method }) => method === 'DELETE')).toEqual([]);
    expect(jobs.get('old')).toContain(stored('<number>new</number>'));
    expect([...jobs.values()].filter((job) => /<number>new</i.test(job))).toHaveLength(1);
  },
);

it.concurrent('a person decides about such a job if what the older posting had is not known', async ({ ends }) => {
  const { jobs, site, mirror } = await openListing(ends, (text) => text);
  await mirror.query(`delete from document where key = 'old'`);
  expect(await mirror.sync()).toMatchObject({ status: 'review', in_doubt: 1 });
  const changes = await mirror.query<{ note: string }>(
    `select key, state, reason->>'note' as note from change where state = 'in_doubt'`,
  );
  expect(changes).toEqual([{ key: 'new', state: 'in_doubt', note: expect.stringContaining('may have made: old;') }]);
  expect(site.got.filter(({ method, body }) => method === 'POST' && numberOf(body) === 'new')).toHaveLength(1);
  expect(jobs.size).toBe(2);
});

it.concurrent('a job that was left alone for a posting that is gone is still recognised as that of another one', async ({
  ends,
}) => {
  const mirror = await openSandbox(ends);
  await mirror.syncOf([posting('a'), posting('stays')]);
  const [own] = await mirror.query<{ id: string }>(`select site_job_id as id from mapping where key = 'a'`);
  // Since the backup that is restored now, the job of `a` has expired, and the site has given its ID to that of `b`.
  await changeJob(mirror, own?.id ?? '', { number: 'b' });
  await mirror.query('update feed_state set site_checked_at = null, restored_at = now()');
  const wrong = posting('b', { state: 'Jalisco' });
  await mirror.writeFeed(feedXml([posting('a'), posting('stays'), posting('searched'), wrong]));
  expect(await mirror.sync()).toMatchObject({ created: 1, rejected: 1, unchanged: 2 });
  await mirror.writeFeed(feedXml([posting('stays'), posting('searched'), wrong]));
  expect(await mirror.sync()).toMatchObject({ gone: 1, deleted: 1, rejected: 1 });
  expect((await mirror.siteJobs()).has('b')).toBe(true);
  await mirror.writeFeed(feedXml([posting('stays'), posting('searched'), posting('b')]));
  expect(await mirror.sync()).toMatchObject({ status: 'review', created: 0, in_doubt: 1 });
});
