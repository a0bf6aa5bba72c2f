// A feed whose policy has become `create_only` since its last pull: a job that a person names for a create in doubt stays as it is, on the
// page of the doubt, in the API and in a terminal.
import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { makeJob } from '../support/hand-made-jobs.ts';
import { postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { visitorOf } from '../web/form-visitor.ts';
import { type Served, serve } from '../web/served.ts';
import { openStage } from './stage.ts';

let served: Served;
const stage = openedForEach(() => openStage());
beforeEach(async () => {
  await stage.pull(postings(3));
  const { configPath } = stage.mirror;
  const config = await readFile(configPath, 'utf8');
  await writeFile(configPath, config.replace('format: indeed', 'format: indeed\n    policy: create_only'));
  served = await serve(stage.mirror);
});
afterEach(async () => {
  await served.close();
});

it('nothing is sent for it', async () => {
  const anna = await visitorOf(served, 'anna');
  const media = new Map<string, (entry: number, version: string, job: string) => Promise<unknown>>([
    ['page', (entry, version, job) => anna.post(`/doubts/${entry}`, { verdict: 'exists', site_job_id: job, version })],
    [
      'API',
      (entry, version, job) =>
        served.api('POST', `review/${entry}/settle`, { verdict: 'exists', site_job_id: job, version }),
    ],
    [
      'terminal',
      (entry, _, job) => runProgram(stage.mirror, 'review', 'settle', String(entry), '--exists', job, '--no-send'),
    ],
  ]);
  let n = 0;
  for (const [medium, decide] of media) {
    const key = `p${++n}`;
    const job = await makeJob(stage.mirror, { ...(await stage.change(key))?.fields, description: 'By hand' });
    await stage.fail(key, 'in_doubt');
    const entry = await stage.entry(key);
    const { version } = (await served.api('GET', `review/${entry}`)).body;
    await decide(entry, version, job);
    const [mapping] = await stage.app.db.query('select site_job_id as job from mapping where key = $1', [key]);
    expect([medium, mapping]).toEqual([medium, { job }]);
    expect([medium, await stage.change(key)]).toEqual([medium, undefined]);
  }
});
