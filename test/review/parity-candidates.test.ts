// A create in doubt beside jobs of its site is the same comparison on the page, in the API and in a terminal, with the same refusals.
import { expect, it, vi } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { openEditingProxy } from '../support/editing-proxy.ts';
import { jobOf, makeJob, without } from '../support/hand-made-jobs.ts';
import { posting } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';
import { visitorOf } from '../web/form-visitor.ts';
import { serve } from '../web/served.ts';
import { openStage } from './stage.ts';

it('a create in doubt is compared with jobs of the site everywhere, and nowhere while the site is at another address', async () => {
  const stage = await openStage();
  const served = await serve(stage.mirror);
  try {
    const { db } = stage.app;
    await stage.pull([posting('p1'), posting('p2')]);
    const same = await makeJob(stage.mirror, jobOf(posting('p1')));
    const other = await makeJob(stage.mirror, { ...jobOf(posting('p1')), title: 'Pilot' });
    await stage.fail('p1', 'in_doubt', 'no answer');
    const entry = String(await stage.entry('p1'));
    const candidates = JSON.stringify({ candidates: [same, '4711'] });
    await db.query(`update change set reason = reason || $2 where id = $1`, [entry, candidates]);
    const anna = await visitorOf(served, 'anna');
    const api = (query = '') => served.api('GET', `review/${entry}/candidates${query}`);
    const show = (...args: readonly string[]) => runProgram(stage.mirror, 'review', 'show', entry, ...args);
    const page = async (query = '') => (await anna.get(`/doubts/${entry}?ask=site${query}`)).text;

    await db.query(`update change set reason = reason - 'candidates' where id = $1`, [entry]);
    const unknown = (await show('--candidates')).out;
    expect(unknown).toMatch(
      /^None is known so far: .*\n\nPossible:\n.* --exists JOBID .*\n.* --job JOBID .*\n.* --missing /m,
    );
    await db.query(`update change set reason = reason || $2 where id = $1`, [entry, candidates]);

    const known = await api();
    expect(known.body).toMatchObject({
      entry: Number(entry),
      key: 'p1',
      site: 'board',
      known_jobs: [same, '4711'],
      candidates: [
        { site_job_id: same, answer: 'shown', likeness: 'match', owned: false, differing: [] },
        { site_job_id: '4711', answer: 'absent', fields: null },
      ],
    });
    expect((await show('--candidates', '--json')).json()).toEqual([known.body]);
    expect(await page()).toContain('It is what was sent');
    expect(await page()).toContain('The site says that it has no job 4711.');
    const told = await show('--candidates');
    expect(told.status).toBe(0);
    expect(told.out).toContain('The site says that it has no job 4711.\n');
    expect(told.out).toMatch(/\(compared\) +It is what was sent\n/);
    expect(told.out).toContain(`review settle ${entry} --exists ${same} --if-version ${known.body.version} --config`);

    const named = await api(`?job=${other}`);
    expect(named.body.candidates).toMatchObject([{ site_job_id: other, likeness: 'perhaps', differing: ['title'] }]);
    expect((await show('--job', other, '--json')).json()).toEqual([named.body]);
    expect(await page(`&job=${other}`)).toContain('<mark>Pilot</mark>');
    const both = (await show('--job', other, '--job', same)).out;
    expect(both).toMatch(new RegExp(`FIELD +SENT +JOB ${other} +JOB ${same}\\n`));
    expect(both).toMatch(/title +Nurse p1 +≠ Pilot +Nurse p1\n/);

    expect((await served.api('GET', `review/${entry}/candidates`, undefined, { as: 'reader' })).status).toBe(403);
    expect((await (await visitorOf(served, 'ben')).get(`/doubts/${entry}?ask=site`)).status).toBe(403);
    const ready = await stage.entry('p2');
    expect((await served.api('GET', `review/${ready}/candidates`)).status).toBe(404);
    const refused = await runProgram(stage.mirror, 'review', 'show', String(ready), '--candidates');
    expect(refused).toMatchObject({
      status: 1,
      errors: expect.stringContaining('not, or no longer, a create in doubt'),
    });
    expect((await api('?job=%0A')).status).toBe(400);

    const without = { ...stage.mirror, env: { ...stage.mirror.env, BOARD_TOKEN: 'another' } };
    const unasked = await runProgram(without, 'review', 'show', entry, '--job', same);
    expect([unasked.status, unasked.out]).toEqual([1, expect.stringContaining(`Job ${same} could not be checked, so`)]);

    await db.query(
      `insert into site_state (site, address) values ('board', 'former.example.com')
       on conflict (site) do update set address = excluded.address`,
    );
    expect([(await api()).status, (await anna.get(`/doubts/${entry}?ask=site`)).status]).toEqual([409, 409]);
    const moved = await show('--job', same);
    expect([moved.status, moved.out]).toEqual([1, '']);
    expect(moved.errors).toContain('former.example.com');
  } finally {
    await served.close();
    await stage.close();
  }
});

it('a slow site holds up only whoever asked it', async () => {
  const proxy = await openEditingProxy();
  const stage = await openStage({ site: { base_url: proxy.url, ...patientSite(600) } });
  proxy.target = stage.mirror.sandbox.url;
  const held: (() => void)[] = [];
  proxy.edit = async (_path, _method, answer) => {
    if (held.length === 0) await new Promise<void>((resolve) => held.push(resolve));
    return answer;
  };
  const served = await serve(stage.mirror);
  try {
    await stage.pull([posting('p1')]);
    const job = await makeJob(stage.mirror, jobOf(posting('p1')));
    await stage.fail('p1', 'in_doubt', 'no answer');
    const anna = await visitorOf(served, 'anna');
    const page = `/doubts/${await stage.entry('p1')}`;
    let isFirstAnswered = false;
    const first = anna.get(`${page}?ask=site&job=${job}`).then((answer) => {
      isFirstAnswered = true;
      return answer;
    });
    await vi.waitUntil(() => held.length > 0);
    for (const path of [page, `${page}?ask=site&job=${job}`]) expect((await anna.get(path)).status).toBe(200);
    expect(isFirstAnswered).toBe(false);
    held[0]?.();
    expect((await first).text).toContain('It is what was sent');
  } finally {
    held[0]?.();
    await served.close();
    await stage.close();
    await proxy.close();
  }
});

it('a job without a reference only may be what was sent if the site shows references, as for the reading of the list', async () => {
  const stage = await openStage();
  const served = await serve(stage.mirror);
  try {
    const { db } = stage.app;
    await stage.pull([posting('p1')]);
    await stage.fail('p1', 'in_doubt', 'no answer');
    const job = await makeJob(stage.mirror, without(jobOf(posting('p1')), 'number', 'location-city'));
    const likeness = async () =>
      (await served.api('GET', `review/${await stage.entry('p1')}/candidates?job=${job}`)).body.candidates[0].likeness;
    expect(await likeness()).toBe('match');
    await db.query(
      `insert into site_state (site, reference_field, reference_shown_at) values ('board', 'number', now())
       on conflict (site) do update set reference_field = excluded.reference_field, reference_shown_at = now()`,
    );
    expect(await likeness()).toBe('perhaps');
  } finally {
    await served.close();
    await stage.close();
  }
});
