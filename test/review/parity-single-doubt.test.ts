// A decision that a create in doubt has made no job is about the attempt that was shown, and only once its request can no longer
// arrive: on its page, in the API and in a terminal.
import { expect, it } from 'vitest';
import { resolveEntry } from '../../src/review/resolve-entry.ts';
import { runProgram } from '../cli/run-program.ts';
import { ageDoubts } from '../support/age-doubts.ts';
import { jobOf, makeJob } from '../support/hand-made-jobs.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { visitorOf } from '../web/form-visitor.ts';
import { serve } from '../web/served.ts';
import { openStage } from './stage.ts';

// Longer than the commands of a test take on a busy machine.
const stage = openedForEach(() => openStage({ site: { doubts: '{ resolve_after_seconds: 600 }' } }));
const served = openedForEach(() => serve(stage.mirror));

const STALE = 'it has changed since you saw it';
const YOUNG = /its request may still arrive: decide it later, in \d+ s \(doubts.resolve_after_seconds\)/;

/** Says that there is no job of the create that was shown with this version. Returns what it was told, and whether it was refused. */
type Decide = (entry: number, version: string) => Promise<{ readonly refused: boolean; readonly said: string }>;

async function media(): Promise<ReadonlyMap<string, Decide>> {
  const anna = await visitorOf(served, 'anna');
  return new Map<string, Decide>([
    [
      'page',
      async (entry, version) => {
        const answer = await anna.post(`/doubts/${entry}`, { verdict: 'missing', confirmed: 'true', version });
        return { refused: answer.status === 409, said: answer.text };
      },
    ],
    [
      'API',
      async (entry, version) => {
        const { status, body } = await served.api('POST', `review/${entry}/settle`, { verdict: 'missing', version });
        return { refused: status === 409, said: status === 409 ? body.detail : body.message };
      },
    ],
    [
      'terminal',
      async (entry, version) => {
        const { status, out, errors } = await decideHere(entry, '--missing', '--if-version', version);
        return { refused: status === 1, said: out + errors };
      },
    ],
  ]);
}

const decideHere = (entry: number, ...words: readonly string[]) =>
  runProgram(stage.mirror, 'review', 'settle', String(entry), ...words, '--no-send');
const show = async (entry: number) =>
  (await runProgram(stage.mirror, 'review', 'show', String(entry), '--json')).json<{
    version: string;
    commands: string[];
  }>()[0];
const state = async (key: string) => (await stage.change(key))?.state;

/** Somebody else has it sent again, and that is in doubt as well. */
async function sendAgain(key: string): Promise<void> {
  const options = { actor: 'ben', site: undefined };
  expect(await resolveEntry(stage.app.db, await stage.entry(key), { kind: 'missing' }, options)).toMatchObject({
    kind: 'recorded',
  });
  await stage.fail(key, 'in_doubt');
}

it('nothing is sent again that is too young, or that was not shown', async () => {
  await stage.pull(postings(3));
  let n = 0;
  for (const [medium, decide] of await media()) {
    n++;
    const key = `p${n}`;
    await stage.fail(key, 'in_doubt');
    const entry = await stage.entry(key);
    const seen = (await show(entry))?.version ?? '';
    expect(await decide(entry, seen), medium).toEqual({ refused: true, said: expect.stringMatching(YOUNG) });
    await ageDoubts(stage.app.db);
    await sendAgain(key);
    await ageDoubts(stage.app.db);
    expect(await decide(entry, seen), medium).toEqual({ refused: true, said: expect.stringContaining(STALE) });
    expect([medium, await state(key)]).toEqual([medium, 'in_doubt']);
    expect(await decide(entry, (await show(entry))?.version ?? ''), medium).toMatchObject({ refused: false });
    expect([medium, await state(key)]).toEqual([medium, 'ready']);
  }
});

it('where nobody can be asked, a terminal decides about the attempt that it finds, and says which', async () => {
  await stage.pull([posting('p1'), posting('p2')]);
  await stage.fail('p1', 'in_doubt', 'time-out');
  await stage.fail('p2', 'in_doubt');
  const [p1, p2] = [await stage.entry('p1'), await stage.entry('p2')];
  expect(await decideHere(p1, '--missing')).toMatchObject({ status: 1, errors: expect.stringMatching(YOUNG) });
  await ageDoubts(stage.app.db);
  const shown = await show(p1);
  expect(shown?.commands).toContainEqual(
    expect.stringContaining(`review settle ${p1} --missing --if-version ${shown?.version} `),
  );
  const done = await decideHere(p1, '--missing', '--json');
  expect(done.status).toBe(0);
  expect(done.json()).toMatchObject([{ action: 'settle', entry: p1, result: 'done', message: 'to be sent again' }]);
  expect(done.errors).toMatch(
    /warning: this decides about the create as it is now: entry \d+: posting p1 [\s\S]*time-out/,
  );
  expect(done.errors).toContain(`review settle ${p1} --missing --if-version ${shown?.version} `);
  const stale = await decideHere(p2, '--exists', '4711', '--if-version', shown?.version ?? '');
  expect(stale).toMatchObject({ status: 1, errors: expect.stringContaining(STALE) });
  expect(await decideHere(p1, '--missing')).toMatchObject({
    status: 1,
    errors: expect.stringContaining('not in doubt'),
  });
  expect(await decideHere(p1, '--check', '--if-version', 'x')).toMatchObject({
    status: 1,
    errors: expect.stringContaining('--if-version is for one entry'),
  });
});

it('a refusal names the option that would adopt the job as the medium has it', async () => {
  await stage.pull(postings(1));
  await stage.fail('p1', 'in_doubt');
  const entry = await stage.entry('p1');
  const job = await makeJob(stage.mirror, { ...jobOf(posting('p2')), number: 'elsewhere' });
  const { version = '' } = (await show(entry)) ?? {};
  const settled = { verdict: 'exists', site_job_id: job, version };
  const told = await served.api('POST', `review/${entry}/settle`, settled);
  expect(told).toMatchObject({ status: 409, body: { may_insist: true } });
  expect(told.body.detail).not.toContain('anyway');
  const page = await (await visitorOf(served, 'anna')).post(`/doubts/${entry}`, settled);
  expect(page.text).toContain('It is the right job nevertheless');
  expect(await decideHere(entry, '--exists', job)).toMatchObject({
    status: 1,
    errors: expect.stringMatching(/seems to be another job.*\nTo do it nevertheless, add --anyway\.\n$/),
  });
  expect((await decideHere(entry, '--exists', job, '--anyway')).status).toBe(0);
});

it('a create that was not sent, as a search found a job, is decided at once; one of an unknown site is not', async () => {
  await stage.pull(postings(2));
  await stage.fail('p1', 'in_doubt');
  await stage.fail('p2', 'in_doubt');
  await stage.app.db.query(`update change set found_job_id = 'job-9' where key = 'p1'`);
  const missing = async (key: string) =>
    resolveEntry(stage.app.db, await stage.entry(key), { kind: 'missing' }, { actor: 'ann', site: undefined });
  expect(await missing('p1')).toMatchObject({ kind: 'recorded' });
  expect(await missing('p2')).toMatchObject({ kind: 'refused', message: expect.stringContaining('may still arrive') });
});
