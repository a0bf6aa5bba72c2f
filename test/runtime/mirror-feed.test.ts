// A pull after which nothing is left to do at the site starts no worker; whatever a worker would find, or find out, starts one.
import { beforeEach, expect, it } from 'vitest';
import type { FeedName, SiteName } from '../../src/posting/identifiers.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { mirrorFeed } from '../../src/runtime/mirror-feed.ts';
import { pauseSubject } from '../../src/store/locks/pauses.ts';
import { pauseSite } from '../../src/store/site/site-state.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';

const mirror = openedForEach(() => openMirror());
beforeEach(async () => {
  expect(await mirror.syncOf(postings(2))).toMatchObject({ created: 2 });
  // The worker of this sync would take up what a test leaves.
  await mirror.stopEngine();
});

async function parts() {
  const app = await mirror.app();
  const [setup] = feedSetups(app.config, ['acme']);
  if (setup === undefined) throw new Error('the configuration has no feed acme');
  return { app, setup };
}

/** Whether a further sync starts to send. */
async function startsWorker(): Promise<boolean> {
  const { app, setup } = await parts();
  let asked = false;
  const engine = () => {
    asked = true;
    return mirror.engine();
  };
  await mirrorFeed(app, engine, setup, { signal: new AbortController().signal });
  return asked;
}

it('nothing is left', async () => {
  expect(await startsWorker()).toBe(false);
});

it('a posting is new', async () => {
  await mirror.writeFeed(feedXml(postings(3)));
  expect(await startsWorker()).toBe(true);
  expect(await mirror.siteJobs()).toHaveLength(3);
});

const IN_DOUBT = `insert into change (feed, site, key, operation, desired, fields, state, attempt_token, attempt_started, not_before)
  values ('other', 'board', 'x', 'create', 'present', '{}', 'in_doubt', gen_random_uuid(), now(), 'infinity')`;
const LEFT: readonly (readonly [what: string, sql: string])[] = [
  [
    'a change is sent again later',
    `insert into change (feed, site, key, operation, desired, state, not_before)
     values ('acme', 'board', 'x', 'delete', 'absent', 'ready', now() + interval '1 hour')`,
  ],
  ['a create of another feed is in doubt', IN_DOUBT],
  [
    'a job that no posting owns is to be deleted',
    `insert into orphan_site_job (site, site_job_id, feed, key, not_before) values ('board', '77', 'acme', 'x', 'infinity')`,
  ],
  ['the site is at another address', `update site_state set address = 'http://127.0.0.1:9/'`],
  ['the database was restored', 'delete from data_stamp'],
];
it.each(LEFT)('%s', async (_what, sql) => {
  await mirror.query(sql);
  expect(await startsWorker()).toBe(true);
});

it.each([{ feed: 'acme' as FeedName }, { site: 'board' as SiteName }, {}])(
  'a person has paused %o',
  async (subject) => {
    const { db } = await mirror.app();
    const pause = { actor: 'ana', reason: 'prices', until: undefined, stopsPulls: false };
    await db.transaction((tx) => pauseSubject(tx, subject, pause));
    expect(await startsWorker()).toBe(true);
  },
);

it('the site is paused', async () => {
  const { db } = await mirror.app();
  await pauseSite(db, 'board' as SiteName, 'it refuses', undefined);
  expect(await startsWorker()).toBe(true);
});

it('the progress says what the rest waits for', async () => {
  const { app, setup } = await parts();
  await mirror.sandbox.setFaults([{ name: 'reset-after' }]);
  await mirror.writeFeed(feedXml(postings(5)));
  const shown: string[] = [];
  const progress = { show: (text: string) => void shown.push(text), clear: () => undefined };
  await mirrorFeed(app, mirror.engine, setup, { signal: new AbortController().signal, progress });
  expect(shown).toContainEqual(
    expect.stringMatching(/^acme: 3 creates in doubt; the list of site board is read in \d+ s$/),
  );
  expect(shown).not.toContainEqual(expect.stringContaining(' 0 of '));
  expect(await mirror.siteJobs()).toHaveLength(5);
});
