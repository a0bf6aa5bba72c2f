// Postings are found by words of their title, without reading all titles.
// `TITLED_JOBS=1000000 npx vitest run test/store/find-jobs.test.ts` measures it with more jobs.
import { beforeAll, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { jobsTitled, postingsTitled } from '../../src/store/mapping/find-jobs.ts';
import type { Database, Queryable } from '../../src/store/postgres/database.ts';
import { openStage } from '../review/stage.ts';
import { countOf } from '../support/extent.ts';
import { openedForAll } from '../support/opened.ts';

const MEASURES = process.env.TITLED_JOBS !== undefined;
/** More than the first titles that are compared. */
const JOBS = countOf(process.env.TITLED_JOBS, 20_000, 4_000);
const LAST = `k${JOBS - 1}`;
const ACME = feedName('acme');
const OTHER = feedName('other');
const ODD = ['100% remote_work', 'İstanbul Nurse', "Nurse's aide \\ 'x'", 'straße', ''];

const stage = openedForAll(() => openStage());
beforeAll(async () => {
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
       case when feed = 'other' then 'NURSE ' else 'Nurse ' end || key || ' ward' || (hashtext(key) & 15) || repeat(' and much more', 10)),
       'description', repeat('words ', 50)) from mapping`,
    [ODD],
  );
  await db.query('vacuum analyze document');
});

const keys = async (text: string, feed?: typeof ACME, limit = 50) =>
  (await jobsTitled(stage.app.db, text, feed, limit)).map((job) => `${job.feed} ${job.key}`);

it.skipIf(MEASURES)(
  'finds titles by the beginnings of their words, in any case, of jobs and of postings in review',
  async () => {
    expect(await keys('nurse k1')).toEqual(['other k1']);
    expect(await keys(`nurse ${LAST.slice(0, -1)}`)).toHaveLength(11);
    // More than the first titles have, although each of them is one of many.
    expect(new Set(await keys('ward7')).size).toBe(50);
    expect(await keys(`nurse ${LAST.slice(0, -2)}`)).toHaveLength(50);
    expect(await keys(LAST)).toEqual([`acme ${LAST}`]);
    expect(await keys(`mUCH ${LAST} nur`)).toEqual([`acme ${LAST}`]);
    expect((await keys('Nurse k', OTHER)).length).toBe(0);
    expect(await keys('Nurse', OTHER)).toEqual(['other k1', 'other k2', 'other k3']);
    expect(await keys('k3 nurse')).toEqual(['other k3']);
    expect(await keys('k3 nurse', ACME)).toEqual([]);
    expect(await keys('nurse', ACME, 3)).toHaveLength(3);
    for (const nothing of ['urse', '%', '', '—', 'nurse pilot', '@acme', "k7' | 'k8"])
      expect(await keys(nothing)).toEqual([]);
    for (const [at, title] of ODD.entries()) {
      if (title !== '') expect([title, await keys(title)]).toEqual([title, [`acme k${at + 4}`]]);
    }
    await stage.app.db.query(
      `insert into change (feed, key, site, desired, operation, fields, state, invalid, reason)
     values ('acme', 'refused', 'board', 'present', 'create', '{"title":"Night Pilot"}', 'rejected', true, '{"message":"Nurse"}'),
       ('acme', $1, 'board', 'present', 'update', '{"title":"Night Nurse"}', 'rejected', true, '{"message":"no"}')`,
      [LAST],
    );
    expect(await keys('pilot')).toEqual(['acme refused']);
    // By title, as the site has it where it has one.
    expect(await keys('night')).toEqual(['acme refused', `acme ${LAST}`]);
    expect(await keys('pilot', OTHER)).toEqual([]);
    // Its title, not what was said.
    expect(await keys('nurse night')).toEqual([`acme ${LAST}`]);
  },
);

it('reads few pages of the database, with and without a feed', { tags: 'slow' }, async () => {
  const { db } = stage.app;
  for (const [text, feed] of [
    ['nurse', undefined],
    ['k19', ACME],
    ['nurse k77', undefined],
    ['ward7', undefined],
    ['nurse', OTHER],
  ] as const) {
    let blocks = 0;
    const explaining = (of: Queryable): Queryable =>
      ({
        query: async (sql: string, values: readonly unknown[]) => {
          const [row] = await of.query(`explain (analyze, buffers, format json) ${sql}`, values);
          const { Plan: plan, 'Execution Time': ms } = (row as { 'QUERY PLAN': Record<string, never>[] })[
            'QUERY PLAN'
          ][0] as never;
          blocks += Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks']);
          if (MEASURES) console.log(text, feed, { blocks, ms });
          return of.query(sql, values);
        },
      }) as unknown as Queryable;
    const explained = {
      ...explaining(db),
      transaction: <Result>(use: (tx: Queryable) => Promise<Result>) => db.transaction((tx) => use(explaining(tx))),
    } as unknown as Database;
    await postingsTitled(explained, text, feed, 51);
    expect([text, feed, blocks < 2_500]).toEqual([text, feed, true]);
  }
});
