import { afterEach, describe, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { openStage } from '../review/stage.ts';
import { leavesOut } from '../support/extent.ts';
import { changeJob } from '../support/hand-made-jobs.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

const LEFT = { create_only_fields: '[description]' };
/** A site that keeps what an update omits, and one that clears it. */
const READINGS = [
  ['keep', { feed: LEFT }],
  ['clear', { feed: LEFT, site: { omitted_fields: 'clear' }, sandbox: { omittedFields: 'clear' } }],
] as const satisfies readonly (readonly [string, MirrorOptions])[];

const jobs = async () => Object.fromEntries([...(await mirror.siteJobs())].sort());
const requests = () => mirror.sandbox.requests.recent();
const writes = () => requests().filter(({ method }) => method !== 'GET');
const titled = (key: string, title: string, description: string) => posting(key, { title, description });

/** Runs a command on this installation, which must not be open meanwhile. */
async function run(...args: readonly string[]) {
  await mirror.stopEngine();
  return runProgram(mirror, ...args);
}

async function rows(sql: string): Promise<Record<string, unknown>[]> {
  return mirror.query(sql);
}

/** Changes a job by hand, in all of its fields, as a site that clears the others wants. */
async function change(key: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const own = (await mirror.siteJobs()).get(key) ?? {};
  const [row] = await rows(`select site_job_id as id from mapping where key = '${key}'`);
  await changeJob(mirror, row?.id as string, { ...own, ...fields });
  mirror.sandbox.requests.clear();
}

it('a process that is not configured with the feed leaves them to the site too', async () => {
  // Its claims are those of such a process.
  const stage = await openStage({ feed: LEFT });
  ({ mirror } = stage);
  await stage.pull([titled('p1', 'Nurse', 'First'), titled('p2', 'Cook', 'First')]);
  await stage.acceptAll();
  await stage.pull([titled('p1', 'Head nurse', 'Second'), titled('p2', 'Cook', 'Second')]);
  expect((await stage.claim('p1')).request).toEqual({
    kind: 'update',
    siteJobId: 'job-p1',
    fields: { title: 'Head nurse' },
  });
  expect(await rows('select key from change')).toEqual([{ key: 'p1' }]);
});

describe.each(READINGS)('on a site that would %s omitted fields', (reading, options) => {
  const at = READINGS.findIndex(([each]) => each === reading);
  /** `npm test` and CI have each test with one of the readings. */
  const isHere = (reading: number) => !leavesOut(at, reading, 2);

  if (isHere(0))
    it('a change of such a field makes no update, and an update of another field leaves it', async () => {
      mirror = await openMirror(options);
      expect(await mirror.syncOf([titled('p1', 'Nurse', 'First'), titled('p2', 'Cook', 'First')])).toMatchObject({
        created: 2,
      });
      mirror.sandbox.requests.clear();
      const later = [titled('p1', 'Nurse', 'Second'), titled('p2', 'Cook', 'First')];
      await mirror.writeFeed(feedXml(later));
      expect((await run('plan', 'acme', '--json')).json()).toEqual([]);
      expect(await mirror.syncOf(later)).toMatchObject({ unchanged: 2, updated: 0, pending: 0 });
      expect(requests()).toEqual([]);
      // A person rewrites it, and the feed changes another field.
      await change('p1', { description: 'By hand' });
      const renamed = [titled('p1', 'Head nurse', 'Third'), titled('p2', 'Chef', 'Third')];
      await mirror.writeFeed(feedXml(renamed));
      const planned = (await run('plan', 'acme', '--json')).json();
      expect(planned.map(({ fields }) => Object.keys(fields as object))).toEqual([['title'], ['title']]);
      expect(await mirror.syncOf(renamed)).toMatchObject({ updated: 2 });
      expect(await jobs()).toMatchObject({
        p1: { title: 'Head nurse', description: 'By hand', 'location-city': 'Boston', number: 'p1' },
        p2: { title: 'Chef', description: 'First', 'location-city': 'Boston', number: 'p2' },
      });
      expect(requests().filter(({ method }) => method === 'GET')).toHaveLength(reading === 'clear' ? 2 : 0);
      // What was sent, not what the feed has; and nothing is left to do.
      expect(await rows(`select key, fields->>'description' as sent from document order by key`)).toEqual([
        { key: 'p1', sent: 'First' },
        { key: 'p2', sent: 'First' },
      ]);
      expect(await mirror.syncOf(renamed)).toMatchObject({ unchanged: 2 });
      // verify is content with it; a job that is gone is made again with what the feed has.
      expect((await run('verify', 'acme', '--json')).json()).toMatchObject([{ same: 2, changed: 0 }]);
      const [{ id }] = (await rows(`select site_job_id as id from mapping where key = 'p1'`)) as [{ id: string }];
      expect(await mirror.sandbox.inspect.removeJob(id)).toBe(true);
      expect((await run('verify', 'acme', '--repair', '--json')).json()).toMatchObject([
        { finding: 'gone' },
        { marked: 1 },
      ]);
      expect(await mirror.syncOf(renamed)).toMatchObject({ unchanged: 1 });
      expect((await jobs()).p1).toMatchObject({ title: 'Head nurse', description: 'Third' });
    });

  if (isHere(1))
    it('an update whose outcome is unknown, or whose process died, is repeated without it', async () => {
      mirror = await openMirror(options);
      expect(await mirror.syncOf([titled('p1', 'Nurse', 'First')])).toMatchObject({ created: 1 });
      await change('p1', { description: 'By hand' });
      await mirror.sandbox.setFaults([{ name: '500', made: true, on: ['update'], count: 1 }]);
      expect(await mirror.syncOf([titled('p1', 'Cook', 'Second')])).toMatchObject({ updated: 1 });
      expect((await jobs()).p1).toMatchObject({ title: 'Cook', description: 'By hand' });
      // As after the death of a process: every field that the job had or was to get is uncertain.
      await rows(`insert into uncertain_write (feed, key, revision, fields, until)
      select feed, key, 0, array(select json_object_keys(fields)), now() from document
      on conflict (feed, key) do update set fields = excluded.fields, until = excluded.until, revision = 0`);
      expect(await mirror.syncOf([titled('p1', 'Chef', 'Third')])).toMatchObject({ updated: 1 });
      expect((await jobs()).p1).toMatchObject({ title: 'Chef', description: 'By hand' });
      expect(await rows('select from uncertain_write where fields is not null')).toEqual([]);
    });

  if (isHere(1))
    it('an imported job keeps its own value, which is not known', { tags: 'slow' }, async () => {
      mirror = await openMirror(options);
      expect(await mirror.syncOf([titled('p1', 'Nurse', 'First')])).toMatchObject({ created: 1 });
      await change('p1', { description: 'By hand' });
      await rows('delete from document');
      await rows(
        `update mapping set content_hash = decode(repeat('00', 16), 'hex'), record_hash = decode(repeat('00', 16), 'hex')`,
      );
      expect(await mirror.syncOf([titled('p1', 'Nurse', 'Second')])).toMatchObject({ updated: 1 });
      expect((await jobs()).p1).toMatchObject({ title: 'Nurse', description: 'By hand' });
      expect((await rows(`select fields->>'description' as sent from document`))[0]).toEqual({ sent: null });
    });

  if (isHere(0))
    it('undoing a pull leaves it', { tags: 'slow' }, async () => {
      mirror = await openMirror(options);
      expect(await mirror.syncOf([titled('p1', 'Nurse', 'First')])).toMatchObject({ created: 1 });
      const updated = await mirror.syncOf([titled('p1', 'Cook', 'Second')]);
      expect(updated).toMatchObject({ updated: 1 });
      await change('p1', { description: 'By hand' });
      expect((await run('undo', String(updated.pull), '--yes')).status).toBe(0);
      expect((await jobs()).p1).toMatchObject({ title: 'Nurse', description: 'By hand' });
    });
});

it('an update waits until the site shows what it must not clear', { tags: 'slow' }, async () => {
  mirror = await openMirror(READINGS[1][1]);
  expect(await mirror.syncOf([titled('p1', 'Nurse', 'First')])).toMatchObject({ created: 1 });
  await change('p1', { description: 'By hand' });
  await mirror.sandbox.setFaults([{ name: '500', on: ['show'], count: 2 }]);
  expect(await mirror.syncOf([titled('p1', 'Cook', 'Second')])).toMatchObject({ updated: 1 });
  expect(writes()).toHaveLength(1);
  expect((await jobs()).p1).toMatchObject({ title: 'Cook', description: 'By hand' });
});

it('updates send all fields to a site that clears the others, also without such fields', { tags: 'slow' }, async () => {
  mirror = await openMirror({ site: { omitted_fields: 'clear' }, sandbox: { omittedFields: 'clear' } });
  expect(await mirror.syncOf([titled('p1', 'Nurse', 'First')])).toMatchObject({ created: 1 });
  mirror.sandbox.requests.clear();
  expect(await mirror.syncOf([titled('p1', 'Cook', 'First')])).toMatchObject({ updated: 1 });
  expect(requests()).toHaveLength(1);
  expect((await jobs()).p1).toMatchObject({ title: 'Cook', description: 'First', 'location-city': 'Boston' });
  expect((await run('verify', 'acme', '--json')).json()).toMatchObject([{ same: 1 }]);
});

it('a site that clears omitted fields although it is said to keep them is paused, and its refusals are explained', async () => {
  mirror = await openMirror({ sandbox: { omittedFields: 'clear' } });
  const list = [titled('p1', 'Nurse', 'First'), titled('p2', 'Nurse', 'First'), titled('p3', 'Nurse', 'First')];
  expect(await mirror.syncOf(list)).toMatchObject({ created: 3 });
  // The site refuses a job without a state, which has not changed.
  const [p1 = titled('p1', '', ''), p2 = p1, p3 = p1] = list;
  expect(await mirror.syncOf([{ ...p1, title: 'Cook' }, p2, p3])).toMatchObject({ updated: 0, rejected: 1 });
  expect((await run('review', 'list', '--json')).out).toMatch(
    /blank; the update did not send it.*omitted_fields: clear/,
  );
  await mirror.syncOf([p1, { ...p2, title: 'Cook', state: 'TX' }, p3]);
  expect((await jobs()).p2 ?? (await jobs())['']).not.toMatchObject({ description: 'First' });
  const moved = [p1, { ...p2, title: 'Cook', state: 'TX' }, { ...p3, title: 'Cook', state: 'TX' }];
  expect(await mirror.syncOf(moved)).toMatchObject({ updated: 0, pending: 2 });
  expect((await run('status')).out).toMatch(/PAUSED .*has cleared .*description.*omitted_fields: clear/);
  // Once told, it gets back what was cleared.
  await mirror.stopEngine();
  await mirror.configure(/(\n +)base_url:/, '$1omitted_fields: clear$1base_url:');
  expect((await run('resume', 'board')).status).toBe(0);
  await mirror.sync();
  await mirror.sync();
  expect(await jobs()).toMatchObject({ p2: { description: 'First' }, p3: { title: 'Cook', description: 'First' } });
  await mirror.close();
  // It may be somebody else who empties fields.
  mirror = await openMirror({ site: { omitted_fields: 'keep' }, sandbox: { omittedFields: 'clear' } });
  await mirror.syncOf(list);
  await mirror.syncOf(moved);
  expect(await rows('select paused_since from site_state')).toEqual([{ paused_since: null }]);
});

describe('a job whose omitted fields an update has cleared gets them back', () => {
  const [p1 = posting('p1'), p2 = p1, p3 = p1] = [1, 2, 3].map((at) => titled(`p${at}`, `Nurse ${at}`, `Ward ${at}`));
  const moved = { ...p1, title: 'Cook', state: 'TX' };
  /** What happens while the site is paused, and the feed from then on. */
  const MEANWHILE: Record<string, readonly [readonly (readonly string[])[], readonly TestPosting[]]> = {
    'if nothing else happens': [[], [moved, p2, p3]],
    'if the site answers nothing': [[], [moved, p2, p3]],
    'if the feed reverts the update': [[], [p1, p2, p3]],
    'if a person undoes the update': [
      [
        ['undo', '2', '--yes'],
        ['feeds', 'resume', 'acme'],
      ],
      [p1, p2, p3],
    ],
    'if a person edits the posting': [
      [['review', 'edit', 'acme', 'p1', '--set', 'title=Pilot', '--set', 'description=Edited']],
      [moved, p2, p3],
    ],
    'if its key changes': [[], [{ ...moved, key: 'n1' }, p2, p3]],
    'if it leaves the feed and comes back': [
      [
        ['sync', 'acme'],
        ['sync', 'acme'],
      ],
      [moved, p2, p3],
    ],
    'if a person repairs it': [[['verify', 'acme', '--repair']], [moved, p2, p3]],
  };
  it.each(Object.entries(MEANWHILE))('%s', { tags: 'slow' }, async (what, [acts, feed]) => {
    const updateBody = what.includes('answers nothing') ? 'none' : 'job';
    mirror = await openMirror({ sandbox: { omittedFields: 'clear', updateBody } });
    await mirror.syncOf([p1, p2, p3]);
    expect(await mirror.syncOf([moved, p2, p3])).toMatchObject({ updated: 1 });
    expect((await run('status')).out).toMatch(/PAUSED .*has cleared/);
    if (what.includes('leaves the feed')) await mirror.writeFeed(feedXml([p2, p3]));
    for (const words of acts) await run(...words);
    await mirror.stopEngine();
    await mirror.configure(/(\n +)base_url:/, '$1omitted_fields: clear$1base_url:');
    expect((await run('resume', 'board')).status).toBe(0);
    await mirror.syncOf(feed);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', unchanged: 3, requests: 0 });
    expect((await run('verify', 'acme', '--json')).json()).toMatchObject([{ same: 3 }]);
    expect(Object.keys(await jobs())).toEqual(feed.map(({ key }) => key).sort());
    const described = Object.values(await jobs()).map(({ description }) => description);
    expect(described.sort()).toEqual([what.includes('edits') ? 'Edited' : 'Ward 1', 'Ward 2', 'Ward 3']);
  });
});

it('a create is sent with the latest value, also after it was rejected; a wrong one does not stop updates', async () => {
  mirror = await openMirror({ feed: LEFT, site: { max_lengths: '{ description: 20 }' } });
  const long = 'x'.repeat(21);
  expect(await mirror.syncOf([titled('p1', 'Nurse', long)])).toMatchObject({ rejected: 1 });
  expect(await mirror.syncOf([titled('p1', 'Nurse', 'Short')])).toMatchObject({ created: 1 });
  expect((await jobs()).p1).toMatchObject({ description: 'Short' });
  expect(await mirror.syncOf([titled('p1', 'Cook', long)])).toMatchObject({ updated: 1, rejected: 0 });
  expect((await jobs()).p1).toMatchObject({ title: 'Cook', description: 'Short' });
  expect(await mirror.syncOf([titled('p1', 'Cook', `${long}y`)])).toMatchObject({ unchanged: 1, rejected: 0 });
});

it('an edit of it is refused once there is a job, and done before', { tags: 'slow' }, async () => {
  mirror = await openMirror({ feed: LEFT });
  expect(await mirror.syncOf([posting('p1', { state: 'Jalisco' })])).toMatchObject({ rejected: 1 });
  const edit = async (...values: readonly string[]) => {
    const [entry] = (await run('review', 'list', '--json')).json();
    return run('review', 'edit', String(entry?.id), ...values.flatMap((value) => ['--set', value]));
  };
  expect((await edit('description=Edited', 'location-state=Ohio')).status).toBe(0);
  await mirror.sync();
  expect((await jobs()).p1).toMatchObject({ description: 'Edited', 'location-state': 'Ohio' });
  expect(await mirror.syncOf([posting('p1', { state: 'Sonora', title: 'Cook' })])).toMatchObject({ rejected: 1 });
  const refused = await edit('description=Again', 'location-state=Ohio');
  expect(refused.out + refused.errors).toContain('description is set only on create');
  expect((await edit('location-state=Maine')).status).toBe(0);
  await mirror.sync();
  expect((await jobs()).p1).toMatchObject({ description: 'Edited', 'location-state': 'Maine', title: 'Cook' });
});

it('switching it on sends nothing; switching it off sets what differs from what was sent', {
  tags: 'slow',
}, async () => {
  mirror = await openMirror({ feed: { create_only_fields: '[]' } });
  expect(await mirror.syncOf(postings(3))).toMatchObject({ created: 3 });
  const set = async (names: string) => {
    await mirror.configure(/create_only_fields: .*/, `create_only_fields: ${names}`);
  };
  await set('[description]');
  mirror.sandbox.requests.clear();
  expect(await mirror.syncOf(postings(3))).toMatchObject({ unchanged: 3, updated: 0 });
  const other = [posting('p1', { description: 'Other' }), ...postings(3).slice(1)];
  expect(await mirror.syncOf(other)).toMatchObject({ unchanged: 3, updated: 0 });
  expect(requests()).toEqual([]);
  await set('[]');
  await mirror.syncOf(other);
  expect(writes()).toHaveLength(1);
  expect((await jobs()).p1).toMatchObject({ description: 'Other' });
});
