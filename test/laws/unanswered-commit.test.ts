// The connection breaks while the database commits a pull: it is committed, but nobody is told.
import { expect } from 'vitest';
import { pullFeed } from '../../jobs/pull-feed.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import type { Database, LentSession } from '../../src/store/postgres/database.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { lawTest as it } from './law-test.ts';
import { checkLaws } from './laws.ts';

const FEED = postings(3);

it('a pull whose commit got no answer does not count as failed', { timeout: 900_000 }, async ({ open }) => {
  const installation = await open();
  await installation.writeFeed(feedXml(FEED));
  const { db, log, config } = await installation.app();
  const [setup] = feedSetups(config, ['acme']);
  if (setup === undefined) throw new Error('no feed');
  let breaks = true;
  const breaking: Database = Object.create(db, {
    lend: {
      async value(onLost?: (error: Error) => void): Promise<LentSession> {
        const session = await db.lend(onLost);
        const query: LentSession['query'] = async (text, values) => {
          const rows = await session.query(text, values);
          if (text === 'commit' && breaks) {
            breaks = false;
            throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
          }
          // biome-ignore lint/suspicious/noExplicitAny: each caller states its columns.
          return rows as any;
        };
        return { ...session, query };
      },
    },
  });
  const end = await pullFeed(setup, { db: breaking, log, signal: new AbortController().signal });
  expect(end).toMatchObject({ kind: 'committed', pull: 2 });
  expect(await db.query('select id, status, committed_at is not null as committed from pull order by id')).toEqual([
    { id: 1, status: 'pending', committed: true },
    { id: 2, status: 'running', committed: true },
  ]);
  await installation.sync();
  await checkLaws(installation, FEED);
});
