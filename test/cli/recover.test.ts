// `recover` rebuilds the mappings of a lost or outdated database from the references on the site, and changes nothing there.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { jobOf, makeJob, removeJob } from '../support/hand-made-jobs.ts';
import { holdPullLock } from '../support/hold-pull-lock.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';
import { runProgram } from './run-program.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

const recover = (...args: readonly string[]) => runProgram(mirror, 'recover', 'acme', ...args);
const writes = () => mirror.sandbox.requests.recent().filter(({ method }) => method !== 'GET');
const mapped = async () => {
  const rows = await mirror.query<{ key: string; id: string }>(
    'select key, site_job_id as id from mapping order by key',
  );
  await mirror.stopEngine();
  return Object.fromEntries(rows.map(({ key, id }) => [key, id]));
};
const idOf = async (number: string): Promise<string> =>
  (await mirror.sandbox.inspect.jobs()).find(({ fields }) => fields.number === number)?.id ?? '';
const ids = async () =>
  Object.fromEntries((await mirror.sandbox.inspect.jobs()).map(({ id, fields }) => [fields.number ?? id, id]));

/** An installation that has mirrored these postings. */
async function openMirrored(list: readonly TestPosting[], options: MirrorOptions = {}): Promise<void> {
  mirror = await openMirror({ searched: true, ...options });
  expect(await mirror.syncOf(list)).toMatchObject({ created: list.length });
  await mirror.stopEngine();
}

/** The database knows nothing any more, as a new one. */
async function loseDatabase(): Promise<void> {
  for (const table of ['mapping', 'document', 'change', 'feed_state', 'site_state', 'request', 'audit'])
    await mirror.query(`delete from ${table}`);
  await mirror.query('delete from pull');
  await mirror.stopEngine();
  mirror.sandbox.requests.clear();
}

describe('a lost database', () => {
  it('gets the jobs whose reference is a posting’s, and the next sync sends what differs', async () => {
    const list = postings(8);
    await openMirrored(list, { sandbox: { pageSize: 3 } });
    const before = await ids();
    const second = await makeJob(mirror, jobOf(posting('p5')));
    await makeJob(mirror, { ...jobOf(posting('x1')), title: 'Painter' });
    await loseDatabase();
    await mirror.writeFeed(feedXml([posting('p1', { description: '<p>Newer</p>' }), ...list.slice(1), posting('p9')]));

    const shown = await recover();
    expect(shown).toMatchObject({ status: 2 });
    expect(shown.out).toContain(`sure p1 - job ${before.p1}`);
    expect(shown.out).toContain('7 unknown jobs to map');
    expect(shown.out).toContain('recover acme --yes');
    expect(await mapped()).toEqual({});
    expect((await recover('--json')).json().at(-1)).toMatchObject({ feed: 'acme', unknown: 7, unsure: 1, recorded: 0 });
    expect(await mapped()).toEqual({});

    const done = await recover('--yes', '--as', 'anna');
    expect(done.out).toContain('7 jobs mapped, 0 replaced, 0 marked');
    expect(done.status).toBe(2);
    const { p5: _, x1: __, ...certain } = before;
    expect(await mapped()).toEqual(certain);
    expect(writes()).toEqual([]);

    expect(await mirror.sync()).toMatchObject({ created: 1, updated: 1, deleted: 0, in_doubt: 1 });
    await mirror.stopEngine();
    expect(await mirror.sandbox.inspect.count()).toBe(11);
    const { p9 } = await ids();
    expect(await mapped()).toEqual({ ...certain, p9 });
    // Nothing is left to find, but for the job that a person must choose.
    expect((await recover('--yes', '--json')).json().at(-1)).toMatchObject({
      unknown: 0,
      differing: 0,
      second: 0,
      recorded: 0,
    });
    expect([before.p5, second]).toHaveLength(2);
  });

  it('leaves jobs that a posting of another feed of the site may have', { tags: 'slow' }, async () => {
    await openMirrored(postings(4));
    const before = await ids();
    await loseDatabase();
    const text = await readFile(mirror.configPath, 'utf8');
    await writeFile(
      mirror.configPath,
      `${text}\n  other:\n    site: board\n    source: other.xml\n    format: indeed\n`,
    );
    const unreadable = await recover('--yes', '--json');
    expect(unreadable.json().at(-1)).toMatchObject({ unknown: 0, unsure: 4, recorded: 0 });
    expect(unreadable.out).toContain('feed other of the same site could not be read');
    await writeFile(join(mirror.folder, 'other.xml'), feedXml([posting('p4')]));
    expect((await recover('--yes', '--json')).json().at(-1)).toMatchObject({ unknown: 3, unsure: 1, recorded: 3 });
    const { p4: _, ...ours } = before;
    expect(await mapped()).toEqual(ours);
    expect(writes()).toEqual([]);
  });

  it('stays as it is if the list cannot be read to its end, or has no references', { tags: 'slow' }, async () => {
    await openMirrored(postings(4), { sandbox: { pageSize: 2 } });
    await loseDatabase();
    await mirror.sandbox.setFaults([{ name: '500', on: ['list'] }]);
    expect(await recover('--yes')).toMatchObject({ status: 1, errors: expect.stringContaining('Nothing was changed') });
    await mirror.sandbox.setFaults([]);
    await mirror.configure('    list_path: /jobs.xml\n', '');
    expect((await recover('--yes')).errors).toContain('mappings adopt acme');
    await mirror.configure('    reference_field:', '    list_path: /jobs.xml\n    reference_field:');
    const { db } = await mirror.app();
    const release = await holdPullLock(db, feedName('acme'));
    expect(await recover('--yes')).toMatchObject({ status: 1, errors: expect.stringContaining('is being pulled') });
    await release();
    await mirror.stopEngine();
    expect(await mapped()).toEqual({});
  });
});

describe('an outdated database', () => {
  it('shows the job that was made since the backup and whose posting has left the feed, and leaves it to a person', async () => {
    await openMirrored(postings(4));
    const { db } = await mirror.app();
    const older = await makeJob(mirror, { ...jobOf(posting('x1')), title: 'Painter' });
    await db.query(`update sandbox.job set created_at = now() - interval '2 days' where id = $1`, [older]);
    // What the backup has; then p9 and p10 were mirrored, and p9 left the feed again.
    await db.query(`update request set at = at - interval '1 day'`);
    await db.query(`update pull set started_at = started_at - interval '1 day'`);
    const stray = await makeJob(mirror, jobOf(posting('p9')));
    const known = await makeJob(mirror, jobOf(posting('p10')));
    const later = await makeJob(mirror, { ...jobOf(posting('x2')), title: 'Cook' });
    await db.query(`update sandbox.job set created_at = now() + interval '2 hours' where id = $1`, [later]);
    await db.query('update feed_state set site_checked_at = null, source_version = null, restored_at = now()');
    await mirror.stopEngine();
    await mirror.writeFeed(feedXml([...postings(4), posting('p10')]));

    const run = (...args: string[]) => runProgram(mirror, ...args);
    for (const command of [['status'], ['verify'], ['review', 'list']])
      expect((await run(...command)).out, command[0]).toContain('recover acme');
    expect(await run('status', '--check')).toMatchObject({
      status: 2,
      out: expect.stringContaining('postings have left the feed'),
    });

    const shown = await recover();
    expect(shown).toMatchObject({ status: 2 });
    // Made after the restore, by somebody else or another installation: named, but nothing that the backup lacked.
    expect(shown.out).toContain(`stray - job ${later}`);
    expect(shown.out).toContain(`stray - job ${stray} "Nurse p9", reference p9, made at `);
    expect(shown.out).toContain('2 jobs of site board that no posting of the feed has');
    expect(shown.out).not.toContain(`job ${older}`);
    const recorded = (await recover('--yes', '--json')).json();
    expect(recorded).toEqual([
      expect.objectContaining({ finding: 'stray', job_id: later }),
      expect.objectContaining({ finding: 'stray', job_id: stray, reference: 'p9', title: 'Nurse p9' }),
      expect.objectContaining({ finding: 'unknown', key: 'p10', job_id: known, verdict: 'sure', adopted: true }),
      expect.objectContaining({ unknown: 1, strays: 2, recorded: 1, refused: [] }),
    ]);
    expect(await mirror.sync()).toMatchObject({ created: 0, deleted: 0 });
    await mirror.stopEngine();
    expect(await idOf('p9')).toBe(stray);
    expect((await recover('--json')).status).toBe(2);
    for (const command of [['status'], ['verify'], ['review', 'list']])
      expect((await run(...command)).out, command[0]).toContain('1 job of its site, made since the backup');
    expect((await run('status', '--json')).json()).toContainEqual(
      expect.objectContaining({ feed: 'acme', restored: expect.stringContaining('1 job of its site') }),
    );
    await mirror.stopEngine();
    expect(await recover('--leave-strays')).toMatchObject({
      status: 0,
      out: expect.stringContaining(`stray - job ${stray}`),
    });
    expect((await run('status', '--check')).out).not.toContain('recover acme');
    expect(await mirror.query(`select feed, detail from audit where action = 'leave jobs without a posting'`)).toEqual([
      { feed: 'acme', detail: { jobs: 1 } },
    ]);
    await mirror.stopEngine();
    expect((await recover()).status).toBe(2);
    await removeJob(mirror, stray);
    await removeJob(mirror, later);
    expect(await recover()).toMatchObject({ status: 0, out: expect.stringContaining('knows all jobs of feed acme') });
    expect((await run('status', '--check')).out).not.toContain('recover acme');
    expect((await run('review', 'list')).out).toContain('Nothing needs a person');
  });

  it('replaces jobs that are gone, marks what differs, maps what it does not know, and resolves what waits in doubt', {
    tags: 'slow',
  }, async () => {
    const list = postings(6);
    await openMirrored(list);
    // What happened after the backup: p1 was made again, p2 deleted, p3 changed, p4 created.
    await removeJob(mirror, await idOf('p1'));
    const again = await makeJob(mirror, { ...jobOf(posting('p1')), description: 'later' });
    await removeJob(mirror, await idOf('p2'));
    await removeJob(mirror, await idOf('p3'));
    const { db } = await mirror.app();
    const changed = await makeJob(mirror, { ...jobOf(posting('p3')), title: 'Nurse p3, later' });
    await db.query(`update mapping set site_job_id = $1 where key = 'p3'`, [changed]);
    await db.query(`delete from mapping where key = 'p4'`);
    await db.query(`delete from document where key = 'p4'`);
    await db.query('update feed_state set site_checked_at = null, source_version = null');
    expect(await mirror.sync()).toMatchObject({ in_doubt: 1, created: 0 });
    await mirror.stopEngine();
    const p4 = await idOf('p4');
    mirror.sandbox.requests.clear();

    const shown = await recover('--json');
    expect(shown.status).toBe(2);
    expect(shown.json()).toEqual([
      expect.objectContaining({ finding: 'changed', key: 'p3', job_id: changed }),
      expect.objectContaining({ finding: 'gone', key: 'p2' }),
      expect.objectContaining({ finding: 'replaced', key: 'p1', job_id: again }),
      expect.objectContaining({ finding: 'unknown', key: 'p4', job_id: p4, verdict: 'sure' }),
      expect.objectContaining({ feed: 'acme', unknown: 1, replaced: 1, differing: 2, second: 0, recorded: 0 }),
    ]);
    expect((await recover('--yes', '--json')).json().at(-1)).toMatchObject({ recorded: 4, refused: [] });
    expect(writes()).toEqual([]);
    expect(await mapped()).toMatchObject({ p1: again, p4 });
    // The deleted job is made again; what was changed since is what the feed has.
    expect(await mirror.sync()).toMatchObject({ in_doubt: 0, deleted: 0 });
    await mirror.stopEngine();
    expect(await mirror.sandbox.inspect.count()).toBe(6);
    const site = await mirror.siteJobs();
    expect(site.get('p1')).toMatchObject({ description: '<p>Work p1</p>' });
    expect(site.get('p3')).toMatchObject({ title: 'Nurse p3' });
    expect(await mapped()).toEqual(await ids());
    expect((await recover()).out).toContain('knows all jobs of feed acme');
  });

  it('says that a second installation mirrors the same feed, and touches neither job', { tags: 'slow' }, async () => {
    await openMirrored(postings(4));
    const before = await mapped();
    await makeJob(mirror, jobOf(posting('p2')));
    mirror.sandbox.requests.clear();
    const shown = await recover('--yes');
    expect(shown.status).toBe(2);
    expect(shown.out).toContain('another installation mirrors this feed');
    expect(await mapped()).toEqual(before);
    expect(writes()).toEqual([]);
  });

  it('does not replace a job by one of several with the reference', async () => {
    await openMirrored(postings(4));
    const before = await mapped();
    await removeJob(mirror, await idOf('p2'));
    const [one, two] = [await makeJob(mirror, jobOf(posting('p2'))), await makeJob(mirror, jobOf(posting('p2')))];
    const shown = await recover('--yes', '--json');
    expect(shown.json().at(-1)).toMatchObject({ replaced: 0, unclear: 1, recorded: 0 });
    expect(await mapped()).toEqual(before);
    expect([one, two]).not.toContain('');
  });
});
