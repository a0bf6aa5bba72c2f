// A process is killed while it pulls, or before it could report on what it had sent: whoever reads the pull next concludes it, before any
// further pull of the feed.
import { describe, expect, vi } from 'vitest';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import { lockFeed } from '../../src/store/locks/feed-locks.ts';
import { findPull, startPull } from '../../src/store/pull/pull-history.ts';
import { concludeAbandonedPulls, concludeFormerPulls } from '../../src/store/status/pull-summary.ts';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import type { Installation } from './installation.ts';
import { lawTest as it } from './law-test.ts';

const [acme, board] = [feedName('acme'), siteName('board')];

const killAt = async (installation: Installation, step: string): Promise<void> => {
  await installation.writeFeed(feedXml(postings(4)));
  await installation.app();
  await installation.stopEngine();
  const killed = await installation.spawn(['sync', 'acme', '--json'], { FAULT_AT: step }).ended;
  expect({ ...killed }, killed.output).toMatchObject({ signal: 'SIGKILL' });
};
/** The same postings under other keys. */
const rekeyed = (count: number) =>
  postings(count).map(({ key }) => posting(`new-${key}`, { title: `Nurse ${key}`, description: `<p>Work ${key}</p>` }));

const newest = async (installation: Installation) =>
  (await runProgram(installation, 'pulls', 'acme', '--json')).json<{
    pull: number;
    status: string;
    message: string | null;
  }>()[0];

describe('a pull whose process was killed', { concurrent: true }, () => {
  it('before it was committed has failed', { timeout: 300_000 }, async ({ open }) => {
    const installation = await open();
    await killAt(installation, 'records-read');
    expect(await newest(installation)).toMatchObject({
      status: 'failed',
      message: 'the process ended during the pull',
    });
    expect((await runProgram(installation, 'status')).out).toContain('the process ended during the pull');
  });

  it('once it was committed: is pending once nothing is sent for long, and done once nothing is left', {
    timeout: 300_000,
  }, async ({ open }) => {
    const installation = await open();
    await killAt(installation, 'pull-committed');
    // Another process may be about to send it.
    expect(await newest(installation)).toMatchObject({ status: 'running' });
    const { db } = await installation.app();
    const past = () => db.query(`update pull set committed_at = committed_at - interval '5 minutes'`);
    await past();
    expect(await newest(installation)).toMatchObject({ status: 'pending' });
    await db.query(`update pull set status = 'running', finished_at = null`);
    // A worker sends it: nothing is left, so it ends as its postings are.
    await installation.engine();
    const within = { timeout: 60_000, interval: 200 };
    await vi.waitFor(
      async () => expect((await installation.siteJobs()).size).toBe(installation.foreign.length + 4),
      within,
    );
    await vi.waitFor(async () => expect((await newest(installation))?.status).toBe('mirrored'), within);
  });
});

it('says what it found, though its process was killed before it could', { timeout: 300_000 }, async ({ open }) => {
  const installation = await open();
  await installation.syncOf(postings(4));
  await installation.stopEngine();
  await installation.writeFeed(feedXml(rekeyed(4)));
  await installation.spawn(['sync', 'acme', '--json'], { FAULT_AT: 'pull-committed' }).ended;
  expect(await newest(installation)).toMatchObject({
    status: 'review',
    message: expect.stringContaining('their keys seem to have changed'),
  });
});

it('a pull that holds the lock of its feed is left alone; the next pull concludes what is left', async ({ open }) => {
  const installation = await open();
  const { pull: former } = await installation.syncOf(postings(2));
  const { db } = await installation.app();
  await db.query(`update pull set status = 'running', finished_at = null where id = $1`, [former]);
  const lock = await lockFeed(db, acme);
  const pull = await startPull(db, acme, board);
  await concludeAbandonedPulls(db, acme);
  expect((await findPull(db, pull))?.status).toBe('running');
  // Nothing of it is pending, so it is not said to be.
  await concludeFormerPulls(db, acme, pull);
  expect((await findPull(db, former as number))?.status).toBe('mirrored');
  await lock?.release();
  await concludeAbandonedPulls(db);
  expect((await findPull(db, pull))?.status).toBe('failed');
});
