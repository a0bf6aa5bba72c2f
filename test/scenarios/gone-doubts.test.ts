// Postings that leave the feed while their creates are in doubt: the guard also covers deletes of jobs that may have been made.
import { afterEach, describe, expect, it } from 'vitest';
import { itInAll } from '../support/in-all.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror.close());

/** Mirrors `count` postings to a site that fails at each create, with or without making the job, and whose list cannot be read. */
async function openDoubtful(count: number, made: boolean): Promise<void> {
  mirror = await openMirror({
    site: {
      limits: '{ requests_per_second: 5000, concurrency: 4, timeout_seconds: 0.5 }',
      doubts: '{ resolve_after_seconds: 0.6 }',
      canary: '{ requests: 0 }',
    },
  });
  await mirror.sandbox.setFaults([
    { name: '500', made, on: ['create'] },
    { name: '502', on: ['list'] },
  ]);
  await mirror.writeFeed(feedXml(postings(count)));
  expect(await mirror.sync()).toMatchObject({ in_doubt: count });
  // The next process checks the doubts at once, at a site that responds.
  await mirror.stopEngine();
  await mirror.sandbox.setFaults([]);
}

describe('postings whose creates are in doubt, gone from a complete feed', () => {
  it('that is empty: their jobs are held until a person approves', async () => {
    await openDoubtful(8, true);
    await mirror.writeFeed(feedXml([]));
    expect(await mirror.sync()).toMatchObject({ status: 'review', gone: 8, held: 8, deleted: 0 });
    expect((await mirror.siteJobs()).size).toBe(8);
    expect(await mirror.sync()).toMatchObject({ gone: 8, held: 8, requests: 0 });
    await mirror.writeFeed(feedXml(postings(8)));
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', seen: 8, held: 0, in_doubt: 0 });
    expect((await mirror.siteJobs()).size).toBe(8);
  });

  itInAll('that lacks more of them than the guard allows: their deletes are held', async () => {
    await openDoubtful(8, true);
    await mirror.writeFeed(feedXml(postings(8).slice(0, 2)));
    expect(await mirror.sync()).toMatchObject({ status: 'review', gone: 6, held: 6, deleted: 0 });
    expect((await mirror.siteJobs()).size).toBe(8);
  });

  itInAll('that lacks a few of them: their jobs are deleted', async () => {
    await openDoubtful(8, true);
    await mirror.writeFeed(feedXml(postings(8).slice(0, 6)));
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', gone: 2, deleted: 2, held: 0 });
    expect((await mirror.siteJobs()).size).toBe(6);
  });

  itInAll('little by little: together they are more than the guard allows', async () => {
    await openDoubtful(8, true);
    await mirror.sandbox.setFaults([{ name: '502', on: ['list'] }]);
    await mirror.writeFeed(feedXml(postings(8).slice(0, 5)));
    expect(await mirror.sync()).toMatchObject({ gone: 3, held: 0, pending_deletes: 3 });
    await mirror.writeFeed(feedXml(postings(8).slice(0, 2)));
    await mirror.stopEngine();
    await mirror.sandbox.setFaults([]);
    expect(await mirror.sync()).toMatchObject({ gone: 6, held: 3, deleted: 3 });
    expect((await mirror.siteJobs()).size).toBe(5);
  });

  itInAll('that is empty, and their jobs were never made: nothing is left to hold', async () => {
    await openDoubtful(8, false);
    await mirror.writeFeed(feedXml([]));
    await mirror.sync();
    expect((await mirror.siteJobs()).size).toBe(0);
    expect(await (await mirror.app()).db.query('select key, state from change')).toEqual([]);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', gone: 0, held: 0 });
  });
});
