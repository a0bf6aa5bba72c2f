// Waiting for quiet, with the database's answers given check by check.
import { afterEach, expect, it, vi } from 'vitest';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import type { App } from '../../src/runtime/app.ts';
import { awaitSending } from '../../src/runtime/await-quiet.ts';
import type { Engine } from '../../src/runtime/engine.ts';
import * as progresses from '../../src/store/backlog/backlog.ts';
import * as siteState from '../../src/store/site/site-state.ts';

vi.mock('../../src/store/backlog/backlog.ts');
vi.mock('../../src/store/site/site-state.ts');
// Nobody has paused anything, and no feed is new here.
vi.mock('../../src/store/locks/pauses.ts', () => ({ listPauses: async () => [] }));
vi.mock('../../src/store/change/site-search.ts', () => ({
  databaseTime: async () => new Date(),
  openSearches: async () => [],
}));

const app = { db: {} } as App;
const self = { worker: 1, startedAt: new Date() };
const engine = { self, siteContexts: new Map() } as unknown as Engine;
const feedProgress = (sending: boolean): progresses.Progress => ({
  due: true,
  sending,
  inDoubt: false,
  nextDueMs: undefined,
  recorded: 0,
});
const state = (pausedSince: Date | undefined) =>
  ({ pausedSince, pauseCause: 'it refuses', unreachableStreak: 0, waitsMs: 0 }) as siteState.SiteState;

it('reports a pause only after attempts that started just before it have ended', async () => {
  const listChecks = [
    { sending: false, pausedSince: undefined },
    // A request started and the pause came between the two queries of this check.
    { sending: false, pausedSince: new Date() },
    { sending: true, pausedSince: new Date() },
    { sending: false, pausedSince: new Date() },
  ];
  let check = -1;
  vi.mocked(progresses.readProgress).mockImplementation(async () => {
    check++;
    return feedProgress(listChecks[check]?.sending ?? fail());
  });
  vi.mocked(siteState.readSiteState).mockImplementation(async () => state(listChecks[check]?.pausedSince));
  const rest = await awaitSending(app, engine, siteName('board'), [feedName('acme')], {
    signal: new AbortController().signal,
  });
  expect(rest).toMatchObject({
    kind: 'waiting',
    message: { text: 'site board is paused: it refuses', next: [{ action: { kind: 'resume_site', site: 'board' } }] },
  });
  expect(check).toBe(3);
});

it('gives up on a site that does not answer only once it was asked anew', async () => {
  const streaks = [9, 9, 9, 10];
  let check = -1;
  vi.mocked(progresses.readProgress).mockImplementation(async () => {
    check++;
    return feedProgress(false);
  });
  const lastMessage = 'refused';
  vi.mocked(siteState.readSiteState).mockImplementation(async () => ({
    ...state(undefined),
    unreachableStreak: streaks[check] ?? fail(),
    waitsMs: 7_000,
    lastMessage,
  }));
  const rest = await awaitSending(app, engine, siteName('board'), [feedName('acme')], {
    signal: new AbortController().signal,
  });
  expect(rest).toEqual({
    kind: 'waiting',
    message: 'site board is unreachable: refused. The next run sends the rest',
  });
  expect(check).toBe(3);
});

afterEach(() => {
  vi.useRealTimers();
});

it('does not wait without end for a request that no process ends', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const from = performance.now();
  vi.mocked(progresses.readProgress).mockImplementation(async () => feedProgress(true));
  vi.mocked(siteState.readSiteState).mockImplementation(async () => state(undefined));
  const waiting = awaitSending(app, engine, siteName('board'), [feedName('acme')], {
    signal: new AbortController().signal,
  });
  await vi.advanceTimersByTimeAsync(12 * 60_000);
  expect(await waiting).toMatchObject({
    kind: 'waiting',
    message: { text: expect.stringMatching(/^no progress for 60\d s/), next: [{ action: { kind: 'show_status' } }] },
  });
  expect(performance.now() - from).toBeGreaterThan(10 * 60_000);
});

it('says of a site that has only asked to wait that it has', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.mocked(progresses.readProgress).mockImplementation(async () => feedProgress(false));
  let checks = 0;
  // It is asked now and then, and does not say for how long it wants to be left alone.
  const waits = () => (++checks % 2 === 0 ? 1_000 : 0);
  vi.mocked(siteState.readSiteState).mockImplementation(async () => ({
    ...state(undefined),
    waitsMs: waits(),
    askedToWaitMsAgo: 40_000,
  }));
  const waiting = awaitSending(app, engine, siteName('board'), [feedName('acme')], {
    signal: new AbortController().signal,
  });
  await vi.advanceTimersByTimeAsync(6 * 60_000);
  expect(await waiting).toEqual({
    kind: 'waiting',
    message: expect.stringMatching(
      /^site board has asked to wait, again and again, for 18\d s\. The next run sends the rest$/,
    ),
  });
});

/** A site whose list is checked 2.5 s after a create became a doubt. */
const listing = {
  self,
  siteContexts: new Map([
    [
      'board',
      {
        tokenDigest: 'its token',
        policy: { canList: true, timeoutMs: 2_000, doubts: { resolveAfterMs: 2_500, listChecks: 2 } },
      },
    ],
  ]),
} as unknown as Engine;

/** Waits while the database reports doubts with `progress`, until it reports none. Returns the seconds. */
async function secondsOfDoubt(
  progress: (seconds: number) => Omit<progresses.DoubtProgress, 'due'> & { readonly due?: number },
): Promise<number> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const from = performance.now();
  const seconds = () => Math.floor((performance.now() - from) / 1000);
  vi.mocked(progresses.readProgress).mockImplementation(async () => ({
    ...feedProgress(false),
    due: false,
    inDoubt: progress(seconds()).open > 0,
  }));
  vi.mocked(siteState.readSiteState).mockImplementation(async () => state(undefined));
  vi.mocked(progresses.readDoubtProgress).mockImplementation(async () => ({ due: 0, ...progress(seconds()) }));
  const waiting = awaitSending(app, listing, siteName('board'), [feedName('acme')], {
    signal: new AbortController().signal,
  });
  let ended = false;
  void waiting.finally(() => {
    ended = true;
  });
  while (!ended) await vi.advanceTimersByTimeAsync(1_000);
  expect(await waiting).toEqual({ kind: 'quiet' });
  return seconds();
}

it('waits for doubts while they are checked, however slowly', async () => {
  const slowly = (seconds: number) => ({
    open: seconds < 100 ? 2 : 0,
    explained: 0,
    mark: `${Math.floor(seconds / 40)}`,
  });
  expect(await secondsOfDoubt(slowly)).toBeGreaterThanOrEqual(100);
});

it('leaves doubts to a person after several checks that only explain why they remain', async () => {
  const explained = (since: number) => (seconds: number) => ({
    open: 2,
    explained: seconds < since ? 1 : 2,
    mark: `${Math.floor(seconds / 40)}`,
  });
  const ofThisRun = await secondsOfDoubt(explained(40));
  expect(ofThisRun).toBeGreaterThan(110);
  expect(ofThisRun).toBeLessThan(130);
  // One of each doubt tells that the reasons of an earlier run still hold.
  const ofEarlierRun = (seconds: number) => ({ ...explained(0)(seconds), due: seconds < 60 ? 1 : 0 });
  const again = await secondsOfDoubt(ofEarlierRun);
  expect(again).toBeGreaterThanOrEqual(60);
  expect(again).toBeLessThan(65);
});

it('waits for doubts with reasons of an earlier run while their number falls', async () => {
  const falling = (seconds: number) => {
    const open = Math.max(0, 12 - Math.floor(seconds / 10));
    return { open, explained: open, mark: `${open}` };
  };
  expect(await secondsOfDoubt(falling)).toBeGreaterThanOrEqual(120);
});

it('leaves doubts that nobody checks to the next run', async () => {
  const unchecked = () => ({ open: 2, explained: 0, mark: 'the same' });
  expect(await secondsOfDoubt(unchecked)).toBeLessThan(200);
  // Another process's refused token does not pause this one.
  expect(new Set(vi.mocked(siteState.readSiteState).mock.lastCall)).toContain('its token');
});

const fail = (): never => {
  throw new Error('it checked once more than necessary');
};
