// Stop and go on, through the command line, the API and the pages: the same states, words and refusals, each of them audited.
import { expect, it } from 'vitest';
import type { SiteName } from '../../src/posting/identifiers.ts';
import { pauseSite } from '../../src/store/site/site-state.ts';
import { runProgram, spawnProgram } from '../cli/run-program.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { visitorOf } from './form-visitor.ts';
import { serve } from './served.ts';

const mirror = openedForEach(() => openMirror());
const served = openedForEach(() => serve(mirror, { sends: true, requestsPerMinute: 100_000 }));

const audited = () =>
  served.app.db.query<{ actor: string; action: string; feed: string | null; detail: object }>(
    `select actor, action, feed, detail from audit where action in ('pause', 'end pause') order by id`,
  );
interface FeedLine {
  readonly pauses: readonly { readonly id: number; readonly until: string | null }[];
  readonly failing: readonly string[];
}
const feedNow = async (): Promise<FeedLine> => (await served.api('GET', 'feeds/acme')).body as FeedLine;

it('pauses a feed, a site and everything, and ends each, by command, API and page', async () => {
  await mirror.writeFeed(feedXml(postings(2)));
  // The command line: a feed, until a time.
  const paused = await runProgram(
    mirror,
    'pause',
    'acme',
    '--reason',
    'prices are wrong',
    '--until',
    '3d',
    '--as',
    'ana',
  );
  expect(paused).toMatchObject({ status: 0, errors: '' });
  expect(paused.out).toMatch(
    /^Feed acme is paused by ana since .* UTC, until .* UTC: prices are wrong; to go on, run: .*resume acme --of feed/,
  );
  const sync = await runProgram(mirror, 'sync');
  expect([sync.status, sync.out]).toEqual([
    2,
    expect.stringMatching(/acme: paused, not all sent: 2 seen, 2 still to send/),
  ]);
  expect(sync.out).toContain('prices are wrong');
  expect((await mirror.siteJobs()).size).toBe(0);
  const check = await runProgram(mirror, 'status', '--check');
  expect([check.status, check.out]).toEqual([2, expect.stringContaining('PAUSED: feed acme is paused by ana')]);
  const status = await runProgram(mirror, 'status', '--check', '--json');
  expect(status.json().at(-1)).toMatchObject({
    status: 'review',
    failing: [],
    review: [{ condition: 'paused_by_person', feed: 'acme' }],
  });

  // The API: a site, whose new feeds are paused with it; then the feed goes on, but the site does not.
  const answer = await served.api('POST', 'pause', { site: 'board', pulls: true });
  expect(answer).toMatchObject({
    status: 200,
    body: { changed: false, in_flight: 0, pause: { site: 'board', feed: null, pulls: true } },
  });
  expect((await served.api('GET', 'sites')).body).toMatchObject({ items: [{ state: 'stopped', paused_since: null }] });
  expect(await served.api('POST', 'feeds/acme/pulls')).toMatchObject({
    status: 409,
    body: { detail: expect.stringContaining('site board is paused by token reviewer') },
  });
  const [, acme] = (await feedNow()).pauses;
  expect(await served.api('POST', 'resume', { feed: 'acme', pause: (acme?.id ?? 0) + 1 })).toMatchObject({
    status: 409,
  });
  expect(await served.api('POST', 'resume', { feed: 'acme', pause: acme?.id })).toMatchObject({
    status: 200,
    body: { ended: { feed: 'acme' }, still: [expect.stringContaining('site board is paused by token reviewer')] },
  });
  expect((await mirror.siteJobs()).size).toBe(0);

  // The pages: everything; only those who may review.
  const ben = await visitorOf(served, 'ben');
  expect((await ben.get('/pause')).text).not.toContain('<button type="submit" class="main">');
  expect((await ben.post('/pause', { all: 'true' })).status).toBe(403);
  const anna = await visitorOf(served, 'anna');
  expect((await anna.get('/')).text).toContain('Stop everything');
  const stopped = await anna.press(await anna.get('/pause'), 'Stop everything', { reason: 'audit', until: '2h' });
  expect([stopped.status, stopped.text]).toEqual([
    200,
    expect.stringMatching(/Everything is paused by anna .*: audit/),
  ]);
  expect((await anna.get('/jobs')).text).toContain('Everything is paused by anna');
  const site = await anna.press(await anna.get('/sites/board'), 'Resume site board');
  expect(site.status).toBe(200);
  expect(await feedNow()).toMatchObject({ failing: [], pauses: [{ site: null, feed: null, reason: 'audit' }] });
  expect((await mirror.siteJobs()).size).toBe(0);
  expect((await anna.press(await anna.get('/pause'), 'Resume everything')).status).toBe(200);
  await expect.poll(async () => (await mirror.siteJobs()).size).toBe(2);
  expect(await audited()).toMatchObject([
    { actor: 'ana', action: 'pause', feed: 'acme', detail: { reason: 'prices are wrong' } },
    { actor: 'token reviewer', action: 'pause', feed: null, detail: { site: 'board', pulls: true } },
    { actor: 'token reviewer', action: 'end pause', feed: 'acme' },
    { actor: 'anna', action: 'pause', feed: null, detail: { all: true, reason: 'audit' } },
    { actor: 'anna', action: 'end pause', detail: { site: 'board' } },
    { actor: 'anna', action: 'end pause', detail: { all: true } },
  ]);
});

it('ends each pause by its own resume: that of a person first, then that of the program', async () => {
  await served.app.db.query(`insert into site_state (site) values ('board') on conflict do nothing`);
  await pauseSite(served.app.db, 'board' as SiteName, 'the site refused everything', undefined);
  await runProgram(mirror, 'pause', 'board');
  const status = await runProgram(mirror, 'status', '--check', '--json');
  expect(status.json().at(-1)).toMatchObject({ status: 'failing', failing: [{ condition: 'paused', site: 'board' }] });
  const first = await runProgram(mirror, 'resume', 'board');
  expect(first).toMatchObject({ status: 0, errors: '' });
  expect(first.out).toMatch(
    /^The pause of site board is ended\.\nStill: site board is paused by the program; once its cause is gone, run: /,
  );
  const [program] = await served.app.db.query('select paused_since is null as over from site_state');
  expect(program).toEqual({ over: false });
  // What is about the program's pause leaves that of a person.
  await runProgram(mirror, 'pause', 'board');
  const second = await runProgram(mirror, 'resume', 'board', '--emptied', '--json');
  expect(second.json()).toMatchObject([
    { site: 'board', was_paused: true, still: [expect.stringContaining('site board is paused by')] },
  ]);
  expect((await runProgram(mirror, 'resume', 'board', '--json')).json()).toMatchObject([
    { ended: { site: 'board' }, still: [] },
  ]);
  expect((await runProgram(mirror, 'resume', 'board')).out).toBe('Site board was not paused.\n');
});

it('names what the other resume ends: the stop of an undo, and the pause of a person', async () => {
  const { pull } = await mirror.syncOf(postings(2));
  expect(await runProgram(mirror, 'undo', String(pull), '--yes')).toMatchObject({ status: 0 });
  const stopped = new RegExp(`^Still: feed acme is not pulled since pull ${pull} was undone .* feeds resume acme`, 'm');
  await runProgram(mirror, 'pause', 'board');
  for (const named of ['acme', 'board', '--all']) {
    expect((await runProgram(mirror, 'resume', named)).out).toMatch(stopped);
  }
  await runProgram(mirror, 'pause', 'acme');
  const resumed = await runProgram(mirror, 'feeds', 'resume', 'acme');
  expect(resumed.out).toMatch(/^Feed acme is pulled again: .*\nStill: feed acme is paused by .* resume acme --of feed/);
  expect(await served.api('POST', 'feeds/acme/resume', {})).toMatchObject({
    status: 200,
    body: { resumed: false, still: [expect.stringContaining('feed acme is paused by')] },
  });
  expect((await runProgram(mirror, 'resume', 'acme')).out).toMatch(/^Feed acme is resumed: /);
});

it('reads and shows the times of a pause in the zone of the machine', async () => {
  const there = { ...mirror, env: { ...mirror.env, TZ: 'America/New_York' } };
  const paused = await spawnProgram(there, 'pause', 'acme', '--until', '2999-12-24 18:00');
  expect(paused.out).toContain(', until 2999-12-24 18:00:00 EST');
  expect((await feedNow()).pauses).toMatchObject([{ until: '2999-12-24T23:00:00.000Z' }]);
});

it('tells in the activity that a pause ended by its time, once, also after what follows it', async () => {
  const { db } = served.app;
  const endNow = () => db.query(`update pause set until = now() - interval '1 minute'`);
  const ends = async () =>
    ((await served.api('GET', 'activity/actions')).body.items as { action: string }[]).filter(
      ({ action }) => action === 'end pause',
    );
  const byItself = { kind: 'program', actor: null, feed: 'acme', detail: { reason: 'its time was over' } };
  await runProgram(mirror, 'pause', 'acme', '--until', '2h');
  expect(await ends()).toEqual([]);
  await endNow();
  expect(await ends()).toMatchObject([byItself]);
  await runProgram(mirror, 'pause', 'acme', '--until', '2h');
  expect(await ends()).toMatchObject([byItself]);
  await endNow();
  expect((await runProgram(mirror, 'resume', 'acme')).out).toContain('Nobody had paused it');
  expect(await ends()).toMatchObject([byItself, byItself]);
  expect((await runProgram(mirror, 'activity', 'acme')).out).toMatch(/ - +end pause +acme .*reason: its time was over/);
  const anna = await visitorOf(served, 'anna');
  expect((await anna.get('/activity?feed=acme')).text.match(/its time was over/g)).toHaveLength(2);
});

it('shows a pause of a feed on the pages of its site, pulls, queues, postings and deletes; not on those of others', async () => {
  await mirror.syncOf(postings(1));
  await runProgram(mirror, 'pause', 'acme', '--reason', 'prices');
  const anna = await visitorOf(served, 'anna');
  const shows = async (path: string) => (await anna.get(path)).text.includes('Feed acme is paused by');
  for (const path of ['/sites/board', '/pulls', '/pulls?feed=acme', '/pulls/1', '/queues', '/feed?feed=acme']) {
    expect([path, await shows(path)]).toEqual([path, true]);
  }
  for (const path of ['/posting?feed=acme&key=p1', '/held?feed=acme', '/review/entries', '/pause?feed=acme']) {
    expect([path, await shows(path)]).toEqual([path, true]);
  }
  for (const path of ['/configuration', '/changes']) expect([path, await shows(path)]).toEqual([path, false]);
  expect((await anna.press(await anna.get('/sites/board'), 'Resume feed acme')).status).toBe(200);
  expect(await shows('/pulls')).toBe(false);
});

it('reads nothing while the pulls are paused, and pulls again afterwards', async () => {
  await mirror.writeFeed(feedXml(postings(1)));
  await runProgram(mirror, 'pause', 'acme', '--pulls');
  const sync = await runProgram(mirror, 'sync', '--json');
  expect([sync.status, sync.json()]).toMatchObject([2, [{ pull: null, status: 'pending', paused: true, seen: 0 }]]);
  expect((await feedNow()).failing).toEqual([]);
  const anna = await visitorOf(served, 'anna');
  expect((await anna.get('/feed?feed=acme')).text).not.toContain('Pull acme now');
  // A change of the pause keeps what the form has, its end too; who saw the former pause does not end the changed one.
  await runProgram(mirror, 'pause', 'acme', '--pulls', '--until', '2999-12-24T18:00:00.200+01:00');
  const before = await anna.get('/pause?feed=acme');
  await anna.press(before, 'Pause feed acme otherwise', { reason: 'other prices' });
  expect(await feedNow()).toMatchObject({
    pauses: [{ reason: 'other prices', pulls: true, until: '2999-12-24T17:00:01.000Z' }],
  });
  expect((await anna.press(before, 'Resume feed acme')).status).toBe(409);
  await runProgram(mirror, 'resume', 'acme');
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 1 });
});

it('a decision about an entry of a paused feed waits, and says so', async () => {
  await mirror.syncOf([posting('bad', { state: 'Jalisco' })]);
  await runProgram(mirror, 'pause', '--all');
  const edit = await runProgram(mirror, 'review', 'edit', 'acme', 'bad', '--set', 'location-state=Ohio');
  expect([edit.status, edit.errors]).toEqual([2, expect.stringContaining('What is ready to be sent waits for that')]);
  expect((await mirror.siteJobs()).size).toBe(0);
  await runProgram(mirror, 'resume', '--all');
  await mirror.sync();
  expect((await mirror.siteJobs()).size).toBe(1);
});

it.each([
  [['pause', 'acmee'], 'there is no site or feed acmee; did you mean acme? (sites: board; feeds: acme)'],
  [['pause', 'acme', '--of', 'site'], 'there is no site acme (sites: board)'],
  [['pause'], 'name a feed or a site, or say --all'],
  [['pause', 'acme', '--all'], 'name a feed or a site, or say --all'],
  [['pause', 'acme', '--until', '2020-01-01'], 'until 2020-01-01 is in the past: nothing was paused'],
  [['pause', 'acme', '--until', '2999-02-30 18:00'], 'must be a duration such as 2h or 3d, or a time such as'],
  [['pause', 'acme', '--until', 'soon'], 'must be a duration such as 2h or 3d, or a time such as 2026-12-24 18:00'],
])('refuses %j', async (command, message) => {
  const refused = await runProgram(mirror, ...command);
  expect([refused.status, refused.errors]).toEqual([1, expect.stringContaining(message)]);
  expect(await audited()).toEqual([]);
});
