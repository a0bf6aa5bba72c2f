// What counts as failing, and what as waiting for review: each rule once, and its near misses.
import { describe, expect, it } from 'vitest';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import {
  type AssessOptions,
  assessHealth,
  type FeedFacts,
  type SiteFacts,
} from '../../src/review/health/assess-health.ts';
import type { PullHistory } from '../../src/store/pull/pull-history.ts';

const SITE: SiteFacts = {
  site: siteName('board'),
  paused: false,
  pauseCause: undefined,
  refusedProcesses: [],
  moved: false,
  unreachableStreak: 0,
  onlyAsksToWait: false,
  lastMessage: undefined,
};
const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 12, minute));
const HISTORY: PullHistory = {
  feed: feedName('acme'),
  lastRunAt: at(30),
  lastComplete: { pull: 7, at: at(30) },
  recent: ['mirrored', 'mirrored', 'mirrored'],
  failure: undefined,
};
const FEED: FeedFacts = {
  feed: feedName('acme'),
  site: SITE.site,
  broken: undefined,
  role: 'configured',
  history: HISTORY,
  staleBefore: at(20),
  scheduled: true,
  late: undefined,
  ready: 0,
  unsent: 0,
  unsearched: undefined,
  undeleted: 0,
  review: 0,
  rekeyed: false,
};

function assess(site: Partial<SiteFacts>, feed: Partial<FeedFacts>, options: AssessOptions = { workers: 1 }) {
  const { failing, review } = assessHealth([{ ...SITE, ...site }], [{ ...FEED, ...feed }], options);
  return { failing: failing.map(({ kind }) => kind), review: review.map(({ message }) => message) };
}
const failed = (...recent: PullHistory['recent']): PullHistory => ({ ...HISTORY, recent, failure: 'no route' });

describe('failing', () => {
  it.each<[string, Partial<SiteFacts>, Partial<FeedFacts>, string[]]>([
    ['nothing', {}, {}, []],
    ['a paused site', { paused: true, pauseCause: '401' }, {}, ['paused']],
    ["another running process's refused token", { refusedProcesses: ['start (process 7)'] }, {}, ['paused']],
    ['a site at another address, reported once', { paused: true, moved: true }, {}, ['moved']],
    ['a site that was briefly unreachable', { unreachableStreak: 3 }, {}, []],
    ['a site that stays unreachable', { unreachableStreak: 4 }, {}, ['out_of_reach']],
    ['a site that only asks to wait', { onlyAsksToWait: true }, {}, ['out_of_reach']],
    ['one failed pull of three', {}, { history: failed('failed', 'mirrored', 'failed') }, []],
    ['three failed pulls', {}, { history: failed('failed', 'failed', 'failed') }, ['pulls_failing']],
    [
      'one failed pull of a feed without a schedule',
      {},
      { history: failed('failed', 'mirrored'), scheduled: false },
      ['pulls_failing'],
    ],
    [
      'the first pull ever, failed',
      {},
      { history: { ...failed('failed'), lastComplete: undefined }, staleBefore: undefined },
      ['pulls_failing'],
    ],
    ['incomplete pulls, the last complete one recent', {}, { history: { ...HISTORY, recent: ['incomplete'] } }, []],
    ['a stale complete pull', {}, { staleBefore: at(31) }, ['stale']],
    ['no pull', {}, { history: undefined }, ['stale']],
    ['no pull of a feed without a schedule', {}, { history: undefined, staleBefore: undefined }, []],
    ['a late run', {}, { late: 'feed acme: its run is 20 s late' }, ['late']],
    [
      'a broken feed',
      {},
      { broken: 'x', late: 'feed acme: its run is 20 s late', history: undefined, staleBefore: undefined },
      ['configuration'],
    ],
    ['creates that wait for a search of the site', {}, { unsearched: 'the list cannot be read' }, ['unsearched']],
    ['a surplus job that the site does not delete', {}, { undeleted: 1 }, ['undeleted']],
    [
      'creates that wait for a search of a paused site',
      { paused: true },
      { unsearched: 'the list cannot be read' },
      ['paused'],
    ],
    ['changes of a feed that was taken out', {}, { role: 'left', unsent: 2 }, ['left']],
    ['a feed that was taken out with nothing to send', {}, { role: 'left', staleBefore: at(31) }, []],
    ['a retired feed', {}, { role: 'other', unsent: 2, staleBefore: at(31), review: 3 }, []],
  ])('%s', (_name, site, feed, kinds) => {
    expect(assess(site, feed).failing).toEqual(kinds);
  });

  it('times as people read them', () => {
    const [stale] = assessHealth([SITE], [{ ...FEED, staleBefore: at(31) }], { workers: 1 }).failing;
    expect(stale?.message).toBe(
      'feed acme: its last complete pull was at 2026-01-01 12:30:00 UTC, and must not be older than 2026-01-01 12:31:00 UTC',
    );
  });

  it('changes that nobody sends, unless the site is paused, which is reported already', () => {
    expect(assess({}, { ready: 3 }, { workers: 0 }).failing).toEqual(['not_sent']);
    expect(assess({ paused: true }, { ready: 3 }, { workers: 0 }).failing).toEqual(['paused']);
    expect(assess({}, { ready: 3 }).failing).toEqual([]);
  });

  it('due changes that running processes do not send', () => {
    const stalled = new Set([FEED.feed]);
    expect(assess({}, {}, { workers: 1, stalled }).failing).toEqual(['stalled']);
    expect(assess({}, { ready: 3 }, { workers: 0, stalled }).failing).toEqual(['not_sent']);
    expect(assess({ moved: true }, {}, { workers: 1, stalled }).failing).toEqual(['moved']);
  });

  it('a process that has just started gets time to catch up', () => {
    expect(assess({}, { staleBefore: at(31) }, { workers: 1, runningSince: at(40) }).failing).toEqual([]);
    expect(assess({}, { staleBefore: at(31) }, { workers: 1, runningSince: at(10) }).failing).toEqual(['stale']);
  });

  it('text from sources and sites is kept apart from the public message', () => {
    const { failing } = assessHealth([{ ...SITE, paused: true, pauseCause: 'secret words' }], [], { workers: 1 });
    expect(failing).toEqual([
      { kind: 'paused', site: 'board', message: 'site board is paused', detail: 'secret words' },
    ]);
  });
});

it('entries waiting for review are not a failure', () => {
  expect(assess({}, { review: 1 })).toEqual({ failing: [], review: ['feed acme: 1 entry waits for review'] });
  expect(assess({}, { review: 3 }).review).toEqual(['feed acme: 3 entries wait for review']);
  const twins = 'feed acme: new postings wait, as they may be others under new keys';
  expect(assess({}, { twins: true })).toEqual({ failing: [], review: [twins] });
  expect(assess({}, { twins: true, review: 1 }).review).toEqual([twins, 'feed acme: 1 entry waits for review']);
  expect(assess({}, { twins: true, role: 'other' }).review).toEqual([]);
});
