// Which postings are left to try, when a site refuses one without saying what is wrong with it.
import { afterEach, expect, it } from 'vitest';
import { feedName, postingKey, siteName } from '../../src/posting/identifiers.ts';
import { readSetUpSuspects } from '../../src/store/backlog/set-up-suspects.ts';
import { posting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

it.each([
  ['a create that may be sent', 'now(), null, false', 'create', true],
  ['a create that waits for the question about keys', 'now(), now(), true', 'create', false],
  ['a create that waits for the search of the site', 'null, null, false', 'create', false],
  ['an update, whatever its creates wait for', 'null, now(), true', 'update', true],
])('%s', async (_, state, operation, isLeft) => {
  mirror = await openMirror();
  await mirror.syncOf([posting('a')]);
  const { db } = await mirror.app();
  await db.query(
    `insert into feed_state (feed, site, site_checked_at, rekey_since, rekey_all) values ('other', 'board', ${state})`,
  );
  await db.query(
    `insert into change (feed, key, site, desired, operation, invalid, state, target_state, fields, record_hash, content_hash)
     values ('other', 'x', 'board', 'present', $1, false, 'ready', 'ready', '{"title":"x"}', decode('00', 'hex'), decode('00', 'hex'))`,
    [operation],
  );
  const refused = { feed: feedName('acme'), key: postingKey('z'), pull: undefined };
  expect((await readSetUpSuspects(db, siteName('board'), refused, 10)).othersLeft).toBe(isLeft);
});

it.each([
  ['in the same transaction', 0, true],
  ['while the first request that was refused so was under way', 0.5, true],
  ['before that was sent', 1.5, false],
])('what is wrong with another posting counts if it was said %s', async (_, secondsBefore, isDisproved) => {
  mirror = await openMirror();
  await mirror.syncOf([posting('a')]);
  const { db } = await mirror.app();
  await db.query(
    `with refused as (
       insert into failure (feed, key, operation, kind, at) values ('acme', 'z', 'create', 'set_up', now()),
         ('acme', 'y', 'create', 'rejected', now() - make_interval(secs => $1)))
     insert into request (feed, key, operation, outcome, duration_ms) values ('acme', 'z', 'create', 'set_up', 1000)`,
    [secondsBefore],
  );
  const refused = { feed: feedName('acme'), key: postingKey('z'), pull: undefined };
  expect((await readSetUpSuspects(db, siteName('board'), refused, 10)).isDisproved).toBe(isDisproved);
});
