// Review entries are listed once each, the urgent first and the numerous last.
import { describe, expect, it } from 'vitest';
import { ENTRY_KINDS, type EntryKind } from '../../src/store/backlog/open-counts.ts';
import { countEntries, heldGroups, readEntry } from '../../src/store/review/review-entries.ts';
import { reviewEntries } from '../../src/store/review/review-page.ts';
import { acme, openStage } from '../review/stage.ts';
import { feedXml, posting, postings, recordXml } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';

const stage = openedForEach(() => openStage());

const WITHOUT_KEY = '<job><title>Nobody</title><state>MA</state></job>';
const withRecords = (...records: readonly string[]) =>
  feedXml([]).replace('</source>', `${records.join('\n')}</source>`);

/** One entry of each kind, except held ones. */
async function fillReview(): Promise<void> {
  await stage.pull(
    withRecords(
      recordXml(posting('ok')),
      recordXml(posting('mexican', { state: 'Jalisco' })),
      recordXml(posting('twice')),
      recordXml(posting('twice', { title: 'Another' })),
      recordXml(posting('refused')),
      recordXml(posting('broken')),
      recordXml(posting('doubtful')),
      WITHOUT_KEY,
    ),
  );
  await stage.fail('refused', 'rejected', 'title is too short');
  await stage.fail('broken', 'failed');
  await stage.fail('doubtful', 'in_doubt');
}

describe('reviewEntries', () => {
  it('lists every kind, doubts first', async () => {
    await fillReview();
    const entries = await stage.entries();
    expect(entries.map(({ kind, key, operation }) => [kind, key, operation])).toEqual([
      ['in_doubt', 'doubtful', 'create'],
      ['failed', 'broken', 'create'],
      ['rejected', 'mexican', 'create'],
      ['rejected', 'refused', 'create'],
      ['unreadable', undefined, undefined],
      ['duplicate', 'twice', undefined],
    ]);
    expect(new Set(entries.map((entry) => entry.id)).size).toBe(6);
    expect(entries.map((entry) => entry.site)).toEqual(Array(6).fill('board'));
    expect(entries.find((entry) => entry.key === 'refused')?.reason).toBe('title is too short');
    expect(entries.find((entry) => entry.key === 'mexican')?.reason).toContain('Jalisco');
    expect(entries.every((entry) => entry.ageMs >= 0 && entry.ageMs < 60_000)).toBe(true);
  });

  it('lists those of a feed and of some kinds, up to a limit, and counts them by kind', async () => {
    await fillReview();
    const list = async (filter: { feed?: string; kinds: readonly EntryKind[] }, limit?: number) => {
      const found: unknown[] = [];
      const { kinds, feed } = filter;
      for await (const { key } of reviewEntries(stage.app.db, { feed: feed as typeof acme | undefined, kinds }, limit))
        found.push(key);
      return found;
    };
    expect(await list({ kinds: ['rejected'] })).toEqual(['mexican', 'refused']);
    expect(await list({ kinds: ENTRY_KINDS, feed: 'globex' })).toEqual([]);
    expect(await list({ kinds: ENTRY_KINDS }, 2)).toEqual(['doubtful', 'broken']);
    expect(await list({ kinds: ['unreadable', 'duplicate'] })).toEqual([undefined, 'twice']);
    const counts = await countEntries(stage.app.db, { feed: acme, kinds: ENTRY_KINDS });
    expect(Object.fromEntries(counts)).toEqual({ in_doubt: 1, failed: 1, rejected: 2, unreadable: 1, duplicate: 1 });
  });

  it('lists more entries than one chunk, each once', { tags: 'slow' }, async () => {
    await stage.pull(postings(1_201).map((p) => ({ ...p, state: 'Jalisco' })));
    const entries = await stage.entries();
    expect(new Set(entries.map((entry) => entry.key)).size).toBe(1_201);
    expect(entries).toHaveLength(1_201);
  });
});

describe('heldGroups', () => {
  it("groups the held deletes of a feed, with the guard's reason", async () => {
    await stage.pull(postings(20));
    await stage.acceptAll();
    await stage.pull(postings(2));
    expect(await heldGroups(stage.app.db, undefined)).toEqual([
      {
        feed: 'acme',
        site: 'board',
        count: 18,
        since: expect.any(Date),
        ageMs: expect.any(Number),
        reason: '18 of 20 live jobs would be deleted: 90.0 %, above the limit of 5 and 20 %',
      },
    ]);
    expect((await stage.entries()).map((entry) => entry.kind)).toEqual(Array(18).fill('held'));
    expect(await heldGroups(stage.app.db, 'globex' as typeof acme)).toEqual([]);
  });
});

describe('readEntry', () => {
  it('returns all of a change: reason, fields, what the site has, and what was sent and received', async () => {
    await stage.pull([posting('p1')]);
    await stage.acceptAll();
    await stage.pull([posting('p1', { title: 'New title' })]);
    await stage.fail('p1', 'rejected', 'title is odd');
    expect(await readEntry(stage.app.db, await stage.entry('p1'))).toMatchObject({
      kind: 'change',
      change: {
        state: 'rejected',
        operation: 'update',
        fields: { title: 'New title' },
        reason: { message: 'title is odd' },
      },
      live: { siteJobId: 'job-p1', fields: { title: 'Nurse p1' } },
      failures: [{ operation: 'update', request: { body: '<job/>' }, response: { status: 422 } }],
    });
  });

  it('returns the excerpt of an unreadable record, and nothing for an unknown number', async () => {
    await stage.pull(withRecords(WITHOUT_KEY));
    const [entry] = await stage.entries();
    const record = await readEntry(stage.app.db, entry?.id ?? 0);
    expect(record).toMatchObject({ kind: 'record', record: { kind: 'unreadable', excerpt: WITHOUT_KEY } });
    expect(record?.kind === 'record' && record.record.problems[0]?.message).toContain('no key');
    expect(await readEntry(stage.app.db, 4711)).toBeUndefined();
  });
});
