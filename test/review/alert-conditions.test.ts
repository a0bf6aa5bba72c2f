// Which alerts are open, case by case.
import { expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { textOf } from '../../src/plan/message.ts';
import type { PauseSubject, PersonsPause } from '../../src/plan/pause-words.ts';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import { type AlertFacts, alertConditions, pageOfAlert, recoveryOf } from '../../src/review/health/alert-conditions.ts';
import type { HealthCondition } from '../../src/review/health/assess-health.ts';
import type { ChangeGauge } from '../../src/store/status/gauges.ts';
import { ALERT_KINDS } from '../../src/telemetry/alert-message.ts';
import { pageAddress } from '../../src/web/pages/parts/addresses.ts';

const [acme, board] = [feedName('acme'), siteName('board')];
const config = { sites: new Map([[board, { doubts: { escalateAfterMs: 3_600_000 } }]]) } as unknown as Config;
const change = (state: ChangeGauge['state'], n: number, age = 10): ChangeGauge => ({
  feed: acme,
  site: board,
  state,
  n,
  age,
  since: 1_800_000_000 - age,
});
const pull = (size: number | null, seen = size): AlertFacts['pulls'][number] => ({
  feed: acme,
  site: board,
  startedAt: 0,
  status: 'mirrored',
  completeAt: 0,
  size,
  seen,
  durationMs: 1,
  outcomes: null,
});
const paused = (subject: PauseSubject): PersonsPause => ({
  ...subject,
  id: 1,
  since: new Date(0),
  until: undefined,
  actor: 'ana',
  reason: undefined,
  stopsPulls: false,
});
const largest = { n: 6, kind: 'rejected', field: 'title', message: 'is missing' } as const;
const ofFeed = (kind: HealthCondition['kind']): HealthCondition => ({ kind, feed: acme, message: 'it fails' });
const ofSite = (kind: HealthCondition['kind']): HealthCondition => ({ kind, site: board, message: 'it fails' });

const CASES: readonly (readonly [string, Partial<AlertFacts>, readonly string[]])[] = [
  ['nothing fails or waits', { changes: [change('ready', 100, 1e6), change('sending', 1)] }, []],
  ['a paused site', { failing: [ofSite('paused')] }, ['paused site board']],
  ['a moved site counts as paused', { failing: [ofSite('moved'), ofSite('paused')] }, ['paused site board']],
  ['a feed that a person has paused', { pauses: [paused({ feed: acme })] }, ['paused feed acme']],
  ['everything paused by a person', { pauses: [paused({})] }, ['paused site board']],
  ['an unreachable site', { failing: [ofSite('out_of_reach')] }, ['unreachable site board']],
  ['failing pulls', { failing: [ofFeed('pulls_failing')] }, ['feed_failed feed acme']],
  ['a surplus job that the site does not delete', { failing: [ofFeed('undeleted')] }, ['feed_failed feed acme']],
  ['a search of the site that fails', { failing: [ofFeed('unsearched')] }, ['feed_failed feed acme']],
  ['a wrong configuration', { failing: [ofFeed('configuration')] }, ['feed_failed feed acme']],
  ['no complete pull in time', { failing: [ofFeed('stale')] }, ['overdue feed acme']],
  ['what passes or repeats', { failing: [ofFeed('late'), ofFeed('not_sent'), ofFeed('left')] }, []],
  ['held changes', { changes: [change('held', 3)] }, ['held feed acme']],
  ['keys that seem to have changed', { rekeyed: [acme] }, ['held feed acme']],
  ['the same with held deletes', { rekeyed: [acme], changes: [change('held', 3)] }, ['held feed acme']],
  ['changes held for too long', { changes: [change('held', 3, 3_601)] }, ['held feed acme', 'escalation feed acme']],
  ['a new doubt may resolve', { changes: [change('in_doubt', 1, 3_599)] }, []],
  ['an old doubt', { changes: [change('in_doubt', 1, 3_601)] }, ['in_doubt feed acme']],
  ['a tenth rejected', { changes: [change('rejected', 10)], pulls: [pull(100)] }, []],
  ['more than a tenth', { changes: [change('rejected', 11)], pulls: [pull(100)] }, ['rejected_share feed acme']],
  [
    'few of a feed of which the newest pull saw little',
    { changes: [change('rejected', 10)], pulls: [pull(100, 12)] },
    [],
  ],
  ['few postings, all rejected', { changes: [change('rejected', 5)], pulls: [pull(5)] }, []],
  ['rejected ones of a feed that was emptied', { changes: [change('rejected', 11)], pulls: [pull(0)] }, []],
  ['rejected ones of a feed without a pull', { changes: [change('rejected', 11)] }, []],
  ['a new group', { newGroups: [{ feed: acme, n: 1, since: 1_800_000_000, largest }] }, ['new_group feed acme']],
];

it.each(CASES)('%s', (_name, facts, expected) => {
  const open = alertConditions(
    { failing: [], changes: [], pulls: [], newGroups: [], rekeyed: [], heldOffers: new Map(), ...facts },
    config,
    10,
  );
  expect(open.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual(expected);
  for (const { message } of open) expect(textOf(message)).not.toBe('');
});

it('of several failures of a feed, the most important is told', () => {
  const failing = [
    { ...ofFeed('pulls_failing'), message: 'its last pull failed' },
    { ...ofFeed('undeleted'), message: 'a job is not deleted' },
  ];
  const facts = { failing, changes: [], pulls: [], newGroups: [], rekeyed: [], heldOffers: new Map() };
  expect(alertConditions(facts, config, 10)).toMatchObject([{ kind: 'feed_failed', message: 'its last pull failed' }]);
});

it('every alert can end', () => {
  const ends = ALERT_KINDS.map((kind) => recoveryOf(kind, 'feed acme'));
  expect(new Set(ends).size).toBe(ALERT_KINDS.length);
});

it('an alert that ends because a person has paused its feed does not claim that its cause is gone', () => {
  expect(recoveryOf('overdue', 'feed acme', true)).toBe('feed acme: not watched while a person has paused it');
  expect(recoveryOf('paused', 'feed acme', true)).toBe('feed acme is no longer paused');
});

it('every alert has a page', () => {
  const { feed, held, doubts, review, site } = pageAddress;
  const pages = new Set([feed('acme'), held('acme'), doubts('acme'), review({ feed: 'acme' })]);
  expect(new Set(ALERT_KINDS.map((kind) => pageOfAlert(kind, 'feed acme')))).toEqual(pages);
  expect(pageOfAlert('paused', 'site board')).toBe(site('board'));
});
