// An edit of a large group, stopped in between. To measure how long it takes, with the number of entries:
// `BULK_ENTRIES=100000 npx vitest run test/review/bulk-size.test.ts`
// @module-tag slow
import { expect, it } from 'vitest';
import { textOf } from '../../src/plan/message.ts';
import { runBulk } from '../../src/review/bulk/run-bulk.ts';
import { startBulk } from '../../src/review/bulk/start-bulk.ts';
import { listGroups } from '../../src/review/list-groups.ts';
import { posting } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { openStage } from './stage.ts';

const MEASURES = process.env.BULK_ENTRIES !== undefined;
/** More than one batch. */
const ENTRIES = Number(process.env.BULK_ENTRIES ?? 1_200);
const MEASURE_MS = 1_800_000;

const stage = openedForEach(() => openStage());

it('edits each entry of a group once, with a stop in between', { timeout: MEASURE_MS }, async () => {
  const { db, config } = stage.app;
  await stage.pull([
    ...Array.from({ length: ENTRIES }, (_, at) => posting(`odd${at}`, { state: 'Jalisco' })),
    posting('fine'),
  ]);
  const [group] = await listGroups(db, {}, { groups: 1, values: 1 });
  const detail = { query: { groups: [group?.id ?? ''] }, edit: { set: { 'location-state': 'Texas' } } };
  const from = performance.now();
  const started = await startBulk(db, config, { action: 'edit', actor: 'ann', detail, seen: { count: ENTRIES } });
  if (started.kind === 'refused') throw new Error(textOf(started.message));
  const { id } = started.bulk;
  const stopping = new AbortController();
  const stopped = await runBulk(db, config, id, { signal: stopping.signal, onProgress: () => stopping.abort() });
  const before = stopped?.bulk.done ?? 0;
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(ENTRIES);
  const ended = await runBulk(db, config, id, { signal: new AbortController().signal });
  if (MEASURES) console.log(`edited ${ENTRIES} entries in ${Math.round(performance.now() - from)} ms`);
  expect(ended?.bulk).toMatchObject({ state: 'done', done: ENTRIES, skipped: 0 });
  expect(await db.query('select state, count(*) as n from change group by 1')).toEqual([
    { state: 'ready', n: ENTRIES + 1 },
  ]);
  expect(await db.query('select count(*) as n, count(distinct key) as keys from audit where key is not null')).toEqual([
    { n: ENTRIES, keys: ENTRIES },
  ]);
});
