// A newer version that has to wait for a create in doubt, and is then held or rejected: the review says why, whatever the doubt was about.
import { beforeEach, expect, it } from 'vitest';
import { postingKey, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import type { Attempt } from '../../src/store/change/attempt.ts';
import { adoptDoubt, findDoubt, refuteDoubt } from '../../src/store/change/doubt.ts';
import { outcomeRecorder } from '../../src/store/change/record-outcomes.ts';
import { recoverAbandoned } from '../../src/store/change/restored-database.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { acme, openStage } from './stage.ts';

const stage = openedForEach(() => openStage());
beforeEach(async () => {
  await stage.pull(postings(4));
});

const REST = postings(4).slice(1);
const INVALID = [posting('p1', { state: 'Jalisco' }), ...REST];
const WITH_UNREADABLE = feedXml(REST).replace('</source>', '<job><title>no key</title></job></source>');

/** The create of p1 is sent, and nobody learns its outcome: the worker dies, or the answer is lost. */
const LOSSES: readonly [string, (attempt: Attempt) => Promise<unknown>][] = [
  [
    'its worker dies',
    () => recoverAbandoned(stage.app.db, siteName('board'), { deadlineMs: 60_000, mayLandMs: 0, mostTries: 10 }),
  ],
  [
    'its answer is lost',
    (attempt) => {
      const reason = { kind: 'unknown', message: 'a timeout', problems: [] };
      const result = { kind: 'returned', back: { to: 'in_doubt', reason } } as const;
      return outcomeRecorder(stage.app.db)({ attempt, result, record: undefined });
    },
  ],
];

async function doubt() {
  const found = await findDoubt(stage.app.db, acme, postingKey('p1'));
  if (found === undefined) throw new Error('p1 is not in doubt');
  return found;
}
const change = async () => {
  const [row] = await stage.app.db.query(
    `select state, reason->>'kind' as kind, reason->'target'->>'kind' as target from change where key = 'p1'`,
  );
  return row;
};

it.each(LOSSES)('a version that breaks a rule, if %s after it came', async (_when, lose) => {
  const attempt = await stage.claim('p1');
  await stage.pull(INVALID);
  await lose(attempt);
  expect(await change()).toMatchObject({ state: 'in_doubt', target: 'rules' });
  await refuteDoubt(stage.app.db, await doubt(), 5);
  expect(await change()).toEqual({ state: 'rejected', kind: 'rules', target: null });
});

it.each(LOSSES)('a version that breaks a rule, if %s before it comes', async (_when, lose) => {
  await lose(await stage.claim('p1'));
  const before = await change();
  await stage.pull(INVALID);
  expect(await change()).toEqual({ ...before, target: 'rules' });
  const { attempt } = await doubt();
  const adopted = { fields: attempt.accepted.fields, uncertain: [], isProven: true };
  await adoptDoubt(stage.app.db, await doubt(), siteJobId('job-p1'), undefined, adopted);
  expect(await change()).toEqual({ state: 'rejected', kind: 'rules', target: null });
});

it.each(LOSSES)(
  'a delete that an unreadable record holds, if %s: once the feed is whole, it is released',
  async (_when, lose) => {
    const attempt = await stage.claim('p1');
    await stage.acceptAll();
    await stage.pull(REST);
    await stage.pull(WITH_UNREADABLE);
    await lose(attempt);
    const { accepted } = (await doubt()).attempt;
    const adopted = { fields: accepted.fields, uncertain: [], isProven: true };
    await adoptDoubt(stage.app.db, await doubt(), siteJobId('job-p1'), undefined, adopted);
    expect(await change()).toEqual({ state: 'held', kind: 'unreadable', target: null });
    await stage.pull(REST);
    expect(await change()).toMatchObject({ state: 'ready' });
  },
);
