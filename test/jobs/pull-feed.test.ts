// Pulls of a feed large enough for a thread of its own: the plan matches the feed, posting by posting.
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { pullFeed } from '../../jobs/pull-feed.ts';
import { RecordBatch } from '../../src/feed/batch/record-batch.ts';
import type { App } from '../../src/runtime/app.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { feedXml, posting, recordXml, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

const POSTINGS = 500;
/** What no field is made from, but has to be read all the same. */
const FILLER = `<more>${'x'.repeat(18_000)}</more></job>`;

/** A feed with these postings and much else. */
function longFeed(list: readonly TestPosting[]): Buffer {
  const records = list.map((each) => recordXml(each).slice(0, -'</job>'.length) + FILLER);
  return Buffer.from(feedXml([]).replace('</source>', () => `${records.join('\n')}</source>`));
}

let mirror: Mirror;
let app: App;
beforeAll(async () => {
  // Uses threads regardless of the number of cores.
  vi.spyOn(os, 'availableParallelism').mockReturnValue(2);
  syncBuiltinESMExports();
  mirror = await openMirror();
  app = await mirror.app();
});
afterAll(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await mirror.close();
});

/** Long and short postings, each with its own description; `version` determines which of them have changed. */
const feedOf = (version: (n: number) => number): TestPosting[] =>
  Array.from({ length: POSTINGS }, (_, n) =>
    posting(`p${n}`, { description: `<p>${`${n} in version ${version(n)} `.repeat(1 + ((n * 7) % 200))}</p>` }),
  );

async function pull(feed: Buffer): Promise<Record<string, number>> {
  await mirror.writeFeed(feed);
  const [setup] = feedSetups(app.config, ['acme']);
  if (setup === undefined) throw new Error('there is no feed');
  const end = await pullFeed(setup, { db: app.db, log: app.log, signal: new AbortController().signal });
  if (end.kind !== 'committed') throw new Error(`the pull ended otherwise: ${JSON.stringify(end)}`);
  const [row] = await app.db.query('select seen, unchanged, duplicates, unreadable from pull where id = $1', [
    end.pull,
  ]);
  return { ...row, complete: Number(end.complete) };
}

/** The desired descriptions, by key. */
const desired = async (): Promise<Map<string, string>> =>
  new Map(
    (await app.db.query<{ key: string; text: string }>("select key, fields->>'description' as text from change")).map(
      ({ key, text }) => [key, text],
    ),
  );

it('plans each posting as the feed has it, in the first pull and in later ones where some have changed', async () => {
  let list = feedOf(() => 1);
  const feed = longFeed(list);
  expect(feed.length).toBeGreaterThan(8 * 1024 * 1024);
  const expected = () => new Map(list.map(({ key, description = '' }) => [key, description]));
  expect(await pull(feed)).toEqual({ seen: POSTINGS, unchanged: 0, duplicates: 0, unreadable: 0, complete: 1 });
  expect(await desired()).toEqual(expected());

  list = feedOf((n) => (n % 3 === 0 ? 2 : 1));
  expect(await pull(longFeed(list))).toEqual({
    seen: POSTINGS,
    unchanged: 0,
    duplicates: 0,
    unreadable: 0,
    complete: 1,
  });
  expect(await desired()).toEqual(expected());
});

it('records the same whether a first pull prefetches postings or not', async () => {
  const kinds = [
    (n: number) => posting(`q${n}`, { description: `<p title="a">– ${'work '.repeat(n % 300)}\\</p>` }),
    (n: number) => posting(`q${n}`, { state: 'Nowhere' }),
    (n: number) => posting(`q${n}`, { title: `No\u0001ted ${n}` }),
    (n: number) => posting(`q${n - (n % 50)}`, { title: 'A duplicate that conflicts', description: 'é'.repeat(2_000) }),
    (n: number) => posting('', { title: `Unreadable ${n}` }),
  ];
  const usual = kinds[0] as (typeof kinds)[0];
  const list = Array.from({ length: 800 }, (_, n) =>
    (n % 5 === 0 ? (kinds[(n / 5) % kinds.length] ?? usual) : usual)(n),
  );
  // Longer than everything that may be in flight at a time: buffers are reused.
  const feed = longFeed(list);
  expect(feed.length).toBeGreaterThan(14 * 1024 * 1024);
  const app = await mirror.app();
  const recorded = async () => ({
    changes: await app.db.query(`select key, desired, operation, fields::text, encode(record_hash, 'hex') as record,
      encode(content_hash, 'hex') as content, invalid, state, target_state, reason from change order by key`),
    notes: await app.db.query('select key, notes from posting_note order by key'),
    problems: await app.db.query(`select kind, key, problems, excerpt, encode(record_hash, 'hex') as record
      from record_problem order by kind, record_hash`),
  });
  const firstPull = async () => {
    await app.db.query('truncate change, posting_note, record_problem');
    const packed = vi.spyOn(RecordBatch.prototype, 'packedPostingOf');
    const counts = await pull(feed);
    const prefetched = packed.mock.results.filter(({ value }) => value !== undefined).length;
    packed.mockRestore();
    return { ...(await recorded()), counts, prefetched };
  };

  const { prefetched, ...withReading } = await firstPull();
  expect(prefetched).toBeGreaterThan(200);
  expect(withReading.counts.duplicates).toBeGreaterThan(20);
  expect(withReading.counts.unreadable).toBeGreaterThan(20);
  expect(withReading.notes.length).toBeGreaterThan(20);

  // An edit may concern any posting: nothing is prefetched.
  await app.db.query("insert into override (feed, key, field, value) values ('acme', 'nobody', 'title', 'x')");
  const { prefetched: none, ...without } = await firstPull();
  expect(none).toBe(0);
  expect(withReading).toEqual(without);
});
