// Found jobs are adopted by a process that dies: the action goes on where it was, and each job gets its posting once.
import { expect } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { jobOf, makeJob } from '../support/hand-made-jobs.ts';
import { postings } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest as it } from './law-test.ts';
import { checkLaws } from './laws.ts';

const list = postings(4);

/** What the action and the mappings say. */
async function progress(installation: Installation): Promise<unknown> {
  const [bulk] = await installation.query('select state, total, done, skipped from bulk_action');
  const [{ n }] = (await installation.query(`select count(*)::int as n from audit where action = 'settle'`)) as [
    { n: number },
  ];
  const [{ mapped }] = (await installation.query('select count(*)::int as mapped from mapping')) as [
    { mapped: number },
  ];
  await installation.stopEngine();
  return { ...bulk, decided: n, mapped };
}

it('killed before and after an adoption: what was done is counted once, and the rest is continued', {
  timeout: 300_000,
}, async ({ open }) => {
  const installation = await open({ queue: 'database', searched: true, site: patientSite(20) });
  for (const one of list) await makeJob(installation, { ...jobOf(one), description: 'by hand' });
  expect(await installation.syncOf(list)).toMatchObject({ in_doubt: 4, created: 0 });
  await installation.stopEngine();
  const adopt = ['review', 'settle', 'acme', '--found', '--yes', '--no-send'];
  const first = await installation.spawn(adopt, { FAULT_AT: 'found-checked', FAULT_NTH: '2' }).ended;
  expect({ ...first }).toMatchObject({ signal: 'SIGKILL' });
  expect(await progress(installation)).toEqual({ state: 'open', total: 4, done: 1, skipped: 0, decided: 1, mapped: 1 });
  const go = ['review', 'continue', '1'];
  const second = await installation.spawn([...go, '--no-send'], { FAULT_AT: 'found-adopted' }).ended;
  expect({ ...second }).toMatchObject({ signal: 'SIGKILL' });
  expect(await progress(installation)).toEqual({ state: 'open', total: 4, done: 2, skipped: 0, decided: 2, mapped: 2 });
  expect(await runProgram(installation, ...go)).toMatchObject({ status: 0 });
  expect(await progress(installation)).toEqual({ state: 'done', total: 4, done: 4, skipped: 0, decided: 4, mapped: 4 });
  await heal(installation);
  await checkLaws(installation, list);
});
