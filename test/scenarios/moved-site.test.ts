// base_url that leads to another place under the same name: nothing is sent there until a person says what it is.
import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { SiteDesk } from '../../jobs/site-desk.ts';
import { tendBacklog } from '../../jobs/tend-backlog.ts';
import { feedName, postingKey, siteName } from '../../src/posting/identifiers.ts';
import { addressOf } from '../../src/site/site-address.ts';
import { setAddress } from '../../src/store/site-address.ts';
import { readSiteState, resumeSite } from '../../src/store/site-state.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const board = siteName('board');
let mirror: Mirror;
afterEach(() => mirror?.close());

const state = async () => readSiteState((await mirror.books()).db, board);
const changed = postings(4).map((one) => ({ ...one, title: 'Changed' }));

/** The same sandbox under another name is another address. */
async function moveTo(host: string): Promise<void> {
  await mirror.stopEngine();
  const text = await readFile(mirror.configPath, 'utf8');
  await writeFile(mirror.configPath, text.replace(/(base_url: http:\/\/)[^:]+/, `$1${host}`));
}

async function openMirrored(): Promise<void> {
  mirror = await openMirror();
  await mirror.writeFeed(feedXml(postings(4)));
  expect(await mirror.sync()).toMatchObject({ status: 'mirrored', created: 4 });
  await mirror.writeFeed(feedXml([...changed, posting('new')]));
}

it('is noted with the first job that is made', async () => {
  mirror = await openMirror();
  await mirror.writeFeed(feedXml(postings(1)));
  await mirror.sandbox.setFaults([{ name: '404' }]);
  await mirror.sync();
  expect((await state()).address).toBeUndefined();
  await mirror.stopEngine();
  await mirror.sandbox.setFaults([]);
  const { db } = await mirror.books();
  await resumeSite(db, board);
  await mirror.sync();
  expect((await state()).address).toBe(new URL(mirror.sandbox.url).hostname);
});

describe('a site that has jobs', () => {
  it('is paused, with the numbers and the command that goes on, and gets nothing', async () => {
    await openMirrored();
    const before = mirror.sandbox.requests.total();
    await moveTo('localhost');
    const report = await mirror.sync();
    expect(report).toMatchObject({ status: 'pending', created: 0, updated: 0 });
    for (const words of [
      'base_url leads to localhost,',
      'made at 127.0.0.1: 4 there are;',
      'jobmirror resume board --moved',
    ]) {
      expect(report.message).toContain(words);
    }
    expect(await state()).toMatchObject({ movedTo: 'localhost', probeInMs: undefined });
    expect(mirror.sandbox.requests.total()).toBe(before);
  });

  it('is not called mirrored where nothing is to be sent either', async () => {
    await openMirrored();
    await mirror.sync();
    await moveTo('localhost');
    const report = await mirror.sync();
    expect(report).toMatchObject({ status: 'pending', unchanged: 5, requests: 0 });
    expect(report.message).toContain('jobmirror resume board --moved');
    expect(report.message).not.toContain('when it is mended');
  });

  it('that was paused for another reason is not resumed by an answer of the other place', async () => {
    await openMirrored();
    await mirror.sandbox.setFaults([{ name: '401' }]);
    await mirror.sync();
    await mirror.sandbox.setFaults([]);
    await moveTo('localhost');
    expect(await mirror.sync()).toMatchObject({ status: 'pending', updated: 0 });
    expect((await state()).pauseCause).toContain('base_url leads to');
  });

  it('is sent to again once a person says that it is the same', async () => {
    await openMirrored();
    await moveTo('localhost');
    await mirror.sync();
    const { db, config } = await mirror.books();
    const options = config.sites.get(board)?.options;
    await setAddress(db, board, addressOf(options?.baseUrl ?? new URL(mirror.sandbox.url)));
    await resumeSite(db, board);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored' });
    expect((await mirror.siteJobs()).size).toBe(5);
  });

  it('goes on by itself where base_url is set back', async () => {
    await openMirrored();
    await moveTo('localhost');
    await mirror.sync();
    await moveTo('127.0.0.1');
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', pending: 0 });
    expect((await mirror.siteJobs()).size).toBe(5);
  });

  it('is not sent to by a process that was configured for another place while it ran', async () => {
    await openMirrored();
    const desk = (await mirror.engine()).desks.get(board);
    const { db } = await mirror.books();
    await setAddress(db, board, 'elsewhere.example.com');
    await db.query(
      `insert into change (feed, key, site, wanted, operation, state) values ('acme', 'p1', 'board', 'absent', 'delete', 'ready')`,
    );
    const claim = () => desk?.claim({ feed: feedName('acme'), key: postingKey('p1') });
    expect(await claim()).toEqual({ kind: 'not_due' });
    const total = mirror.sandbox.requests.total();
    await db.query(`insert into stray (site, site_job_id, feed, key) values ('board', '77', 'acme', 'gone')`);
    expect(await tendBacklog(desk as SiteDesk, new AbortController().signal)).toMatchObject({ resumed: false });
    expect(mirror.sandbox.requests.total()).toBe(total);
  });
});

it('a site that has no job yet may move', async () => {
  await openMirrored();
  const { db } = await mirror.books();
  await db.query('delete from mapping');
  await db.query('delete from document');
  await moveTo('localhost');
  await mirror.sync();
  expect(await state()).toMatchObject({ pausedSince: undefined, address: expect.stringContaining('localhost') });
});
