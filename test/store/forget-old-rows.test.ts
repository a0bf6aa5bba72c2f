import { afterAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { claimRetention, forgetOldRows, resumeRetentionSoon } from '../../src/store/status/retention.ts';
import { createTestDatabase } from '../support/database.ts';

const DAYS = { requests: 30, failures: 30, audit: 30, pulls: 30, undo: 30 };

describe('old rows', async () => {
  const database = await createTestDatabase();
  const db = openDatabase(database.url, { max: 1 });
  afterAll(async () => {
    await db.close();
    await database.drop();
  });
  const requests = async () =>
    (await db.query<{ key: string }>('select key from request order by key')).map((row) => row.key);
  const addRequests = (days: number, keys: readonly string[]) =>
    db.query(
      `insert into request (feed, key, at, operation, outcome, duration_ms)
       select 'acme', key, now() - make_interval(days => $1), 'create', 'created', 1 from unnest($2::text[]) key`,
      [days, keys],
    );

  it('are all removed, however few each statement may remove; younger rows stay', async () => {
    await addRequests(
      31,
      Array.from({ length: 25 }, (_, at) => `old ${at}`),
    );
    await addRequests(29, ['young']);
    await forgetOldRows(db, DAYS, new AbortController().signal, 10);
    expect(await requests()).toEqual(['young']);
  });

  it('stay when the process is stopped', async () => {
    await addRequests(31, ['old']);
    await forgetOldRows(db, DAYS, AbortSignal.abort(), 10);
    expect(await requests()).toEqual(['old', 'young']);
  });

  it('of the audit are removed too', async () => {
    await db.query(
      `insert into audit (at, actor, action) select now() - make_interval(days => d), 'ann', 'day ' || d
       from unnest(array[31, 29]) d`,
    );
    await forgetOldRows(db, DAYS, new AbortController().signal, 1);
    expect(await db.query('select action from audit')).toEqual([{ action: 'day 29' }]);
  });

  it('of actions on many entries are removed with their entries, except open ones', async () => {
    await db.query(
      `with made as (
         insert into bulk_action (action, actor, detail, state, waits_for, touched_at)
         select 'adopt', state || ' ' || d, '{}', state, 'a paused site', now() - make_interval(days => d)
         from unnest(array['open', 'stopped', 'done']) state, unnest(array[31, 29]) d returning id)
       insert into bulk_entry (bulk, feed, entry, group_id) select id, 'acme', 1, '' from made`,
    );
    await forgetOldRows(db, DAYS, new AbortController().signal, 1);
    const left = await db.query<{ actor: string }>(
      'select actor from bulk_action join bulk_entry on bulk = id order by actor',
    );
    expect(left.map(({ actor }) => actor)).toEqual(['done 29', 'open 29', 'open 31', 'stopped 29']);
  });

  it('of pulls are removed, except the current pull of a feed', async () => {
    await db.query(
      `insert into pull (feed, site, started_at) select 'acme', 'board', now() - make_interval(days => 40)
       from generate_series(1, 3)`,
    );
    const [last] = await db.query<{ id: number }>('select max(id) as id from pull');
    await db.query(`insert into feed_state (feed, site, current_pull) values ('acme', 'board', $1)`, [last?.id]);
    await forgetOldRows(db, DAYS, new AbortController().signal, 1);
    expect(await db.query('select id from pull')).toEqual([{ id: last?.id }]);
  });

  it('of what a pull replaced are removed once the pull is too old to be undone', async () => {
    const [old] = await db.query<{ id: number }>(
      `insert into pull (feed, site, started_at, undoable) select 'undone', 'board', now() - make_interval(days => d), true
       from unnest(array[32, 29]) d returning id`,
    );
    await db.query(
      `insert into former_document (feed, key, pull, at, whole) select 'undone', 'day ' || d, $1, now() - make_interval(days => d), false
       from unnest(array[32, 29]) d`,
      [old?.id],
    );
    await forgetOldRows(db, { ...DAYS, pulls: 90 }, new AbortController().signal, 1);
    expect(await db.query('select key from former_document')).toEqual([{ key: 'day 29' }]);
    expect(await db.query(`select undoable from pull where feed = 'undone' order by id`)).toEqual([
      { undoable: false },
      { undoable: true },
    ]);
    await db.query(`delete from pull where feed = 'undone'`);
  });

  it('of pulls are removed with their counts, few pulls per statement', async () => {
    const [old] = await db.query<{ id: number }>(
      `insert into pull (feed, site, started_at) values ('acme', 'board', now() - make_interval(days => 40)) returning id`,
    );
    await db.query(
      `insert into outcome_count (pull, outcome, shard, n) select $1, 'requests', n, 1 from generate_series(1, 16) n`,
      [old?.id],
    );
    await forgetOldRows(db, DAYS, new AbortController().signal);
    expect(await db.query('select from outcome_count')).toEqual([]);
  });

  it('without meaning are removed: writes that are certain again, and tokens that nobody tries', async () => {
    await db.query(
      `insert into uncertain_write (feed, key, revision, fields, until) values
         ('acme', 'certain', 1, null, now() - interval '2 days'), ('acme', 'fresh', 1, null, now()),
         ('acme', 'uncertain', 1, '{title}', now() - interval '2 days')`,
    );
    await db.query(
      `insert into refused_token (site, digest, cause, noted_by, changed_at) values
         ('board', 'old', '401', 'gone', now() - interval '8 days'), ('board', 'tried', '401', 'here', now())`,
    );
    await forgetOldRows(db, DAYS, new AbortController().signal);
    expect(
      (await db.query<{ key: string }>('select key from uncertain_write order by key')).map((row) => row.key),
    ).toEqual(['fresh', 'uncertain']);
    expect(await db.query('select digest from refused_token')).toEqual([{ digest: 'tried' }]);
  });

  it('of details are removed once the list no longer has their records, unless a posting still needs them', async () => {
    await db.query(
      `insert into detail (feed, list_hash, record_hash, key, body, fetched_at, unlisted_at)
       select 'acme', convert_to(key, 'UTF8'), convert_to(key, 'UTF8'), key, '', now() - interval '40 days', unlisted_at
       from (values ('skipped', null), ('gone', now() - interval '2 days'), ('left', now()), ('held', now() - interval '2 days'))
         d(key, unlisted_at)`,
    );
    await db.query(
      `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash) values ('acme', 'held', 'board', '1', '', '')`,
    );
    await forgetOldRows(db, DAYS, new AbortController().signal);
    const left = await db.query<{ key: string }>('select key from detail order by key');
    expect(left.map(({ key }) => key)).toEqual(['held', 'left', 'skipped']);
  });

  it('are removed by one process per hour, and again soon if it did not finish', async () => {
    expect([await claimRetention(db), await claimRetention(db)]).toEqual([true, false]);
    await resumeRetentionSoon(db);
    expect([await claimRetention(db), await claimRetention(db)]).toEqual([true, false]);
    await db.query(`update installation set old_rows_removed_at = now() - interval '61 minutes'`);
    expect([await claimRetention(db), await claimRetention(db)]).toEqual([true, false]);
  });
});
