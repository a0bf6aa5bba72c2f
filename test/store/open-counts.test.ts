// The open changes of a feed are counted by indexes, without reading their rows, and none is left out or counted twice.
import { beforeAll, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import { countOpen } from '../../src/store/backlog/open-counts.ts';
import type { Database, Queryable } from '../../src/store/postgres/database.ts';
import { databaseFor } from '../support/database.ts';

const ACME = feedName('acme');
const STATES = ['ready', 'sending', 'in_doubt', 'held', 'rejected', 'failed', 'discarded'];
const NOTHING = {
  pending: 0,
  in_doubt: 0,
  rejected: 0,
  discarded: 0,
  failed: 0,
  held: 0,
  kept: 0,
  pendingDeletes: 0,
  doubtfulDeletes: 0,
  failedDeletes: 0,
  grace: 0,
};

let db: Database;
databaseFor('file', { max: 2 }, (opened) => {
  db = opened;
});
beforeAll(async () => {
  await db.query(`insert into feed_state (feed, site) values ('acme', 'board'), ('other', 'board')`);
});

interface Sort {
  readonly desired: string;
  readonly gone: boolean;
  readonly unseen: boolean;
  readonly state: string;
  readonly pull: number;
  readonly n: number;
}

const BOTH = [false, true];
/** Those that differ in one mark only have different numbers of changes. */
const SORTS: readonly Sort[] = ['present', 'absent']
  .flatMap((desired) => BOTH.flatMap((gone) => BOTH.map((unseen) => ({ desired, gone, unseen }))))
  .flatMap((mark) => STATES.flatMap((state) => [1, 2].map((pull) => ({ ...mark, state, pull }))))
  .map((sort, at) => ({ ...sort, n: 1 + (at % 11) }));

/** Writes changes with a long text, which is in their rows. */
const write = (feed: string, { desired, gone, unseen, state, pull, n }: Sort, to: Queryable = db) =>
  to.query(
    `insert into change (feed, key, site, desired, operation, fields, state, gone, unseen, pull, attempt_token, attempt_operation)
     select $1, concat_ws('-', $2::text, $3::boolean, $4::boolean, $5::text, $6::bigint, n), 'board', $2, o, case when o <> 'delete'
       then json_build_object('title', (select string_agg(md5(n || ' ' || i), '') from generate_series(1, 40) i)) end, $5, $3, $4, $6, t,
       case when t is not null then o end
     from generate_series(1, $7::int) n, (select case $2 when 'absent' then 'delete' else 'create' end as o,
       case when $5 in ('sending', 'in_doubt') then gen_random_uuid() end as t) each`,
    [feed, desired, gone, unseen, state, pull, n],
  );

const expected = (sorts: readonly Sort[]) => {
  const sum = (matches: (sort: Sort & { readonly seen: boolean }) => boolean): number =>
    sorts
      .map((sort) => ({ ...sort, seen: sort.desired === 'present' && !sort.gone && !sort.unseen }))
      .filter(matches)
      .reduce((all, { n }) => all + n, 0);
  const absent = (...states: string[]) => sum(({ desired, state }) => desired === 'absent' && states.includes(state));
  const seen = (...states: string[]) => sum((sort) => sort.seen && states.includes(sort.state));
  return {
    pending: seen('ready', 'sending', 'held'),
    in_doubt: seen('in_doubt'),
    rejected: seen('rejected', 'discarded'),
    discarded: seen('discarded'),
    failed: seen('failed'),
    held: absent('held'),
    kept: absent('discarded'),
    pendingDeletes: absent('ready', 'sending', 'in_doubt'),
    doubtfulDeletes: absent('in_doubt'),
    failedDeletes: absent('rejected', 'failed'),
    grace: sum(({ desired, gone }) => desired === 'present' && gone),
  };
};

it('counts changes of every sort, of one feed, also without those of a pull', async () => {
  expect(await countOpen(db, ACME)).toEqual(NOTHING);
  for (const sort of SORTS) await write('acme', sort);
  await write('other', { desired: 'present', gone: false, unseen: false, state: 'sending', pull: 1, n: 3 });
  expect(await countOpen(db, ACME)).toEqual(expected(SORTS));
  expect(await countOpen(db, ACME, 2)).toEqual(expected(SORTS.filter(({ pull }) => pull === 1)));
  expect(await countOpen(db, feedName('other'))).toEqual({ ...NOTHING, pending: 3 });
});

it('reads no rows of those that are not being sent', { tags: 'slow' }, async () => {
  const waiting = { desired: 'present', gone: false, unseen: false, pull: 1 };
  await db.transaction(async (tx) => {
    // Vacuum takes only rows that are safely on the disk for visible to all.
    await tx.query('set local synchronous_commit = on');
    for (const state of ['rejected', 'ready']) await write('third', { ...waiting, state, n: 2_000 }, tx);
  });
  await db.query('vacuum analyze change');
  const read: number[] = [];
  const explaining = {
    query: async (sql: string, values: readonly unknown[]) => {
      const [row] = await db.query(`explain (analyze, buffers, format json) ${sql}`, values);
      const { Plan: plan } = (row as { 'QUERY PLAN': { Plan: Record<string, number> }[] })['QUERY PLAN'][0] as never;
      read.push(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
      return db.query(sql, values);
    },
  } as unknown as Queryable;
  expect(await countOpen(explaining, feedName('third'))).toEqual({ ...NOTHING, rejected: 2_000, pending: 2_000 });
  expect(read.map((blocks) => blocks < 100)).toEqual([true]);
});
