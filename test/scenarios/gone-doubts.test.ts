// Postings that leave the feed while their creates are in doubt: the guard also covers deletes of jobs that may have been made.
import { describe, expect } from 'vitest';
import { endsTest } from '../support/ends-test.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { letAnswer, openDoubtful } from './doubtful.ts';

/** Opens eight creates in doubt. */
const it = endsTest.extend<{ open: (made: boolean) => ReturnType<typeof openDoubtful> }>({
  open: ({ ends }, use) =>
    use(async (made) => {
      const stage = await openDoubtful(8, made);
      ends.push(() => stage.close());
      return stage;
    }),
});

describe('postings whose creates are in doubt, gone from a complete feed', { concurrent: true }, () => {
  it('that is empty: their jobs are held until a person approves', async ({ open }) => {
    const { mirror } = await open(true);
    await letAnswer(mirror);
    expect(await mirror.syncOf([])).toMatchObject({ status: 'review', gone: 8, held: 8, deleted: 0 });
    expect((await mirror.siteJobs()).size).toBe(8);
    expect(await mirror.sync()).toMatchObject({ gone: 8, held: 8, requests: 0 });
    expect(await mirror.syncOf(postings(8))).toMatchObject({ status: 'mirrored', seen: 8, held: 0, in_doubt: 0 });
    expect((await mirror.siteJobs()).size).toBe(8);
  });

  it('that lacks more of them than the guard allows: their deletes are held', { tags: 'slow' }, async ({ open }) => {
    const { mirror } = await open(true);
    await letAnswer(mirror);
    await mirror.writeFeed(feedXml(postings(8).slice(0, 2)));
    expect(await mirror.sync()).toMatchObject({ status: 'review', gone: 6, held: 6, deleted: 0 });
    expect((await mirror.siteJobs()).size).toBe(8);
  });

  it('that lacks a few of them: their jobs are deleted', { tags: 'slow' }, async ({ open }) => {
    const { mirror } = await open(true);
    await letAnswer(mirror);
    await mirror.writeFeed(feedXml(postings(8).slice(0, 6)));
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', gone: 2, deleted: 2, held: 0 });
    expect((await mirror.siteJobs()).size).toBe(6);
  });

  it('little by little: together they are more than the guard allows', { tags: 'slow' }, async ({ open }) => {
    const { mirror } = await open(true);
    expect(await mirror.syncOf(postings(8).slice(0, 5))).toMatchObject({ gone: 3, held: 0, pending_deletes: 3 });
    await mirror.writeFeed(feedXml(postings(8).slice(0, 2)));
    await letAnswer(mirror);
    expect(await mirror.sync()).toMatchObject({ gone: 6, held: 3, deleted: 3 });
    expect((await mirror.siteJobs()).size).toBe(5);
  });

  it('that is empty, and their jobs were never made: nothing is left to hold', { tags: 'slow' }, async ({ open }) => {
    const { mirror } = await open(false);
    await letAnswer(mirror);
    await mirror.syncOf([]);
    expect((await mirror.siteJobs()).size).toBe(0);
    expect(await mirror.query('select key, state from change')).toEqual([]);
    expect(await mirror.sync()).toMatchObject({ status: 'mirrored', gone: 0, held: 0 });
  });
});
