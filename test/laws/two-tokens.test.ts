// A process with an old token beside one with the new token: only the refusal of its own token pauses each.
// @module-tag slow
import { expect } from 'vitest';
import { siteName } from '../../src/posting/identifiers.ts';
import { readSiteState } from '../../src/store/site/site-state.ts';
import { runProgram } from '../cli/run-program.ts';
import { spread } from '../support/extent.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';
import type { Installation } from './installation.ts';
import { lawTest as it, QUEUES } from './law-test.ts';
import { checkLaws } from './laws.ts';

const board = siteName('board');

const refusals = ({ sandbox }: Installation): number =>
  sandbox.requests.recent().filter(({ status }) => status === 401).length;

const withToken = ({ folder, configPath, env }: Installation, token: string) => ({
  folder,
  configPath,
  env: { ...env, BOARD_TOKEN: token },
});

/** The site as `status` shows it to a holder of this token. */
async function statusOf(installation: Installation, token: string) {
  const { json } = await runProgram(withToken(installation, token), 'status', '--json');
  return json().find(({ kind }) => kind === 'site');
}

it.concurrent.for(spread(QUEUES, 0, 2))(
  'the process with the new token continues, with the queue in $queue $note',
  { timeout: 900_000 },
  async ({ queue, available }, { open, skip }) => {
    if (!available) skip();
    const installation = await open({ queue, site: patientSite(20) });
    const { sandbox, owner, env } = installation;
    const feed = postings(40);
    await installation.writeFeed(feedXml(feed));
    // In this process, which is the leader and keeps running.
    const { siteContexts } = await installation.engine();
    const { token } = await sandbox.changePassword(owner, 'another password of the mirror');
    expect(await installation.sync()).toMatchObject({ status: 'pending', created: 0, pending: 40 });
    const before = refusals(installation);
    expect(before).toBeLessThanOrEqual(8);

    const { status, output } = await installation.spawn(['sync', '--json'], { BOARD_TOKEN: token }).ended;
    expect({ status, output }).toMatchObject({ status: 0, output: expect.stringContaining('"created":40') });
    // The old token was not resumed, and did not pause the site for the new one.
    expect(refusals(installation)).toBeLessThanOrEqual(before + 2);
    const { db } = await installation.app();
    expect((await readSiteState(db, board, siteContexts.get(board)?.tokenDigest)).tokenRefused).toBe(true);
    expect(await statusOf(installation, token)).toMatchObject({
      state: 'sending',
      token_refused: false,
      other_refused_tokens: [{ noted_by: expect.stringContaining(String(process.pid)) }],
      // Changes that only the other process could send are waiting, so not all is well.
      failing: ['site board is paused for a process whose token it refuses'],
    });
    expect(await statusOf(installation, env.BOARD_TOKEN ?? '')).toMatchObject({
      state: 'paused',
      token_refused: true,
      other_refused_tokens: [],
    });
    const [kept] = await db.query<{ text: string }>('select json_agg(t)::text as text from refused_token t');
    expect(kept?.text).not.toContain(env.BOARD_TOKEN);

    expect(await runProgram(withToken(installation, token), 'resume', 'board')).toMatchObject({ status: 0 });
    await installation.writeFeed(feedXml(feed.map((one) => ({ ...one, title: `${one.title}, edited` }))));
    const second = await installation.spawn(['sync', '--json'], { BOARD_TOKEN: token }).ended;
    expect(second).toMatchObject({ status: 0, output: expect.stringContaining('"updated":40') });
    await installation.stopEngine();
    // No process holds the old token any more.
    expect(await statusOf(installation, token)).toMatchObject({ failing: [] });
    const jobs = await installation.siteJobs();
    expect(jobs.size).toBe(feed.length + installation.foreign.length);
    for (const { key, title } of feed) expect(jobs.get(key)?.title).toBe(`${title}, edited`);
  },
);

it.concurrent.for(spread(QUEUES, 1, 2))(
  'a token that is accepted again resumes the processes that hold it, with the queue in $queue $note',
  { timeout: 900_000 },
  async ({ queue, available }, { open, skip, expect }) => {
    if (!available) skip();
    const installation = await open({ queue, site: patientSite(20) });
    const feed = postings(5);
    await installation.writeFeed(feedXml(feed));
    await installation.sandbox.setFaults([{ name: '401' }]);
    expect(await installation.sync()).toMatchObject({ pending: 5 });
    await installation.sandbox.setFaults([]);
    const { db } = await installation.app();
    await db.query(`update refused_token set next_probe = now()`);
    const accepted = async () => (await readSiteState(db, board)).pausedSince === undefined;
    await expect.poll(accepted, { timeout: 180_000 }).toBe(true);
    expect(await installation.sync()).toMatchObject({ status: 'mirrored', pending: 0, in_doubt: 0 });
    await checkLaws(installation, feed);
  },
);
