// A process that recovers a feed dies at each step, or works beside others: no posting gets a second job, none loses its own.
// @module-tag slow
import { describe, expect } from 'vitest';
import type { Step } from '../../src/telemetry/times.ts';
import { runProgram } from '../cli/run-program.ts';
import { jobOf, makeJob } from '../support/hand-made-jobs.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest as it, type Open } from './law-test.ts';
import { checkLaws } from './laws.ts';

const list = postings(12);

/** The database is older than the site: four jobs were made again, two deleted, and three are unknown. */
async function openOutdated(open: Open): Promise<Installation> {
  const installation = await open({
    queue: 'database',
    searched: true,
    sandbox: { pageSize: 5 },
    site: patientSite(20),
  });
  expect(await installation.syncOf(list)).toMatchObject({ created: 12 });
  const { sandbox } = installation;
  const own = (await sandbox.inspect.jobs()).filter(({ owner }) => owner === installation.owner);
  const idOf = (key: string) => own.find(({ fields }) => fields.number === key)?.id ?? '';
  for (const key of ['p1', 'p2', 'p3', 'p4', 'p5', 'p6']) await sandbox.inspect.removeJob(idOf(key));
  for (const key of ['p1', 'p2', 'p3', 'p4'])
    await makeJob(installation, { ...jobOf(posting(key)), description: 'later' });
  const { db } = await installation.app();
  const unknown = ['p7', 'p8', 'p9'];
  for (const table of ['mapping', 'document'])
    await db.query(`delete from ${table} where key = any($1::text[])`, [unknown]);
  await db.query('update feed_state set site_checked_at = null, source_version = null');
  await installation.stopEngine();
  return installation;
}

const RECOVER = ['recover', 'acme', '--yes', '--json'];

const DEATHS: readonly { readonly step: Step; readonly nth: number }[] = [
  { step: 'jobs-verified', nth: 1 },
  { step: 'job-replaced', nth: 3 },
  { step: 'jobs-adopted', nth: 1 },
  { step: 'differences-marked', nth: 1 },
];

describe('a process that recovers a feed', { concurrent: true }, () => {
  it('killed at one step after another: the next one does the rest', { timeout: 900_000 }, async ({ open }) => {
    const installation = await openOutdated(open);
    for (const { step, nth } of DEATHS) {
      const env = { FAULT_AT: step, FAULT_NTH: String(nth) };
      const { signal, output } = await installation.spawn(RECOVER, env).ended;
      expect({ signal, output }, step).toMatchObject({ signal: 'SIGKILL' });
    }
    // The jobs of others are named; nobody knows whether they ever were the feed's.
    expect(await runProgram(installation, ...RECOVER)).toMatchObject({
      status: 0,
      out: expect.stringMatching(/"unsure":0,.*"second":0,"strays":2,"unclear":0,.*"refused":\[\]/),
    });
    await heal(installation);
    await checkLaws(installation, list);
    expect((await installation.siteJobs()).get('p1')).toMatchObject({ description: '<p>Work p1</p>' });
  });

  it('beside others, and beside a sync: each posting ends with one job', { timeout: 900_000 }, async ({ open }) => {
    const installation = await openOutdated(open);
    const ends = await Promise.all(
      [RECOVER, ['sync', 'acme', '--json'], RECOVER].map((args) => installation.spawn(args).ended),
    );
    for (const { status, output } of ends)
      expect({ status, output }).toMatchObject({ status: expect.toBeOneOf([0, 1, 2]) });
    for (let round = 0; round < 2; round++) await runProgram(installation, ...RECOVER);
    await heal(installation);
    await checkLaws(installation, list);
  });
});
