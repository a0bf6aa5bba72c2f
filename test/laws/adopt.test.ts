// Jobs are adopted by several processes at once, and by one that dies: each posting is adopted wholly or not at all, and none gets
// a second job.
// @module-tag slow
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { FAST_TIMING } from '../support/fast-timing.ts';
import { jobOf } from '../support/hand-made-jobs.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import type { MirrorOptions } from '../support/mirror.ts';
import { patientSite } from '../support/patient-site.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest as it, type Open } from './law-test.ts';
import { checkLaws } from './laws.ts';
import { storeJobs } from './stored-jobs.ts';

/** More than are adopted in one transaction. */
const MANY = 260;
const FEW = 20;
/** So many that a worker still creates them, slowly, when another process adopts, also on a slow machine. */
const SLOW = 60;
const EDITED = 10;

const listOf = (count: number): readonly TestPosting[] => [...postings(count), posting('without-job')];

/** The site has a job of each posting but one, some with another description; the database knows nothing. */
async function openWithJobs(open: Open, count: number, options: MirrorOptions = {}): Promise<Installation> {
  const pageSize = Math.ceil(count / 3);
  const site = patientSite(20);
  const installation = await open({ queue: 'database', searched: true, sandbox: { pageSize }, site, ...options });
  await installation.writeFeed(feedXml(listOf(count)));
  const jobs = postings(count).map(jobOf);
  const edited = jobs.slice(0, EDITED).map((fields) => ({ ...fields, description: 'by hand' }));
  await storeJobs(installation, [...edited, ...jobs.slice(EDITED)]);
  return installation;
}

const ADOPT = ['mappings', 'adopt', 'acme', '--sure', '--json'];

const mappedKeys = async (installation: Installation): Promise<number> => {
  const [row] = await installation.query<{ n: number }>(
    'select count(*)::int as n from mapping m join document d on d.feed = m.feed and d.key = m.key',
  );
  await installation.stopEngine();
  return row?.n ?? 0;
};

describe('a process that adopts jobs', () => {
  it('killed after a part of them: the next one adopts the rest', { timeout: 600_000 }, async ({ open }) => {
    const installation = await openWithJobs(open, MANY);
    const { signal, output } = await installation.spawn(ADOPT, { FAULT_AT: 'jobs-adopted' }).ended;
    expect({ signal, output }).toMatchObject({ signal: 'SIGKILL' });
    const part = await mappedKeys(installation);
    expect(part).toBeGreaterThan(0);
    expect(part).toBeLessThan(MANY);
    expect(await runProgram(installation, ...ADOPT)).toMatchObject({ status: 0 });
    expect(await mappedKeys(installation)).toBe(MANY);
    const report = await heal(installation);
    expect(report).toMatchObject({ created: 1, in_doubt: 0 });
    await checkLaws(installation, listOf(MANY));
  });

  it('beside others of the same feed: one adopts, and the others say so', { timeout: 600_000 }, async ({ open }) => {
    // The lock of one that stands still is not to pass to the other.
    const locks = { ...FAST_TIMING.locks, staleAfterMs: 60_000 };
    const installation = await openWithJobs(open, FEW, { timing: { ...FAST_TIMING, locks } });
    const ends = await Promise.all([1, 2].map(() => installation.spawn(ADOPT).ended));
    const statuses = ends.map(({ status }) => status);
    expect(statuses).toContain(0);
    for (const { status, output } of ends) if (status !== 0) expect(output).toContain('its jobs are being adopted');
    expect(await mappedKeys(installation)).toBe(FEW);
    await heal(installation);
    await checkLaws(installation, listOf(FEW));
  });

  it('beside a worker that creates the postings: each gets one job, made or adopted', { timeout: 600_000 }, async ({
    open,
  }) => {
    const site = patientSite(10);
    // Opening the database states that the site has been searched for the feed's jobs.
    const installation = await openWithJobs(open, SLOW, { searched: false, site });
    const { sandbox } = installation;
    await sandbox.setFaults([{ name: 'latency', ms: 3_000, on: ['create'] }]);
    const created = sandbox.requests.next(({ method }) => method === 'POST');
    const sync = installation.spawn(['sync', 'acme', '--json']).ended;
    // The pull ends long before its creates have been sent.
    await created;
    const adopted = await installation.spawn(ADOPT).ended;
    await sandbox.setFaults([]);
    expect({ ...adopted }, adopted.output).toMatchObject({ status: expect.toBeOneOf([0, 2]) });
    expect(await sync).toMatchObject({ status: 0 });
    await heal(installation);
    const mappings = await installation.query<{ adopted: boolean; key: string }>(
      'select key, site_job_id as id, adopted from mapping',
    );
    expect(mappings).toHaveLength(SLOW + 1);
    const byHand = mappings.filter((mapping) => mapping.adopted).map(({ key }) => key);
    expect(byHand).not.toEqual([]);
    const made = (await sandbox.inspect.jobs()).filter(({ id }) => Number(id) > SLOW + installation.foreign.length);
    expect(made.map(({ fields }) => fields.number).sort()).toEqual(
      mappings.flatMap(({ key, adopted: isAdopted }) => (isAdopted ? [] : [key])).sort(),
    );
  });

  it('beside one of another feed with the same postings: each job gets one posting', { timeout: 600_000 }, async ({
    open,
  }) => {
    const installation = await openWithJobs(open, FEW);
    const text = await readFile(installation.configPath, 'utf8');
    await writeFile(
      installation.configPath,
      `${text}  other:\n    site: board\n    source: feed.xml\n    format: indeed\n`,
    );
    const other = ['mappings', 'adopt', 'other', '--sure', '--json'];
    const ends = await Promise.all([ADOPT, other].map((args) => installation.spawn(args).ended));
    for (const { status, output } of ends)
      expect({ status, output }).toMatchObject({ status: expect.toBeOneOf([0, 2]) });
    const [row] = await installation.query(
      'select count(*)::int as n, count(distinct site_job_id)::int as jobs from mapping',
    );
    expect(row).toEqual({ n: FEW, jobs: FEW });
  });
});
