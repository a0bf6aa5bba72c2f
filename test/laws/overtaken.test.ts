// A pull that loses its lock while it reads and ends after a later pull: nothing of it is kept (law 5).

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, vi } from 'vitest';
import { pullFeed } from '../../jobs/pull-feed.ts';
import { undoPull } from '../../src/pull/undo-pull.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { FEED_TABLES } from '../../src/store/mapping/rename-feed.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { listen } from '../support/listen.ts';
import { lawTest as it } from './law-test.ts';
import { checkLaws } from './laws.ts';

/** The first reading gets half of the feed `older` until it is released; the others get all of `newer`. */
async function servePausing(older: string, newer: string, onTestFinished: (end: () => void) => void) {
  const waiting: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    if (waiting.length > 0) return void response.end(newer);
    response.write(older.slice(0, older.length / 2));
    waiting.push(response);
  });
  const port = await listen(server);
  onTestFinished(() => void server.close());
  return {
    source: `http://127.0.0.1:${port}/feed.xml`,
    asked: once(server, 'request'),
    release: () => void waiting[0]?.end(older.slice(older.length / 2)),
  };
}

const older = feedXml([...postings(3), posting('older')]);
const newer = [...postings(3), posting('newer')];

describe('a pull that was overtaken', () => {
  it('discards what it read, and starts again', { timeout: 900_000 }, async ({ open, onTestFinished }) => {
    const { source, asked, release } = await servePausing(older, feedXml(newer), onTestFinished);
    const installation = await open({ feed: { source } });
    const { db, log, config } = await installation.app();
    const [setup] = feedSetups(config, ['acme']);
    if (setup === undefined) throw new Error('no feed');
    const first = pullFeed(setup, { db, log, signal: new AbortController().signal });
    await asked;
    await db.query(
      `select pg_terminate_backend(l.pid, 10000) from pg_locks l where l.locktype = 'advisory' and l.granted and l.objsubid = 1
         and l.database = (select oid from pg_database where datname = current_database())`,
    );
    const { status, created, pending } = await installation.sync();
    // The first pull may start again before everything is created; it then counts the rest.
    expect([status, created + pending]).toEqual(['mirrored', 4]);
    release();
    // It starts again, or finds that the other pull is running.
    expect(['busy', 'committed']).toContain((await first).kind);
    expect(await db.query('select status, committed_at is null as nothing from pull where id = 1')).toEqual([
      { status: 'failed', nothing: true },
    ]);
    await vi.waitFor(async () => expect(await db.query('select from change')).toEqual([]), { timeout: 60_000 });
    await checkLaws(installation, newer);
  });

  it('discards what it read, even if nothing told it that it had lost its lock', async ({ open, onTestFinished }) => {
    const { source, asked, release } = await servePausing(older, feedXml(newer), onTestFinished);
    const { db, log, config } = await (await open({ feed: { source } })).app();
    const [setup] = feedSetups(config, ['acme']);
    if (setup === undefined) throw new Error('no feed');
    const first = pullFeed(setup, { db, log, signal: new AbortController().signal });
    await asked;
    // As a later pull that was committed leaves it.
    await db.query(
      `with later as (insert into pull (feed, site) values ('acme', 'board') returning id)
       update feed_state set current_pull = later.id from later where feed = 'acme'`,
    );
    release();
    await expect(first).rejects.toThrow('pull 1 of feed acme was overtaken by pull 2; nothing of it was saved');
    expect(await db.query('select from change')).toEqual([]);
  });
});

it('an undo that was overtaken by a pull keeps nothing', { timeout: 900_000 }, async ({ open }) => {
  const installation = await open();
  await installation.syncOf(postings(3));
  const { pull } = await installation.syncOf(newer);
  const { db, config } = await installation.app();
  const [setup] = feedSetups(config, ['acme']);
  if (setup === undefined || pull === null) throw new Error('no feed, or no pull');
  let hasBegun = false;
  const slow: Database = Object.create(db, {
    lend: {
      async value() {
        // As a later pull that was committed leaves it, while the process of the undo was stopped.
        if (hasBegun)
          await db.query(
            `with later as (insert into pull (feed, site) values ('acme', 'board') returning id)
             update feed_state set current_pull = later.id from later where feed = 'acme'`,
          );
        return db.lend();
      },
    },
  });
  const undone = undoPull(
    setup,
    {
      db: slow,
      onPull() {
        hasBegun = true;
      },
    },
    { pull, keptDays: 30, currentPull: pull, actor: 'a person' },
  );
  await expect(undone).rejects.toThrow('pull 3 of feed acme was overtaken by pull 4; nothing of it was saved');
  expect(await db.query('select from change')).toEqual([]);
});

it.for([
  {
    // As `feeds rename` leaves it, while the process of the pull was stopped.
    name: 'feed was renamed',
    sql: FEED_TABLES.map((table) => `update ${table} set feed = 'beta' where feed = 'acme'`),
    says: 'pull 2 of feed acme was overtaken: the feed was renamed; nothing of it was saved',
    feeds: [],
  },
  {
    name: 'database was migrated by a newer version',
    sql: ["insert into migration (name) values ('9999_newer.sql')"],
    says: 'the schema of a newer version (9999_newer.sql)',
    feeds: ['acme'],
  },
])('a pull whose $name meanwhile keeps nothing', { timeout: 900_000 }, async ({ sql, says, feeds }, { open }) => {
  const installation = await open();
  await installation.syncOf(postings(3));
  await installation.writeFeed(feedXml(newer));
  const { db, log, config } = await installation.app();
  const [setup] = feedSetups(config, ['acme']);
  if (setup === undefined) throw new Error('no feed');
  let hasBegun = false;
  const slow: Database = Object.create(db, {
    lend: {
      async value() {
        if (hasBegun) for (const each of sql.splice(0)) await db.query(each);
        return db.lend();
      },
    },
  });
  const pulled = pullFeed(setup, {
    db: slow,
    log,
    signal: new AbortController().signal,
    onPull() {
      hasBegun = true;
    },
  });
  await expect(pulled).rejects.toThrow(says);
  // Other tests get the database next.
  await db.query("delete from migration where name = '9999_newer.sql'");
  const left = await db.query(`select feed from change union all select feed from feed_state where feed = 'acme'`);
  expect(left).toEqual(feeds.map((feed) => ({ feed })));
});
