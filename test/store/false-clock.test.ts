// The clock of the database was ahead for a while, and is right again: what was written meanwhile holds nothing up until that time comes.
import { describe, expect, it } from 'vitest';
import { feedName, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import { resolveEntry } from '../../src/review/resolve-entry.ts';
import { dueDoubts } from '../../src/store/change/doubt.ts';
import { outcomeRecorder } from '../../src/store/change/record-outcomes.ts';
import { endFarWaits } from '../../src/store/change/restored-database.ts';
import { anyDue, restingDetails } from '../../src/store/pull/stored-details.ts';
import { openUnattended } from '../../src/store/review/bulk-actions.ts';
import { noteSign, takeSigns } from '../../src/store/site/ahead-signs.ts';
import { dueOrphans } from '../../src/store/site/orphan-site-jobs.ts';
import { takeSiteSlot, throttleSite, trustGoneForADay, trustsGone } from '../../src/store/site/site-state.ts';
import { claimMessage } from '../../src/store/status/outbox.ts';
import { openStage } from '../review/stage.ts';
import { posting } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';

const stage = openedForEach(() => openStage());

const board = siteName('board');
const acme = feedName('acme');
const AHEAD = `now() + interval '400 days'`;
const LIMITS = { longestMs: 7_200_000, mayLandMs: 60_000 };
const query = <Row extends object>(statement: string) => stage.app.db.query<Row>(statement);
const endWaits = () => endFarWaits(stage.app.db, board, LIMITS);

describe('a create in doubt', () => {
  const due = () => dueDoubts(stage.app.db, board, { firstMs: 60_000, furtherMs: 30_000 }, 10);

  it('is compared with the list again', async () => {
    await stage.pull([posting('p1'), posting('p2'), posting('p3')]);
    for (const key of ['p1', 'p2', 'p3']) await stage.fail(key, 'in_doubt');
    await query(`update change set attempt_started = now() - interval '1 hour', not_before = ${AHEAD}`);
    // Only a person decides it.
    await query(`update change set not_before = 'infinity' where key = 'p2'`);
    await query(`update change set not_before = now() + interval '1 hour' where key = 'p3'`);
    expect(await due()).toEqual([]);
    await endWaits();
    expect((await due()).map(({ attempt }) => attempt.key)).toEqual(['p1']);
  });

  it('that was sent meanwhile is not compared before its time, and a person decides it', async () => {
    await stage.pull([posting('p1')]);
    await stage.fail('p1', 'in_doubt');
    await query(`update change set attempt_started = ${AHEAD}, not_before = ${AHEAD}`);
    await endWaits();
    expect(await due()).toEqual([]);
    const how = { actor: 'tester', site: undefined };
    expect(await resolveEntry(stage.app.db, await stage.entry('p1'), { kind: 'missing' }, how)).toMatchObject({
      kind: 'recorded',
    });
  });

  it('that was sent a moment ago waits for the request, although the clock was set back by a little', async () => {
    await stage.pull([posting('p1')]);
    await stage.fail('p1', 'in_doubt');
    await query(`update change set attempt_started = now() + interval '1 minute'`);
    const how = { actor: 'tester', site: undefined };
    expect(await resolveEntry(stage.app.db, await stage.entry('p1'), { kind: 'missing' }, how)).toMatchObject({
      kind: 'refused',
    });
  });
});

it('an update waits for one that may still arrive, as long as after any', async () => {
  await stage.pull([posting('p1')]);
  await stage.acceptAll();
  await stage.pull([posting('p1', { title: 'Second' })]);
  const attempt = await stage.claim('p1');
  const reason = { kind: 'unknown', message: 'time-out', problems: [] };
  const back = { to: 'ready', delayMs: 0, counted: true, mayLandMs: 60_000, reason } as const;
  await outcomeRecorder(stage.app.db.prepared)({ attempt, result: { kind: 'returned', back }, record: undefined });
  await stage.pull([posting('p1', { title: 'Third' })]);
  await query(`update uncertain_write set until = ${AHEAD}`);
  await expect(stage.claim('p1')).rejects.toThrow('not ready');
  await endWaits();
  await expect(stage.claim('p1')).rejects.toThrow('not ready');
  const [left] = await query<{ s: number }>(
    'select extract(epoch from until - now())::float8 as s from uncertain_write',
  );
  expect(left?.s).toBeGreaterThan(0);
  expect(left?.s).toBeLessThanOrEqual(60);
  await query(`update uncertain_write set until = until - interval '60 seconds'`);
  await query(`update change set not_before = not_before - interval '60 seconds'`);
  expect((await stage.claim('p1')).request).toMatchObject({ kind: 'update', fields: { title: 'Third' } });
});

it('a job that no posting has is deleted, but not while a create may have got its ID', async () => {
  await query(
    `insert into orphan_site_job (site, site_job_id, feed, key, attempts, noted_at, not_before)
     values ('board', '7', 'acme', 'p7', 1, now() - interval '1 day', ${AHEAD}), ('board', '8', 'acme', 'p8', 1, ${AHEAD}, ${AHEAD}),
       ('board', '9', 'acme', 'p9', 1, now(), now() + interval '1 hour')`,
  );
  const due = () => dueOrphans(stage.app.db, board, 10);
  await endWaits();
  expect(await due()).toEqual([]);
  await query(`update orphan_site_job set not_before = not_before - interval '1 minute'`);
  expect((await due()).sort()).toEqual(['7', '8']);
  await stage.pull([posting('p1')]);
  await stage.fail('p1', 'in_doubt');
  await query(`update change set attempt_started = now() - interval '2 days'`);
  expect(await due()).toEqual(['7']);
});

it('a message is sent', async () => {
  await query(
    `insert into alert_message (id, destination, topic, payload, not_before)
     values ('far', 'ops', 'alert', '{}', ${AHEAD}), ('later', 'ops', 'alert', '{}', now() + interval '1 day')`,
  );
  expect(await claimMessage(stage.app.db, 'ops', 'alert')).toMatchObject({ id: 'far' });
  expect(await claimMessage(stage.app.db, 'ops', 'alert')).toBeUndefined();
});

it('an action on many entries that was left goes on', async () => {
  const insert = (touched: string, notBefore: string) =>
    query(
      `insert into bulk_action (action, actor, detail, state, touched_at, not_before)
       values ('discard', 'anna', '{"unattended": true}', 'open', ${touched}, ${notBefore})`,
    );
  await insert(AHEAD, `'-infinity'`);
  await insert(`now() - interval '1 hour'`, AHEAD);
  await insert('now()', `'-infinity'`);
  await insert(`now() - interval '1 hour'`, `now() + interval '1 hour'`);
  const ids = (await query<{ id: number }>('select id from bulk_action order by id')).map(({ id }) => id);
  expect((await openUnattended(stage.app.db, 15_000)).map(({ id }) => id).sort()).toEqual(ids.slice(0, 2));
});

it('details are requested', async () => {
  const hash = Buffer.alloc(16, 1);
  await query(
    `insert into detail (feed, list_hash, record_hash, key, body, fetched_at)
     values ('acme', decode(repeat('01', 16), 'hex'), decode(repeat('02', 16), 'hex'), 'p1', '', ${AHEAD})`,
  );
  await query('update detail set unplanned = false');
  expect(await anyDue(stage.app.db, acme, 86_400_000)).toBe(true);
  await query('update detail set fetched_at = now()');
  expect(await anyDue(stage.app.db, acme, 86_400_000)).toBe(false);
  await query(
    `insert into failed_detail (feed, list_hash, interpretation, message, since, tried_at)
     values ('acme', decode(repeat('01', 16), 'hex'), decode(repeat('01', 16), 'hex'), 'no answer', now(), ${AHEAD})`,
  );
  expect((await restingDetails(stage.app.db, acme, hash, [hash])).size).toBe(0);
  await query(`update failed_detail set since = now() - interval '2 hours', tried_at = now()`);
  expect((await restingDetails(stage.app.db, acme, hash, [hash])).size).toBe(1);
});

it('a site is believed for a day that its jobs are gone, and no longer', async () => {
  await trustGoneForADay(stage.app.db, board);
  expect(await trustsGone(stage.app.db, board)).toBe(true);
  await query(`update site_state set trust_gone_until = ${AHEAD}`);
  expect(await trustsGone(stage.app.db, board)).toBe(false);
});

it('the learnt rate of a site grows, and is lowered', async () => {
  const { db } = stage.app;
  const throttle = () => throttleSite(db, board, { status: 429, waitMs: 0, sentMsAgo: 0, requestsPerSecond: 100 });
  const rate = async () => (await query<{ rate: number }>('select learnt_rate as rate from site_state'))[0]?.rate;
  await throttle();
  expect(await rate()).toBe(50);
  await query(`update site_state set rate_changed_at = ${AHEAD}`);
  await throttle();
  expect(await rate()).toBe(25);
  await query(`update site_state set rate_changed_at = ${AHEAD}, rate_turns = 5, next_turn = now()`);
  expect(await takeSiteSlot(db, board, 100, 2_000)).toMatchObject({ given: true });
  expect(await rate()).toBeGreaterThan(25);
});

it('a sign that the site has unknown jobs has it searched', async () => {
  const { db } = stage.app;
  await db.transaction((tx) => noteSign(tx, board, siteJobId('1')));
  expect(await takeSigns(db, board, undefined)).toEqual(['1']);
  await query(`update site_sign set taken_at = ${AHEAD}`);
  await db.transaction((tx) => noteSign(tx, board, siteJobId('2')));
  expect(await query(`select blocks from site_sign where site_job_id = '2'`)).toEqual([{ blocks: true }]);
  expect(await takeSigns(db, board, undefined)).toEqual(['2']);
  // That one is over only after a pause.
  await db.transaction((tx) => noteSign(tx, board, siteJobId('3')));
  expect(await takeSigns(db, board, undefined)).toEqual([]);
});
