// Feeds that are pulled when somebody asks: however many ask while one is busy, it is pulled once afterwards.
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { feedSetups } from '../../../src/runtime/feed-setups.ts';
import { pullNow } from '../../../src/runtime/schedule/pull-now.ts';
import { lockFeed } from '../../../src/store/locks/feed-locks.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { acme, openStage } from '../../review/stage.ts';
import { postings } from '../../support/indeed-feed.ts';

const AGAIN_MS = 20;

it('notices that learn late that the feed is busy are followed by the same pull', async () => {
  const stage = await openStage();
  const { app, mirror } = stage;
  await stage.pull(postings(1));
  const lock = await lockFeed(app.db, acme);
  // Each notice of a busy feed asks for the pull that runs.
  const answers: (() => void)[] = [];
  let isHeld = true;
  const query: Database['query'] = async (text, values) => {
    if (isHeld && /from pull where \(\$1/.test(text)) await new Promise<void>((answer) => answers.push(answer));
    return app.db.query(text, values);
  };
  const asked = (times: number) => expect.poll(() => answers.length).toBe(times);
  const end = new AbortController();
  const held = { ...app, db: { ...app.db, query } };
  const pulls = pullNow(held, await mirror.engine(), feedSetups(app.config, []), end.signal, AGAIN_MS);

  const first = pulls.soon(acme);
  await asked(1);
  const second = pulls.soon(acme);
  await asked(2);
  answers[0]?.();
  expect(await first).toEqual({ kind: 'queued' });
  // The pull that follows finds the feed busy as well.
  await asked(3);
  answers[1]?.();
  expect(await second).toEqual({ kind: 'queued' });
  await pause(10 * AGAIN_MS);
  expect(answers).toHaveLength(3);

  isHeld = false;
  await lock?.release();
  answers[2]?.();
  const committed = () => app.db.query('select id from pull where committed_at is not null');
  await expect.poll(async () => (await committed()).length).toBe(2);
  end.abort();
  await pulls.stop(60_000);
  await stage.close();
});
