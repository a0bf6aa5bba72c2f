// What happens to a change after each outcome.
import { describe, expect, it } from 'vitest';
import { resultOf } from '../../src/apply/record-outcome.ts';
import { feedName, postingKey, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import type { Outcome } from '../../src/site/exchange.ts';
import type { Attempt } from '../../src/store/change/attempt.ts';

const policy = {
  retry: { attempts: 3, firstDelayMs: 1_000, maxDelayMs: 10_000 },
  onMissing: 'create',
  referenceField: 'number',
  doubts: { resolveAfterMs: 60_000, listChecks: 2, escalateAfterMs: 3_600_000 },
} as const;
const id = siteJobId('7');
const REQUESTS = {
  create: { kind: 'create', fields: { title: 'Nurse' } },
  update: { kind: 'update', siteJobId: id, fields: { title: 'Nurse' } },
  delete: { kind: 'delete', siteJobId: id },
} as const;

const attempt = (operation: keyof typeof REQUESTS, number = 1): Attempt => ({
  feed: feedName('acme'),
  key: postingKey('k'),
  site: siteName('board'),
  token: 'a',
  number,
  pull: 1,
  revision: 1,
  request: REQUESTS[operation],
  accepted: undefined,
  approved: false,
});

const OUTCOMES: Readonly<Record<Outcome['kind'], Outcome>> = {
  created: { kind: 'created', siteJob: { siteJobId: id, url: 'http://site/jobs/7', fields: {} } },
  accepted: { kind: 'accepted' },
  gone: { kind: 'gone' },
  rejected: { kind: 'rejected', problems: [{ field: 'title', message: 'is too long' }, { message: 'is odd' }] },
  set_up: { kind: 'set_up', problems: [{ message: 'no CSRF token' }] },
  forbidden: { kind: 'forbidden', problems: [{ message: 'not yours' }] },
  unauthorized: { kind: 'unauthorized' },
  throttled: { kind: 'throttled', retryAfterMs: 4_000 },
  unreachable: { kind: 'unreachable', message: 'refused' },
  unknown: { kind: 'unknown', message: 'timed out' },
  foreign: { kind: 'foreign', message: 'number is another' },
  unconfirmed: { kind: 'unconfirmed', message: 'not shown' },
  misconfigured: { kind: 'misconfigured', message: 'redirects' },
};

const back = (to: string, more: object = {}) => ({ kind: 'returned', back: { to, ...more } });
const CREATED = { kind: 'created', siteJobId: '7', url: 'http://site/jobs/7', evidence: { shown: {}, asked: false } };
const LATER = back('ready', { counted: true, delayMs: 750 });

describe('resultOf', () => {
  it.each([
    ['created', 'create', CREATED],
    ['created', 'update', { kind: 'updated' }],
    ['accepted', 'create', back('in_doubt')],
    ['accepted', 'update', { kind: 'updated' }],
    ['accepted', 'delete', { kind: 'deleted' }],
    ['foreign', 'update', { kind: 'disowned', reason: { kind: 'foreign' } }],
    ['foreign', 'delete', { kind: 'deleted', isOthers: true }],
    ['gone', 'create', back('failed')],
    ['gone', 'update', { kind: 'vanished' }],
    ['gone', 'delete', { kind: 'deleted' }],
    ['rejected', 'create', back('rejected', { reason: { kind: 'rejected', message: 'title: is too long; is odd' } })],
    ['rejected', 'update', back('rejected')],
    ['set_up', 'create', back('ready', { counted: false, reason: { kind: 'set_up', message: 'no CSRF token' } })],
    ['forbidden', 'update', back('failed', { reason: { kind: 'forbidden' } })],
    ['unauthorized', 'create', back('ready', { counted: false, delayMs: 0 })],
    ['throttled', 'create', back('ready', { counted: false, delayMs: 4_000 })],
    ['unreachable', 'create', back('ready', { counted: false })],
    ['unknown', 'create', back('in_doubt', { reason: { kind: 'unknown', message: 'timed out' } })],
    ['unknown', 'update', LATER],
    ['unknown', 'delete', LATER],
    ['unconfirmed', 'delete', LATER],
    ['misconfigured', 'create', LATER],
    ['misconfigured', 'update', LATER],
  ] as const)('%s on %s', (kind, operation, expected) => {
    expect(resultOf(OUTCOMES[kind], attempt(operation), policy, 0.5)).toMatchObject(expected);
  });

  it('records that an update refused only by a word in the answer may have been done', () => {
    const doubtful = { ...OUTCOMES.rejected, perhapsDone: true } as Outcome;
    expect(resultOf(doubtful, attempt('update'), policy)).toMatchObject(back('rejected', { mayLandMs: 0 }));
    expect(resultOf(OUTCOMES.rejected, attempt('update'), policy)).not.toMatchObject(
      back('rejected', { mayLandMs: 0 }),
    );
  });

  it.each([
    ['rejected', 99, {}],
    ['unknown', 99, { mayLandMs: 60_000 }],
  ] as const)('on %s, waits for the list if the site seems not to have the job', (kind, number, landing) => {
    const denied = { ...OUTCOMES[kind], denied: 'open' } as Outcome;
    const waits = back('ready', { counted: true, delayMs: 25_000, reason: { kind, denied: 'open' }, ...landing });
    for (const operation of ['update', 'delete'] as const)
      expect(resultOf(denied, attempt(operation, number), policy)).toMatchObject(waits);
    const maybe = { ...denied, perhapsDone: true } as Outcome;
    expect(resultOf(maybe, attempt('update'), policy)).toHaveProperty('back.mayLandMs');
  });

  it('does not take a delete that was not sent for one that may have been done', () => {
    const [first, last] = [1, 3].map((number) => resultOf(OUTCOMES.unconfirmed, attempt('delete', number), policy));
    expect([first, last]).toMatchObject([back('ready'), back('failed', { reason: { kind: 'unconfirmed' } })]);
    for (const result of [first, last]) expect(result).not.toHaveProperty('back.mayLandMs');
  });

  it.each(['unknown', 'misconfigured'] as const)('gives up on %s after the last attempt', (kind) => {
    expect(resultOf(OUTCOMES[kind], attempt('update', 2), policy)).toMatchObject(back('ready'));
    expect(resultOf(OUTCOMES[kind], attempt('update', 3), policy)).toMatchObject(back('failed'));
  });

  it('never gives up a create in doubt, whatever the attempt number', () => {
    expect(resultOf(OUTCOMES.unknown, attempt('create', 99), policy)).toMatchObject(back('in_doubt'));
  });

  it('leaves a missing job alone if configured so', () => {
    const leaving = { ...policy, onMissing: 'leave' } as const;
    expect(resultOf(OUTCOMES.gone, attempt('update'), leaving)).toMatchObject(back('rejected'));
    expect(resultOf(OUTCOMES.gone, attempt('delete'), leaving)).toMatchObject({ kind: 'deleted' });
  });

  it('waits the first delay if the site asks to wait without saying how long', () => {
    expect(resultOf({ kind: 'throttled' }, attempt('create'), policy)).toMatchObject(back('ready', { delayMs: 1_000 }));
  });
});
