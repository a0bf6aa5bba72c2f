// A person's decision on a create in doubt: accepted if it can be true, and never so that one job gets two postings.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type SiteJobId, siteJobId } from '../../src/posting/identifiers.ts';
import type { Fields } from '../../src/posting/posting.ts';
import type { CheckedSite, PersonsVerdict } from '../../src/review/health/check-verdict.ts';
import { resolveEntry } from '../../src/review/resolve-entry.ts';
import { tokenOfChange } from '../../src/review/seen.ts';
import type { SiteClient } from '../../src/site/exchange.ts';
import { createSiteClient } from '../../src/site/http/client.ts';
import { deadlineIn } from '../../src/site/http/trouble.ts';
import { outcomeRecorder } from '../../src/store/change/record-outcomes.ts';
import { firstOf } from '../support/extent.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { openStage } from './stage.ts';

let client: SiteClient;
const stage = openedForEach(() => openStage());
beforeEach(async () => {
  const [site] = stage.app.config.sites.values();
  if (site === undefined) throw new Error('no site');
  client = createSiteClient(site.options);
});
afterEach(() => client.close());

/** Sends the create of a posting whose change is in doubt, as the attempt may have done. */
async function makeJob(key: string, others: Fields = {}): Promise<SiteJobId> {
  const fields = { ...(await stage.change(key))?.fields, ...others };
  const { outcome } = await client.send({ kind: 'create', fields }, { notAfter: deadlineIn(5_000) });
  if (outcome.kind !== 'created') throw new Error(`the site answered ${outcome.kind}`);
  return outcome.siteJob.siteJobId;
}

/** Old enough: no request may still arrive. */
const OLD = { resolveAfterMs: 0 };

const resolve = async (key: string, verdict: PersonsVerdict, site?: Omit<CheckedSite, 'resolveAfterMs'>) =>
  resolveEntry(stage.app.db, await stage.entry(key), verdict, {
    actor: 'tester',
    site: { ...(site ?? { client, referenceField: 'number' }), ...OLD },
  });
const exists = (id: string, anyway = false): PersonsVerdict => ({ kind: 'exists', siteJobId: siteJobId(id), anyway });
const mappings = () => stage.app.db.query('select key, site_job_id from mapping order by key');

async function doubt(...keys: readonly string[]): Promise<void> {
  await stage.pull(keys.map((key) => posting(key)));
  for (const key of keys) await stage.fail(key, 'in_doubt');
}

it('the job exists: it is mapped with the sent fields, and nothing is left to send', async () => {
  await doubt('p1');
  const entry = await stage.entry('p1');
  const id = await makeJob('p1');
  expect(await resolve('p1', exists(id))).toEqual({ kind: 'recorded', feed: 'acme', key: 'p1', warning: undefined });
  expect(await mappings()).toEqual([{ key: 'p1', site_job_id: id }]);
  expect(await stage.change('p1')).toBeUndefined();
  expect(await stage.app.db.query('select actor, action, key, detail from audit')).toEqual([
    {
      actor: 'tester',
      action: 'settle',
      key: 'p1',
      detail: expect.objectContaining({ entry, kind: 'exists', siteJobId: id }),
    },
  ]);
});

it('the job exists, and the posting has changed since: the change is sent as an update', async () => {
  await doubt('p1');
  const id = await makeJob('p1');
  await stage.pull([posting('p1', { title: 'Newer' })]);
  await resolve('p1', exists(id));
  expect((await stage.claim('p1')).request).toEqual({ kind: 'update', siteJobId: id, fields: { title: 'Newer' } });
});

it('the job exists, and has a field that the posting lost while nobody knew its job: it is cleared', async () => {
  await doubt('p1');
  await stage.app.db.query(
    `insert into request (feed, key, operation, fields, outcome, duration_ms) values ('acme', 'p1', 'update', '{title,salary}', 'accepted', 1)`,
  );
  const id = await makeJob('p1', { salary: '20', company: 'Of the site' });
  await resolve('p1', exists(id));
  expect((await stage.claim('p1')).request).toEqual({ kind: 'update', siteJobId: id, fields: { salary: '' } });
});

it('the job is missing: it is sent again, with all attempts', async () => {
  await doubt('p1');
  expect(await resolve('p1', { kind: 'missing' })).toMatchObject({ kind: 'recorded' });
  const attempt = await stage.claim('p1');
  expect(attempt).toMatchObject({ number: 1, request: { kind: 'create' } });
});

const SHOWN: readonly (readonly [string, (value: string) => string])[] = [
  ['in upper case', (value) => value.toUpperCase()],
  ['as sent', (value) => value],
];

it.each(firstOf(SHOWN, 1))(
  'the job, shown %s, has an ID that the site reused: the older posting no longer has a job',
  async (_name, stored) => {
    await stage.pull(postings(1));
    await stage.acceptAll();
    await stage.pull([...postings(1), posting('p2')]);
    await stage.fail('p2', 'in_doubt');
    const sent = (await stage.change('p2'))?.fields ?? {};
    const fields = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, stored(value)]));
    const site = {
      client: { show: async () => ({ siteJobId: siteJobId('job-p1'), fields }) },
      referenceField: 'number',
    };
    expect(await resolve('p2', exists('job-p1'), site)).toMatchObject({ kind: 'recorded' });
    expect(await mappings()).toEqual([{ key: 'p2', site_job_id: 'job-p1' }]);
    expect(await stage.app.db.query('select key, site_job_id from ended_claim')).toEqual([
      { key: 'p1', site_job_id: 'job-p1' },
    ]);
  },
);

it('the job has an ID that the site reused, and what the older posting had is not known', {
  tags: 'slow',
}, async () => {
  await stage.pull(postings(1));
  await stage.acceptAll();
  await stage.pull([...postings(1), posting('p2')]);
  await stage.fail('p2', 'in_doubt');
  await stage.app.db.query('delete from document');
  const fields = (await stage.change('p2'))?.fields ?? {};
  const site = { client: { show: async () => ({ siteJobId: siteJobId('job-p1'), fields }) }, referenceField: 'number' };
  const verdict = { kind: 'exists', siteJobId: siteJobId('job-p1'), anyway: false } as const;
  expect(await resolve('p2', { ...verdict, exactly: 'reference' }, site)).toMatchObject({ kind: 'refused' });
  expect(await resolve('p2', verdict, site)).toMatchObject({ kind: 'recorded' });
  expect(await mappings()).toEqual([{ key: 'p2', site_job_id: 'job-p1' }]);
});

describe('refused', () => {
  it('a job that the site does not have', async () => {
    await doubt('p1');
    const refused = { kind: 'refused', message: 'site board has no job 4711', absent: true };
    expect(await resolve('p1', exists('4711'))).toEqual(refused);
  });

  it('a job that shows the reference of another posting, or looks like another one unless the person insists', async () => {
    await doubt('p1', 'p2');
    const id = await makeJob('p2');
    const refused = { kind: 'refused', message: `job ${id} shows the reference of posting p2 of feed acme` };
    expect(await resolve('p1', exists(id))).toEqual(refused);
    expect(await resolve('p1', exists(id, true))).toEqual(refused);
    const show = async () => ({
      ...(await client.show(id)),
      siteJobId: id,
      fields: { title: 'Nurse p2', number: 'elsewhere' },
    });
    const site = { client: { show }, referenceField: 'number' };
    expect(await resolve('p1', exists(id), site)).toEqual({
      kind: 'refused',
      message: expect.stringMatching(/"Nurse p2", seems to be another job/),
      mayInsist: true,
    });
    expect(await mappings()).toEqual([]);
    expect(await resolve('p1', exists(id, true), site)).toMatchObject({ kind: 'recorded' });
  });

  it('a job that belongs to another posting, whatever the person says and the job shows', async () => {
    await stage.pull(postings(1));
    await stage.acceptAll();
    await stage.pull([...postings(1), posting('p2')]);
    await stage.fail('p2', 'in_doubt');
    const belongs = 'that job belongs to posting p1 of feed acme: a site job can have only one posting';
    const unreachable = { show: async () => Promise.reject(new Error('time-out')) };
    expect(await resolve('p2', exists('job-p1', true), { client: unreachable, referenceField: 'number' })).toEqual({
      kind: 'refused',
      message: belongs,
    });
    // What was sent, but neither posting's reference.
    const fields = { ...(await stage.change('p2'))?.fields, number: '' };
    const shown = { show: async () => ({ siteJobId: siteJobId('job-p1'), fields }) };
    expect(await resolve('p2', exists('job-p1', true), { client: shown, referenceField: 'number' })).toMatchObject({
      kind: 'refused',
    });
    expect((await stage.change('p2'))?.state).toBe('in_doubt');
    expect(await mappings()).toEqual([{ key: 'p1', site_job_id: 'job-p1' }]);
  });

  it('an entry that is not in doubt, and an unknown one', async () => {
    await stage.pull(postings(1));
    await stage.fail('p1', 'failed');
    expect(await resolve('p1', { kind: 'missing' })).toEqual({
      kind: 'refused',
      message: 'it is not in doubt, but failed',
    });
    expect(await resolveEntry(stage.app.db, 99, { kind: 'missing' }, { actor: 'tester', site: undefined })).toEqual({
      kind: 'refused',
      message: 'there is no open review entry 99',
    });
  });
});

it('a doubt resolved while the person checks the job makes no orphan site job', async () => {
  await doubt('p1');
  const id = await makeJob('p1');
  const before = await stage.change('p1');
  const show = async () => {
    // Meanwhile another person says that the job is missing.
    await resolve('p1', { kind: 'missing' });
    return client.show(id);
  };
  expect(await resolve('p1', exists(id), { client: { show }, referenceField: 'number' })).toEqual({
    kind: 'refused',
    message: 'it is no longer in doubt',
  });
  expect(before?.state).toBe('in_doubt');
  expect(await stage.app.db.query('select * from orphan_site_job')).toEqual([]);
});

it('a doubt that changes while the person checks the job is not decided', async () => {
  await doubt('p1');
  const id = await makeJob('p1');
  const change = await stage.change('p1');
  const show = async () => {
    await stage.pull([posting('p1', { title: 'Newer' })]);
    return client.show(id);
  };
  const site = { client: { show }, referenceField: 'number', ...OLD };
  const options = { actor: 'tester', site, seen: change && { tokens: [tokenOfChange(change)] } };
  const end = await resolveEntry(stage.app.db, await stage.entry('p1'), exists(id), options);
  expect(end).toMatchObject({ kind: 'refused', stale: true });
  expect(await mappings()).toEqual([]);
});

it('an unreachable site is a warning, not an obstacle', { tags: 'slow' }, async () => {
  await doubt('p1');
  const show = async () => {
    throw new Error('time-out');
  };
  expect(await resolve('p1', exists('77'), { client: { show }, referenceField: undefined })).toMatchObject({
    kind: 'recorded',
    warning: 'job 77 could not be checked: time-out; so an update sets all its fields again',
  });
});

it('a late answer to a resolved doubt does not resolve it twice', { tags: 'slow' }, async () => {
  await stage.pull([posting('p1')]);
  const attempt = await stage.claim('p1');
  const recordAttempt = outcomeRecorder(stage.app.db.prepared);
  const reason = { kind: 'unknown', message: 'time-out', problems: [] };
  await recordAttempt({ attempt, result: { kind: 'returned', back: { to: 'in_doubt', reason } }, record: undefined });
  await resolve('p1', { kind: 'missing' });
  const late = await recordAttempt({
    attempt,
    result: { kind: 'created', siteJobId: siteJobId('late'), url: undefined },
    record: undefined,
  });
  expect(late).toBe('superseded');
  expect(await stage.app.db.query('select site_job_id from orphan_site_job')).toEqual([{ site_job_id: 'late' }]);
});

it('a job that is found after the doubt about an older version ended is compared with the version to be sent', async () => {
  await doubt('p1');
  await stage.pull([posting('p1', { title: 'Newer' })]);
  await resolve('p1', { kind: 'missing' });
  const id = await makeJob('p1');
  await stage.app.db.query(
    `insert into site_reference (site, site_job_id, reference, shown, field) values ('board', $1, 'p1', 'p1', 'number')`,
    [id],
  );
  await expect(stage.claim('p1')).rejects.toThrow('not ready');
  expect(await resolve('p1', exists(id))).toMatchObject({ kind: 'recorded' });
  expect(await mappings()).toEqual([{ key: 'p1', site_job_id: id }]);
  expect(await stage.change('p1')).toBeUndefined();
});

it('a job that somebody gives to another posting at the same moment is refused', { tags: 'slow' }, async () => {
  await doubt('p1');
  const id = await makeJob('p1', { number: 'x9', title: 'Cook' });
  const other = await stage.app.db.session();
  await other.query('begin');
  await other.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash) values ('acme', 'p2', 'board', $1, '', '')`,
    [id],
  );
  const resolving = resolve('p1', exists(id, true));
  await expect
    .poll(() =>
      stage.app.db.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      ),
    )
    .toHaveLength(1);
  await other.query('commit');
  await other.end();
  expect(await resolving).toMatchObject({
    kind: 'refused',
    message: expect.stringContaining('posting p2 of feed acme'),
  });
  expect(await mappings()).toEqual([{ key: 'p2', site_job_id: id }]);
  expect(await stage.change('p1')).toMatchObject({ state: 'in_doubt' });
});
