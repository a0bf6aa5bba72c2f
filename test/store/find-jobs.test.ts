// Finding jobs by title reads a short range of an index, whatever else is there.
// `TITLED_JOBS=1000000 npx vitest run test/store/find-jobs.test.ts` measures it with more jobs.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { jobsTitled } from '../../src/store/mapping/find-jobs.ts';
import type { Queryable } from '../../src/store/postgres/database.ts';
import { openStage, type Stage } from '../review/stage.ts';

const MEASURES = process.env.TITLED_JOBS !== undefined;
const JOBS = Number(process.env.TITLED_JOBS ?? 20_000);
const ACME = feedName('acme');
const OTHER = feedName('other');
const ODD = ['100% remote_work', 'İstanbul Nurse', "Nurse's aide \\ 'x'", 'straße', ''];

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
  const { db } = stage.app;
  await db.query(
    `insert into feed_state (feed, site) values ('acme', 'board'), ('other', 'board') on conflict do nothing`,
  );
  await db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
     select case when n <= 3 then 'other' else 'acme' end, 'k' || n, 'board', 'job-' || n, sha256(n::text::bytea), sha256(n::text::bytea)
     from generate_series(1, $1::int) n`,
    [JOBS],
  );
  await db.query(
    `insert into document (feed, key, fields)
     select feed, key, json_build_object('title', coalesce(($1::text[])[substr(key, 2)::int - 3],
       case when feed = 'other' then 'NURSE ' else 'Nurse ' end || key || repeat(' and much more', 10)),
       'description', repeat('words ', 50)) from mapping`,
    [ODD],
  );
  await db.query('vacuum analyze document');
});
afterAll(() => stage.close());

const keys = async (text: string, feed?: typeof ACME, limit = 50) =>
  (await jobsTitled(stage.app.db, text, feed, limit)).map((job) => `${job.feed} ${job.key}`);

it('finds titles that begin with a text, in any case, by title and then by feed', async () => {
  expect(await keys('nurse k1 ')).toEqual(['other k1']);
  expect(await keys('nURSE K2 and')).toEqual(['other k2']);
  expect(await keys('Nurse k', OTHER)).toEqual(['other k1', 'other k2', 'other k3']);
  expect(await keys('Nurse k1', ACME, 3)).toEqual(['acme k10', 'acme k100', 'acme k1000']);
  expect(await keys('urse')).toEqual([]);
  expect(await keys('%')).toEqual([]);
  for (const [at, title] of ODD.entries()) {
    if (title !== '') expect([title, await keys(title)]).toEqual([title, [`acme k${at + 4}`]]);
  }
  // Longer than what the index has.
  expect(await keys(`nurse k9${' and much more'.repeat(10)}`)).toEqual(['acme k9']);
  expect(await keys('')).toHaveLength(50);
});

it('reads few pages of the database, with and without a feed', async () => {
  for (const feed of [undefined, ACME, OTHER]) {
    let blocks = 0;
    const explained = {
      query: async (sql: string, values: readonly unknown[]) => {
        const [row] = await stage.app.db.query(`explain (analyze, buffers, format json) ${sql}`, values);
        const { Plan: plan, 'Execution Time': ms } = (row as { 'QUERY PLAN': Record<string, never>[] })[
          'QUERY PLAN'
        ][0] as never;
        blocks = Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks']);
        if (MEASURES) console.log(feed, { blocks, ms });
        return [];
      },
    } as unknown as Queryable;
    await jobsTitled(explained, 'nurse k', feed, 51);
    expect([feed, blocks < 1_000]).toEqual([feed, true]);
  }
});
