// A process that hangs for longer than its lock and deadlines, is replaced, and then continues: nothing is done twice.
import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { describe, expect, vi } from 'vitest';
import { TIMING } from '../../src/runtime/timing.ts';
import { lockKey } from '../../src/store/locks/advisory-locks.ts';
import type { Queryable } from '../../src/store/postgres/database.ts';
import { byExtent, chosen, spread } from '../support/extent.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { heal } from './heal.ts';
import { lawTest as it, QUEUES } from './law-test.ts';
import { checkLaws } from './laws.ts';
import { untilStopped } from './until-stopped.ts';

const STEPS = ['intent-committed', 'answer-received', 'outcome-committed'] as const;
const CASES = QUEUES.flatMap(({ queue, available, note }) => STEPS.map((step) => ({ queue, available, note, step })));

describe('a process that is stopped', { concurrent: true }, () => {
  const inQuick = CASES.filter(({ queue, step }) => queue === 'database' && step === 'answer-received');
  it.for(byExtent(spread(CASES, 0, 2), inQuick))(
    'at $step, with the queue in $queue $note',
    { timeout: 900_000 },
    async ({ queue, available, step }, { open, skip }) => {
      if (!available) skip();
      const installation = await open({ queue });
      const older = postings(3);
      await installation.writeFeed(feedXml(older));
      const stopped = installation.spawn(['sync'], { FAULT_AT: `${step}:stop` });
      await untilStopped(stopped);

      const newer = [...postings(2), posting('p3', { title: 'Newer' }), posting('p4')];
      await installation.writeFeed(feedXml(newer));
      await heal(installation);
      await checkLaws(installation, newer);

      stopped.child.kill('SIGCONT');
      if (stopped.child.exitCode === null) await once(stopped.child, 'exit');
      expect(stopped.child.signalCode).toBe(null);
      await heal(installation);
      await checkLaws(installation, newer);
    },
  );
});

describe('a pull that is stopped', { concurrent: true }, () => {
  it.for(chosen(['pull-started', 'records-read', 'changes-merged'] as const, (step) => step === 'records-read'))(
    'at %s gives way to the next one, and discards what it read when it continues',
    { timeout: 900_000 },
    async (step, { open }) => {
      const installation = await open();
      await installation.syncOf(postings(3));
      await installation.writeFeed(feedXml([...postings(2), posting('p3', { title: 'Older' }), posting('older')]));
      const stopped = installation.spawn(['sync'], { FAULT_AT: `${step}:stop` });
      await untilStopped(stopped);
      const { db } = await installation.app();
      const hands = await handsOf(db);
      // When it has just started, it has no such connection yet.
      expect(hands.length).toBe(step === 'pull-started' ? 0 : 1);

      const newer = [...postings(2), posting('p3', { title: 'Newer' }), posting('newer')];
      expect(await installation.syncOf(newer)).toMatchObject({ status: 'mirrored', created: 1, updated: 1 });
      await checkLaws(installation, newer);
      // Otherwise its transaction would block vacuum for as long as the process hangs.
      const connected = () => db.query('select state from pg_stat_activity where pid = any($1::int[])', [hands]);
      await vi.waitFor(async () => expect(await connected()).toEqual([]), { timeout: 60_000 });

      stopped.child.kill('SIGCONT');
      const { status, output } = await stopped.ended;
      // It has lost its lock, so it starts again, and finds that the other pull has mirrored everything.
      expect({ status, output }).toMatchObject({ status: 0, output: expect.stringContaining('4 seen, 4 unchanged') });
      await checkLaws(installation, newer);
    },
  );
});

// With the real timing: the others run with a fast one.
it.concurrent('a start that is stopped in a pull does not keep another process from the next runs', {
  timeout: 900_000,
  tags: 'slow',
}, async ({ open, expect }) => {
  const installation = await open({ feed: { schedule: '"*/5 * * * * *"' }, timing: TIMING });
  await appendFile(installation.configPath, 'listen: { port: 0 }\n');
  await installation.writeFeed(feedXml(postings(3)));
  const stopped = installation.spawn(['start'], { FAULT_AT: 'pull-started:stop' });
  await untilStopped(stopped);
  const other = installation.spawn(['start']);
  const { sandbox } = installation;
  await expect.poll(() => sandbox.inspect.count(), { timeout: 180_000, interval: 500 }).toBe(3 + 2);

  stopped.child.kill('SIGCONT');
  const newer = postings(5);
  await installation.writeFeed(feedXml(newer));
  await expect.poll(() => sandbox.inspect.count(), { timeout: 180_000, interval: 500 }).toBe(5 + 2);
  for (const { child, ended } of [stopped, other]) {
    child.kill('SIGTERM');
    const { status, output } = await ended;
    expect({ status, output }).toMatchObject({ status: 0 });
  }
  await heal(installation);
  await checkLaws(installation, newer);
});

/** The connections of a pull apart from the one that holds its lock; a shared lock marks them. */
async function handsOf(db: Queryable): Promise<number[]> {
  const rows = await db.query<{ pid: number }>(
    `select pid from pg_locks where locktype = 'advisory' and mode = 'ShareLock'
       and ((classid::bigint << 32) | objid::bigint) = $1::bigint
       and database = (select oid from pg_database where datname = current_database())`,
    [lockKey('write', 'acme')],
  );
  return rows.map((row) => row.pid);
}
