// Pages stay small with more entries than any of them counts, and 100,000 entries in 200 groups can be reviewed in a browser. To measure
// times as well, with the number of entries and mappings:
// `PAGE_ENTRIES=100000 PAGE_MAPPINGS=1000000 npx vitest run test/web/page-sizes.test.ts`
// @module-tag slow
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listGroups } from '../../src/review/list-groups.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { openStage, type Stage } from '../review/stage.ts';
import { accessibilityFaults, browserForTests } from '../support/browser.ts';
import { postings } from '../support/indeed-feed.ts';
import { type FormVisitor, visitorOf } from './form-visitor.ts';
import { signInAs } from './pages/signed-in.ts';
import { type Served, serve } from './served.ts';

const MEASURES = process.env.PAGE_ENTRIES !== undefined;
/** More than 10,000, which is where counting ends. */
const ENTRIES = Number(process.env.PAGE_ENTRIES ?? 10_600);
/** As many as the last test adds up to. */
const MOST_ENTRIES = Math.max(ENTRIES, 100_000);
const MAPPINGS = Number(process.env.PAGE_MAPPINGS ?? 0);
const GROUPS = 200;
const MOST_BYTES = 200_000;
const REQUESTS = 25;
/** Writing so many entries takes long. */
const LONG_MS = 900_000;
const chromium = browserForTests();
/** Entries of another feed and site, of as many groups. */
const RARE = 30;
/** The newest entries have a word that the oldest ones have not. */
const WITH_WORD = ENTRIES - 3_000;
/** What the pages of review can be asked for. */
const PAGES_OF_REVIEW = [
  '/review',
  '/review/entries',
  '/review/confirm?action=discard',
  '/api/v1/review',
  '/api/v1/review/groups',
];
/** The age of half of the entries. */
const HALF = `${Math.round(ENTRIES / 120)}min`;
/** Everything but a text that a person can choose at once, and half of the entries have. */
const ALL_FILTERS = `feed=acme&site=board&kind=rejected&older_than=${HALF}&newer_than=30d`;

const FILTERS = [
  'feed=acme',
  'q=nurse',
  'q=nurse%20777',
  'older_than=1h',
  `older_than=${HALF}`,
  `newer_than=${HALF}`,
  'older_than=1h&newer_than=1d',
  'site=board',
  'site=hidden',
  'q=nurse&site=board',
  'q=nurse&site=hidden',
  ALL_FILTERS,
  `${ALL_FILTERS}&q=nurse`,
];
const FILTERED_PAGES = FILTERS.flatMap((filter) =>
  PAGES_OF_REVIEW.map((page) => `${page}${page.includes('?') ? '&' : '?'}${filter}`),
);

let stage: Stage;
let served: Served;
let anna: FormVisitor;
beforeAll(async () => {
  stage = await openStage();
  await appendFile(stage.mirror.configPath, '  moved: { site: board, source: moved.xml, format: indeed }\n');
  const { db } = stage.app;
  await stage.pull(postings(1));
  // The rare ones are the newest ones.
  await db.query(ADD_CHANGES, [-RARE, GROUPS, WITH_WORD]);
  await copyEntries(db, GROUPS + 1, ENTRIES);
  if (MAPPINGS > 0) {
    await db.query(
      `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
       select 'acme', 'live-' || n, 'board', 'job-' || n, sha256(n::text::bytea), sha256(n::text::bytea)
       from generate_series(1, $1::int) n`,
      [MAPPINGS],
    );
  }
  await db.query('vacuum analyze');
  const { configPath } = stage.mirror;
  const config = await readFile(configPath, 'utf8');
  await writeFile(
    configPath,
    config.replace('feeds:', `  hidden: { base_url: "http://127.0.0.1:9", token: "\${BOARD_TOKEN}" }\nfeeds:`),
  );
  served = await serve(stage.mirror, { requestsPerMinute: 1_000_000 });
  anna = await visitorOf(served, 'anna');
}, LONG_MS);
afterAll(async () => {
  await served?.close();
  await stage?.close();
});

/** Adds the changes of these numbers. Each group has words of its own, as numbers are left out of what makes a group. */
const ADD_CHANGES = `
  insert into change (feed, key, site, desired, operation, fields, state, invalid, reason, since)
  select case when n < 0 then 'rare' else 'acme' end, 'posting-with-a-rather-long-key-' || n,
    case when n < 0 then 'hidden' else 'board' end, 'present', 'create',
    json_build_object('title', repeat('Nurse ', 15) || n || case when n between 1 and $3 then ' frequent' else '' end,
      'location-state', 'V' || n % 20),
    'rejected', true, jsonb_build_object('kind', 'rejected', 'message', m.said, 'problems', jsonb_build_array(
      jsonb_build_object('field', 'title', 'value', 'V' || n % 20, 'message', m.said))),
    now() - make_interval(secs => n)
  from generate_series($1::int, $2::int) n,
    lateral (select translate(lpad((abs(n) % ${GROUPS})::text, 3, '0'), '0123456789', 'abcdefghij') || repeat(' is refused', 20)
      as said) m
  where n <> 0`;

/** Adds the entries of changes that have none, each like the newest entry of its group. */
const COPY_ENTRIES = `
  insert into review_entry (id, group_id, kind, discarded, feed, key, site, field, message, value, since, revision, part, words)
  select c.id, group_id, kind, discarded, e.feed, c.key, e.site, field, message, value, c.since, c.revision, part,
    ts_delete(array_to_tsvector(array_replace(array_replace(tsvector_to_array(words), newest::text, n::text), '=' || newest, '=' || n)),
      case when n > $3 then array['frequent', '=frequent'] else '{}' end)
  from generate_series($1::int, $2::int) n cross join lateral (select (n - 1) % ${GROUPS} + 1 as newest) o
    join review_entry e on e.key = 'posting-with-a-rather-long-key-' || newest
    join change c on c.key = 'posting-with-a-rather-long-key-' || n`;

/** Adds changes with copied entries: triggers take five times as long to write them. */
async function copyEntries(db: Database, first: number, last: number): Promise<void> {
  await db.query('alter table change disable trigger user');
  await db.query(ADD_CHANGES, [first, last, WITH_WORD]);
  await db.query('alter table change enable trigger user');
  await db.query('analyze change, review_entry');
  await db.query(COPY_ENTRIES, [first, last, WITH_WORD]);
}

it('has the entries that triggers would have written', async () => {
  const { db } = stage.app;
  const keys = [777, WITH_WORD, WITH_WORD + 1].map((n) => `posting-with-a-rather-long-key-${n}`);
  const entries = () => db.query('select * from review_entry where key = any($1) order by key', [keys]);
  const copies = await entries();
  expect(copies).toHaveLength(keys.length);
  // The triggers write the entry of a change with another reason again.
  await db.query(`update change set reason = reason || '{"status": 422}' where key = any($1)`, [keys]);
  expect(await entries()).toEqual(copies);
});

it('shows each group on one page, and refuses pages that are none', async () => {
  const seen: string[] = [];
  for (let path: string | undefined = '/review'; path !== undefined; ) {
    const { status, text } = await anna.get(path);
    expect([path, status]).toEqual([path, 200]);
    seen.push(...[...text.matchAll(/<h2><a href="[^"]*group=(g\w+)"/g)].map(([, group = '']) => group));
    path = /<a href="([^"]*)" rel="next">/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  }
  expect([seen.length, new Set(seen).size]).toEqual([GROUPS, GROUPS]);
  expect((await anna.get('/review?page=5')).text).toContain('There are no more groups.');
  for (const page of ['0', '-1', 'x', '1.5', '10001', '9'.repeat(30)]) {
    expect([page, (await anna.get(`/review?page=${page}`)).status]).toEqual([page, 400]);
  }
});

it('each has at most 200 kB', async () => {
  const [group] = await listGroups(stage.app.db, {}, { groups: 1, values: 1 });
  expect(group?.count).toBe(ENTRIES / GROUPS + 1);
  const id = group?.id ?? '';
  const bulk = await served.api('POST', 'review/actions', {
    action: 'discard',
    filter: { group: id },
    expected: group?.count,
  });
  expect(bulk.status, bulk.text).toBe(202);
  await stage.app.db.query(`update bulk_entry set skipped = repeat('because of this ', 20)`);
  await stage.app.db.query(`update bulk_action set skipped = total, state = 'done'`);
  const first = await anna.get('/review/entries');
  const cursor = /href="([^"]*cursor=[^"]*)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  expect(cursor).not.toBe('');
  await measure([
    '/',
    '/feed?feed=acme',
    '/held',
    '/queues',
    '/api/v1/feeds',
    '/review',
    '/review?page=4',
    '/jobs?q=nurse',
    '/review/entries',
    cursor,
    `/review/entries?group=${id}`,
    `/review/confirm?action=discard&group=${id}`,
    '/review/confirm?action=discard',
    '/review/actions',
    '/review/actions/1',
    '/review/rules',
    '/pulls',
    '/pulls/1',
    '/jobs',
    '/jobs?feed=acme',
    '/jobs?q=live-7',
    '/sites',
    '/sites/board',
    '/activity',
    '/api/v1/activity',
    '/doubts',
    '/doubts/found?feed=acme',
    '/api/v1/feeds/acme/found',
    '/held?feed=acme',
    '/rekey?feed=acme',
    '/adopt?feed=acme',
    '/posting?feed=acme&key=posting-with-a-rather-long-key-7',
    `/posting?feed=acme&key=posting-with-a-rather-long-key-7&group=${id}`,
    '/api/v1/feeds/acme/postings',
    '/api/v1/feeds/acme/postings?state=rejected',
    '/api/v1/feeds/acme/postings?q=nurse',
    '/api/v1/feeds/acme/postings/posting-with-a-rather-long-key-7',
    '/api/v1/review',
    `/api/v1/review?group=${id}`,
    '/api/v1/review/groups',
    '/api/v1/review/selection?action=discard',
    `/api/v1/review/selection?action=discard&group=${id}`,
    '/api/v1/review/actions',
    '/api/v1/review/rules',
    '/api/v1/sites',
    '/api/v1/pulls/1',
    '/api/v1/feeds/acme/rekey',
    '/api/v1/feeds/acme/adopt',
    ...FILTERED_PAGES,
  ]);
});

const medianOf = (ms: readonly number[]): number =>
  Math.round([...ms].sort((one, other) => one - other)[ms.length >> 1] ?? 0);

/** Expects each page to be small, and prints how long it took if times are measured. */
async function measure(paths: readonly string[], requests = REQUESTS): Promise<void> {
  const times: Record<string, { kB: number; 'median ms': number }> = {};
  for (const path of paths) {
    const took: number[] = [];
    for (let at = 0; at < (MEASURES ? requests : 1); at += 1) {
      const from = performance.now();
      const { status, text } = await anna.get(path);
      took.push(performance.now() - from);
      expect(status, path).toBe(200);
      expect(Buffer.byteLength(text), path).toBeLessThan(MOST_BYTES);
      times[path] = { kB: Math.round(Buffer.byteLength(text) / 1000), 'median ms': 0 };
    }
    times[path] = { kB: times[path]?.kB ?? 0, 'median ms': medianOf(took) };
  }
  if (MEASURES) console.table(times);
}

it('of changed keys, after a decision as well', async () => {
  const { db } = stage.app;
  const pairs = MEASURES ? ENTRIES : 500;
  await db.query(
    `with note as (
       insert into feed_state (feed, site, rekey_since, rekey_note, rekey_set) values ('moved', 'board', now(), '{"text":"why","next":[]}', 1)),
     mapped as (
       insert into mapping (feed, key, site, site_job_id, record_hash, content_hash, missing_pulls)
       select 'moved', 'old-' || n, 'board', 'moved-' || n, sha256(('m' || n)::bytea), sha256(n::text::bytea), 1
       from generate_series(1, $1::int) n),
     documented as (
       insert into document (feed, key, fields)
       select 'moved', 'old-' || n, json_build_object('title', repeat('Nurse ', 15) || n, 'description', repeat('x ', 500))
       from generate_series(1, $1::int) n),
     added as (
       insert into change (feed, key, site, desired, operation, fields, record_hash, content_hash, state)
       select 'moved', 'new-' || n, 'board', 'present', 'create',
         json_build_object('title', repeat('Nurse ', 15) || n, 'description', repeat('y ', 500)), sha256(('c' || n)::bytea),
         sha256(n::text::bytea), 'ready'
       from generate_series(1, $1::int) n)
     insert into rekey_posting (feed, is_new, key, content, likeness, proven)
     select 'moved', is_new, case when is_new then 'new-' else 'old-' end || n, md5(case when n % 5 = 0 then n || is_new::text else n::text end),
       md5('l' || n), true
     from generate_series(1, $1::int) n, unnest(array[true, false]) is_new`,
    [pairs],
  );
  await db.query('vacuum analyze');
  const from = performance.now();
  const { body } = await served.api('GET', 'feeds/moved/rekey?limit=1');
  if (MEASURES) console.log(`compared ${pairs} pairs in ${Math.round(performance.now() - from)} ms`);
  expect(body).toMatchObject({ current: true, sure: (pairs / 5) * 4, unsure: pairs / 5 });
  const cursorOf = (place: object) => Buffer.from(JSON.stringify(place)).toString('base64url');
  const late = cursorOf({ rank: 1, length: `new-${pairs}`.length - 1, named: 'new-9' });
  const paths = [
    '/rekey?feed=moved',
    '/rekey?feed=moved&show=unsure',
    `/rekey?feed=moved&cursor=${late}`,
    '/api/v1/feeds/moved/rekey?limit=200',
    `/api/v1/feeds/moved/rekey?limit=200&show=unsure&cursor=${cursorOf({ rank: 2, length: 4, named: 'new-5' })}`,
  ];
  await measure(paths);
  const decisions = MEASURES ? 15 : 1;
  const { body: shown } = await served.api('GET', `feeds/moved/rekey?limit=${decisions}`);
  const took: number[] = [];
  for (const { key, old_key, version } of shown.items) {
    const decided = performance.now();
    const { status, text } = await served.api('POST', 'feeds/moved/rekey', { decision: 'pair', key, old_key, version });
    took.push(performance.now() - decided);
    expect(status, text).toBe(200);
  }
  expect(took).toHaveLength(decisions);
  if (MEASURES)
    console.log(`decided about one pair in ${medianOf(took)} ms, the first time in ${Math.round(took[0] ?? 0)} ms`);
  await measure(paths.slice(0, 1));
});

it('counts and decides about at most 10,000 entries of a text', async () => {
  expect((await anna.get('/review?q=nurse')).text).toContain('More than 10000 entries');
  const { text } = await anna.get('/review/entries?q=nurse');
  expect(text).toContain('More than 10000 entries match');
  expect(text).toContain('Send again the chosen');
  const confirm = await anna.get('/review/confirm?action=discard&q=nurse');
  expect(confirm.text).toContain('More than 10000 entries match this text');
  expect(confirm.text).not.toContain('name="expected"');
  const { body } = await served.api('GET', 'review/selection?action=discard&q=nurse');
  const stored = () => stage.app.db.query('select id from bulk_action union all select bulk from bulk_entry');
  const before = await stored();
  const all = await served.api('POST', 'review/actions', {
    action: 'discard',
    filter: { q: 'nurse' },
    expected: body.count,
    mark: body.mark,
  });
  expect([all.status, all.text]).toEqual([409, expect.stringContaining('more than 10000 entries match')]);
  expect(await stored()).toEqual(before);
  // Words that fewer entries have are counted in full.
  expect((await anna.get('/review?q=nurse%20777')).text).not.toContain('More than');
});

it('lists the few of many entries that match, the oldest first', { timeout: LONG_MS }, async () => {
  const keysOf = async (filter: string, limit: number, pages: number): Promise<number[]> => {
    const found: number[] = [];
    let path = `review?${filter}&limit=${limit}`;
    for (let page = 0; page < pages; page += 1) {
      const { status, body } = await served.api('GET', path);
      expect([path, status]).toEqual([path, 200]);
      found.push(
        ...body.items.map(({ key }: { key: string }) => Number(key.replace('posting-with-a-rather-long-key-', ''))),
      );
      if (body.next_cursor === null) break;
      path = `review?${filter}&limit=${limit}&cursor=${body.next_cursor}`;
    }
    return found;
  };
  const oldest = (n: number) => Array.from({ length: n }, (_, at) => ENTRIES - at);
  const [ten, last] = [[7779, 7778, 7777, 7776, 7775, 7774, 7773, 7772, 7771, 7770], 777];
  for (const filter of ['q=nurse%20777', 'q=777&site=board&kind=rejected', 'q=777&feed=acme&older_than=1min']) {
    const found = await keysOf(filter, Math.ceil(ENTRIES / 5_000), 9);
    // With more entries, more numbers begin with these figures.
    expect([filter, found.filter((n) => n < 10_000)]).toEqual([filter, [...ten, last]]);
    expect(found).toEqual([...found].sort((one, other) => other - one));
  }
  const rare = Array.from({ length: RARE }, (_, at) => -at - 1);
  for (const filter of ['site=hidden', 'q=nurse&site=hidden', 'q=nurse&site=hidden&kind=rejected']) {
    expect([filter, await keysOf(filter, 10, 9)]).toEqual([filter, rare]);
    const groups = await served.api('GET', `review/groups?limit=200&${filter}`);
    expect([filter, groups.body.items.map(({ count }: { count: number }) => count)]).toEqual([
      filter,
      Array(RARE).fill(1),
    ]);
    const selection = await served.api('GET', `review/selection?action=discard&${filter}`);
    expect([filter, selection.body.count]).toEqual([filter, RARE]);
  }
  expect(await keysOf('site=board', 30, 2)).toEqual(oldest(60));
  expect(await keysOf('site=board&kind=rejected&older_than=1min', 30, 2)).toEqual(oldest(60));
  expect(await keysOf('q=nurse', 30, 2)).toEqual(oldest(60));
  // A word of many entries, but of none of the oldest ones.
  for (const filter of ['q=frequent', 'q=frequent&site=board']) {
    expect([filter, await keysOf(filter, 30, 2)]).toEqual([
      filter,
      Array.from({ length: 60 }, (_, at) => WITH_WORD - at),
    ]);
  }
});

it('of found jobs, whose references are compared with those of all postings of the site', async () => {
  const { db } = stage.app;
  const jobs = MEASURES ? 200_000 : 200;
  await db.query(
    `with mapped as (
       insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
       select 'acme', 'own-' || n, 'board', 'own-' || n, sha256(('o' || n)::bytea), sha256(n::text::bytea) from generate_series(1, $1::int) n),
     documented as (
       insert into document (feed, key, fields)
       select 'acme', 'own-' || n, json_build_object('title', 'Nurse ' || n, 'number', 'own-' || n, 'description', repeat('words ', 90))
       from generate_series(1, $1::int) n),
     shown as (
       insert into site_reference (site, site_job_id, reference, shown)
       select 'board', 'found-' || n, 'found' || n, 'found-' || n from generate_series(1, 200) n)
     insert into change (feed, key, site, desired, operation, fields, state, reason, attempt_token, attempt_operation, found_job_id)
     select 'acme', 'found-' || n, 'board', 'present', 'create', json_build_object('title', 'Nurse ' || n, 'number', 'found-' || n), 'in_doubt',
       '{"message": "found"}', gen_random_uuid(), 'create', 'found-' || n
     from generate_series(1, 200) n`,
    [jobs],
  );
  await db.query('vacuum analyze');
  const { body } = await served.api('GET', 'feeds/acme/found');
  expect(body).toMatchObject({ sure: 200, left: 0 });
  await measure(['/doubts', '/doubts/found?feed=acme', '/api/v1/feeds/acme/found'], 5);
});

it.skipIf(!chromium.available)(
  `lead from a group of many to its entries in a browser${chromium.note}`,
  { timeout: LONG_MS },
  async () => {
    if (ENTRIES < MOST_ENTRIES) await copyEntries(stage.app.db, ENTRIES + 1, MOST_ENTRIES);
    await stage.app.db.query('vacuum analyze change, review_entry');
    const browser = await chromium.launch();
    try {
      const { page, errors, go } = await signInAs(served, browser, 'anna');
      expect(await go('/review')).toBe(200);
      await page.locator('a[rel=next]').click();
      await page.waitForURL(/page=2/);
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.locator('h2 a[href*="group="]').first().click();
      await page.getByRole('button', { name: `Set for all ${MOST_ENTRIES / GROUPS}` }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await page.getByRole('button', { name: `Discard all ${MOST_ENTRIES / GROUPS}…` }).click();
      await page.getByRole('button', { name: /^Discard/ }).waitFor();
      expect(errors).toEqual([]);
    } finally {
      await browser.close();
    }
  },
);
