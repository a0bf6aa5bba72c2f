// Postings that go missing at an awkward moment: while their change is sent, within their grace period, under another key.
// @module-tag slow
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { describe, expect } from 'vitest';
import { postingKey, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import { adoptDoubt, findDoubt } from '../../src/store/change/doubt.ts';
import { outcomeRecorder } from '../../src/store/change/record-outcomes.ts';
import { pauseSite, resumeSite } from '../../src/store/site/site-state.ts';
import { acme, openStage } from '../review/stage.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { listen } from '../support/listen.ts';
import { lawTest as it } from './law-test.ts';

const board = siteName('board');
const changeFirst = (list: ReturnType<typeof postings>) =>
  list.map((p) => (p.key === 'p1' ? { ...p, title: 'Changed' } : p));
const withoutFirst = (list: ReturnType<typeof postings>) => list.filter((p) => p.key !== 'p1');

/** Padding that makes a feed too large to be read completely before its pull has loaded the mappings. */
const LONG = 'long '.repeat(40_000);
/** Finds a pull that has loaded its index and waits for the feed. */
const READING = `select from pg_stat_activity where datname = current_database() and state = 'idle in transaction'
  and (query like 'copy (select c.record_hash,%' or query like 'select k.key%')`;

/** A feed over HTTP that pauses in the middle until the test releases it. */
async function pausingFeed(first: string) {
  let body = first;
  let hold: Promise<void> | undefined;
  let onMiddle: () => void = () => undefined;
  const server = createServer(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/xml' });
    const middle = Math.floor(body.length / 2);
    response.write(body.slice(0, middle));
    onMiddle();
    await hold;
    response.end(body.slice(middle));
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}/feed.xml`,
    set(next: string) {
      body = next;
    },
    /** Pauses the next reading; `middle` resolves when it has got there. */
    holdNext() {
      let release: () => void = () => undefined;
      hold = new Promise((resolve) => {
        release = resolve;
      });
      const middle = new Promise<void>((resolve) => {
        onMiddle = resolve;
      });
      return { middle, release };
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

describe('a posting that is gone', () => {
  it.for(['update', 'create'] as const)(
    'is seen to be gone although the outcome of its %s is recorded while the feed streams',
    async (kind, { open }) => {
      const list = postings(10);
      const feed = await pausingFeed(feedXml(kind === 'update' ? list : withoutFirst(list)));
      try {
        const installation = await open({ feed: { source: feed.url } });
        await installation.sync();
        const app = await installation.app();
        const engine = await installation.engine();
        await pauseSite(app.db, board, 'a test', undefined);
        feed.set(feedXml(changeFirst(list)));
        expect(await installation.sync()).toMatchObject({ pending: 1 });

        feed.set(feedXml(withoutFirst(list)));
        const { middle, release } = feed.holdNext();
        const syncing = installation.sync();
        await middle;
        await resumeSite(app.db, board);
        engine.wake();
        await expect.poll(() => app.db.query('select from change'), { timeout: 180_000 }).toEqual([]);
        release();
        await syncing;
        expect((await installation.siteJobs()).has('p1')).toBe(false);
      } finally {
        await feed.close();
      }
    },
  );

  it('is sent nothing within its grace period, and counts as missing', async ({ open }) => {
    const installation = await open({ feed: { delete_guard: '{ missing_pulls: 2 }' } });
    const list = postings(10);
    await installation.syncOf(list);
    const app = await installation.app();
    await pauseSite(app.db, board, 'a test', undefined);
    await installation.syncOf(changeFirst(list));
    expect(await installation.syncOf(withoutFirst(list))).toMatchObject({ gone: 1, grace: 1, unchanged: 9 });
    await resumeSite(app.db, board);
    expect(await installation.sync()).toMatchObject({ deleted: 1, updated: 0, unchanged: 9 });
    expect((await installation.siteJobs()).has('p1')).toBe(false);
  });

  it.for(['update', 'rejected update', 'retried update', 'changed update'] as const)(
    'that returns within its grace period begins a new one, although its %s was not accepted yet',
    async (kind) => {
      const stage = await openStage({ feed: { delete_guard: '{ missing_pulls: 2 }' } });
      try {
        const list = postings(10);
        const changed = changeFirst(list);
        await stage.pull(list);
        await stage.acceptAll();
        if (kind !== 'update') await stage.pull(changed);
        if (kind === 'rejected update') await stage.fail('p1', 'rejected');
        await stage.pull(withoutFirst(list));
        await stage.pull(kind === 'changed update' ? list.map((p) => ({ ...p, title: 'Changed again' })) : changed);
        await stage.pull(withoutFirst(list));
        expect(await stage.change('p1')).toMatchObject({ desired: 'present', missing: true });
        await stage.pull(withoutFirst(list));
        expect(await stage.change('p1')).toMatchObject({ desired: 'absent' });
      } finally {
        await stage.close();
      }
    },
  );

  it('within its grace period is still missing although the outcome of its update is recorded while the feed streams', async () => {
    const list = postings(10);
    const feed = await pausingFeed(feedXml(list));
    const options = { source: feed.url, delete_guard: '{ missing_pulls: 2 }' };
    const stage = await openStage({ feed: options });
    try {
      await stage.pull(list);
      await stage.acceptAll();
      feed.set(feedXml(changeFirst(list)));
      await stage.pull(list);
      const attempt = await stage.claim('p1');
      feed.set(feedXml(withoutFirst(list)));
      await stage.pull(list);

      const { middle, release } = feed.holdNext();
      const pulling = stage.pull(list);
      await middle;
      await outcomeRecorder(stage.app.db.prepared)({ attempt, result: { kind: 'updated' }, record: undefined });
      release();
      const { pull } = await pulling;
      expect(await stage.app.db.query('select seen, unchanged, gone, grace from pull where id = $1', [pull])).toEqual([
        { seen: 9, unchanged: 9, gone: 1, grace: 1 },
      ]);
    } finally {
      await stage.close();
      await feed.close();
    }
  });

  it.for([
    { desired: 'present', missingPulls: 2 },
    { desired: 'present', missingPulls: 1 },
    { desired: 'absent', missingPulls: 1 },
  ] as const)(
    'counts as missing although its job is found, with other content, while the feed streams ($desired, $missingPulls)',
    async ({ desired, missingPulls }) => {
      const list = postings(10).map((one) => ({ ...one, description: LONG }));
      const feed = await pausingFeed(feedXml(withoutFirst(list)));
      const options = { source: feed.url, delete_guard: `{ missing_pulls: ${missingPulls} }` };
      const stage = await openStage({ feed: options });
      try {
        const { db } = stage.app;
        await stage.pull(list);
        await stage.acceptAll();
        feed.set(feedXml(list));
        await stage.pull(list);
        await stage.fail('p1', 'in_doubt');
        feed.set(feedXml(withoutFirst(list)));
        if (desired === 'absent') await stage.pull(list);

        const { middle, release } = feed.holdNext();
        const pulling = stage.pull(list);
        await middle;
        await expect.poll(() => db.query(READING), { timeout: 60_000 }).toHaveLength(1);
        const doubt = await findDoubt(db, acme, postingKey('p1'));
        if (doubt === undefined) throw new Error('p1 is not in doubt');
        expect(
          await adoptDoubt(db, doubt, siteJobId('job-p1'), undefined, {
            fields: {},
            uncertain: ['title'],
            isProven: true,
          }),
        ).toBe('recorded');
        release();
        const { pull } = await pulling;
        const grace = missingPulls - 1;
        expect(await db.query('select seen, unchanged, gone, grace from pull where id = $1', [pull])).toEqual([
          { seen: 9, unchanged: 9, gone: 1, grace },
        ]);
        expect(await stage.change('p1')).toMatchObject(grace > 0 ? { missing: true } : { desired: 'absent' });
      } finally {
        await stage.close();
        await feed.close();
      }
    },
  );

  it('is not confused with the one that now has its record under another key', async ({ open }) => {
    const installation = await open();
    await installation.syncOf(postings(10));
    const text = await readFile(installation.configPath, 'utf8');
    await installation.stopEngine();
    await writeFile(installation.configPath, text.replace('format: indeed', 'format: indeed\n    key: title'));
    const expected = {
      status: 'review',
      seen: 10,
      gone: 10,
      held: 10,
      deleted: 0,
      created: 0,
      pending: 10,
      requests: 0,
    };
    expect(await installation.sync()).toMatchObject(expected);
    expect(await installation.sync()).toMatchObject(expected);
  });

  it('whose delete the site forbids waits for a person, not for the next run', async ({ open }) => {
    const installation = await open();
    const list = postings(10);
    await installation.syncOf(list);
    await installation.sandbox.setFaults([{ name: '403', on: ['delete'] }]);
    expect(await installation.syncOf(withoutFirst(list))).toMatchObject({
      status: 'review',
      gone: 1,
      failed_deletes: 1,
      pending_deletes: 0,
    });
    expect(await installation.sync()).toMatchObject({ status: 'review', gone: 1, failed_deletes: 1, requests: 0 });
  });
});

describe('a pull', () => {
  it('that was killed after its commit does not count as running forever', async ({ open }) => {
    const installation = await open();
    await installation.writeFeed(feedXml(postings(3)));
    await installation.spawn(['sync'], { FAULT_AT: 'pull-committed' }).ended;
    await installation.sync();
    const app = await installation.app();
    expect(await app.db.query('select status from pull order by id')).toEqual([
      { status: 'pending' },
      { status: 'mirrored' },
    ]);
  });
});
