// A create in doubt keeps its reason, whatever the checks for its job find.
// @module-tag slow
import { EventEmitter, once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { pullFeed } from '../../jobs/pull-feed.ts';
import type { Fields } from '../../src/posting/posting.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { type Got, openSite, type Reply, type ScriptedSite } from '../site/scripted-site.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { patientSite } from '../support/patient-site.ts';

let mirror: Mirror;
let site: ScriptedSite;
afterEach(async () => {
  await mirror.close();
  await site[Symbol.asyncDispose]();
});

const REASON = 'The site answered 500: database is down';
/** Longer than a busy machine takes: a request without a response would be another reason. */
const PATIENT = patientSite(30);

/** A site that fails at each create; `get` answers for its list and jobs. */
async function openDoubtful(get: (got: Got) => Reply | undefined, more: Fields = {}): Promise<void> {
  site = await openSite((got) => {
    if (got.method === 'POST') return [500, {}, 'database is down'];
    return got.headers.authorization === own ? get(got) : [401, {}, ''];
  });
  mirror = await openMirror({ site: { base_url: site.url.href, ...PATIENT, ...more } });
  const own = `Basic ${Buffer.from(`${mirror.env.BOARD_TOKEN}:X`).toString('base64')}`;
  await mirror.writeFeed(feedXml([posting('a')]));
}

async function doubts() {
  return mirror.query(`select state, reason->>'message' as message, reason->>'note' as note from change`);
}

/** The creates in doubt began a minute earlier, and may be checked now. */
async function age(): Promise<void> {
  await mirror.query(
    `update change set attempt_started = attempt_started - interval '1 minute', not_before = '-infinity' where state = 'in_doubt'`,
  );
}

async function pull(): Promise<void> {
  const { db, config, log } = await mirror.app();
  const [setup] = feedSetups(config, ['acme']);
  if (setup === undefined) throw new Error('the configuration has no feed acme');
  await pullFeed(setup, { db, log, signal: new AbortController().signal });
}

/** Pulls, has the create sent, and does not wait until its job may be looked for. */
async function sendInDoubt(): Promise<void> {
  await pull();
  (await mirror.engine()).wake();
  await expect.poll(doubts).toMatchObject([{ state: 'in_doubt' }]);
  await age();
}

it('if the list cannot be read', async () => {
  await openDoubtful(() => [502, {}, 'no list']);
  await sendInDoubt();
  const list = `The list at ${site.url.origin}/jobs.xml could not be read`;
  const doubt = { state: 'in_doubt', message: REASON, note: `${list}: the site answered 502` };
  await expect.poll(doubts).toEqual([doubt]);
});

it('if a person must tell jobs apart, until a check finds none of them', async () => {
  const job = '<job><id>7</id><number>a</number><created-at>2020-01-01T00:00:00Z</created-at></job>';
  let listed = `<jobs>${job}</jobs>`;
  await openDoubtful((got) => [200, {}, got.url.startsWith('/jobs.xml') ? listed : job], {
    doubts: '{ resolve_after_seconds: 31, list_checks: 4 }',
  });
  await sendInDoubt();
  const doubt = { state: 'in_doubt', message: REASON, note: expect.stringContaining(': 7; say') };
  await expect.poll(doubts).toEqual([doubt]);
  listed = '<jobs/>';
  await age();
  await expect.poll(doubts).toEqual([{ state: 'in_doubt', message: REASON, note: null }]);
});

it('if the check is cancelled, as at the end of a process', async () => {
  const arrivals = new EventEmitter();
  await openDoubtful(() => {
    arrivals.emit('list');
    return undefined;
  });
  await pull();
  const listing = once(arrivals, 'list');
  await mirror.engine();
  await expect.poll(doubts).toMatchObject([{ state: 'in_doubt' }]);
  await age();
  await listing;
  await mirror.stopEngine(0);
  expect(await doubts()).toEqual([{ state: 'in_doubt', message: REASON, note: null }]);
});

it('if the list omits a job that the site shows, and so proves nothing', async () => {
  let creates = 0;
  site = await openSite((got) => {
    if (got.method !== 'POST') return [200, {}, got.url.startsWith('/jobs.xml') ? '<jobs/>' : '<job><id>7</id></job>'];
    creates++;
    return creates === 1 ? [201, { location: '/jobs/7' }, '<job><id>7</id></job>'] : [500, {}, 'database is down'];
  });
  mirror = await openMirror({ site: { base_url: site.url.href, ...PATIENT } });
  expect(await mirror.syncOf([posting('a')])).toMatchObject({ created: 1 });
  await mirror.writeFeed(feedXml([posting('a'), posting('b')]));
  await sendInDoubt();
  const note = expect.stringContaining('job 7 is on the site but not in the list');
  await expect.poll(doubts).toEqual([{ state: 'in_doubt', message: REASON, note }]);
  expect(creates).toBe(2);
});
