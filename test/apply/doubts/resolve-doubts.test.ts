// Resolves creates in doubt against lists of every kind: those that show the job, too little, or too much.
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_CANDIDATES } from '../../../src/apply/candidate-search.ts';
import { resolveDoubts } from '../../../src/apply/resolve-doubts.ts';
import type { SiteContext } from '../../../src/apply/site-context.ts';
import { siteJobId } from '../../../src/posting/identifiers.ts';
import type { Listing, SiteJob } from '../../../src/site/exchange.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { openStage, type Stage } from '../../review/stage.ts';
import { posting, type TestPosting } from '../../support/indeed-feed.ts';
import { siteContextWith } from '../site-context.ts';

let stage: Stage;
afterEach(() => stage.close());

const LISTED: Listing = { kind: 'listed', pages: 1 };
/** Postings with identical content: nothing tells them apart. */
const ALIKE = { fields: '{ number: null, contact-web-address: null, description: null, title: category }' };

const CONTENT = {
  title: 'Health',
  'category-name': 'Health',
  'location-city': 'Boston',
  'location-state': 'Massachusetts',
};

interface Site {
  /** The jobs of the list. A function may act while the list is read. */
  readonly list?: readonly SiteJob[] | ((db: Database) => Promise<readonly SiteJob[]>);
  readonly listing?: Listing;
  readonly show?: (id: string, db: Database) => Promise<SiteJob | undefined>;
  readonly listChecks?: number;
  readonly canList?: boolean;
  readonly stop?: AbortController;
}

interface Doubtful {
  readonly db: Database;
  /** Resolves once; returns how many were resolved. */
  recordOutcome(site: Site): Promise<number>;
  /** State and note of each doubt, by key. */
  doubts(): Promise<
    readonly { key: string; state: string; operation: string; listChecks: number; note: string | null }[]
  >;
}

/** Puts creates of these keys in doubt; the site made none of the jobs, but nobody knows. */
async function inDoubt(
  keys: readonly string[],
  feed: Readonly<Record<string, string>> = {},
  of: (key: string) => TestPosting = (key) => posting(key),
): Promise<Doubtful> {
  stage = await openStage({ feed });
  await stage.pull(keys.map(of));
  for (const key of keys) await stage.fail(key, 'in_doubt');
  const { db } = stage.app;
  return {
    db,
    recordOutcome(site) {
      let listed: readonly SiteJob[] = [];
      const client: Pick<SiteContext['client'], 'list' | 'show'> = {
        async list(take) {
          listed = typeof site.list === 'function' ? await site.list(db) : (site.list ?? []);
          for (const siteJob of listed) take(siteJob);
          return site.listing ?? LISTED;
        },
        show: async (id) => (site.show === undefined ? listed.find((one) => one.siteJobId === id) : site.show(id, db)),
      };
      const doubts = { resolveAfterMs: 0, listChecks: site.listChecks ?? 1, escalateAfterMs: 0 };
      const policy = { ...siteContextWith({}).policy, doubts, canList: site.canList ?? true };
      const context = siteContextWith({ db, client: client as SiteContext['client'], policy });
      return resolveDoubts(context, (site.stop ?? new AbortController()).signal);
    },
    doubts: () =>
      db.query(
        `select key, state, operation, list_checks as "listChecks", reason->>'note' as note from change order by key`,
      ),
  };
}

const job = (id: string, fields: Readonly<Record<string, string>>, createdAt?: Date): SiteJob => ({
  siteJobId: siteJobId(id),
  fields,
  createdAt,
});

describe('doubts', () => {
  it('stay without a list action, with an unreadable list, and if the reading is cancelled', async () => {
    const { recordOutcome, doubts } = await inDoubt(['a']);
    expect(await recordOutcome({ canList: false, list: [job('1', { number: 'a' })] })).toBe(0);
    const stop = new AbortController();
    const stopping = async () => {
      stop.abort();
      return [job('1', { number: 'a' })];
    };
    expect(await recordOutcome({ list: stopping, stop })).toBe(0);
    expect(await recordOutcome({ listing: { kind: 'unreadable', message: 'it is a page', changed: false } })).toBe(0);
    expect(await doubts()).toMatchObject([{ key: 'a', state: 'in_doubt', listChecks: 0, note: 'it is a page' }]);
  });

  it('cost no reading of the list if there are none', async () => {
    const { recordOutcome } = await inDoubt([]);
    const unread = async () => {
      throw new Error('it was read');
    };
    expect(await recordOutcome({ list: unread })).toBe(0);
  });

  it('are adopted if the list shows the job, and refuted if it does not', async () => {
    const { recordOutcome, doubts, db } = await inDoubt(['a', 'b']);
    expect(await recordOutcome({ list: [job('1', { number: 'a' }), job('2', { number: 'z' })] })).toBe(2);
    expect(await db.query('select key, site_job_id as id from mapping')).toEqual([{ key: 'a', id: '1' }]);
    // Fields that the site does not show for the adopted job are set by an update.
    expect(await doubts()).toMatchObject([
      { key: 'a', state: 'ready', operation: 'update' },
      { key: 'b', state: 'ready', operation: 'create' },
    ]);
  });

  it('take several list checks if configured so', async () => {
    const { recordOutcome, doubts } = await inDoubt(['a']);
    expect(await recordOutcome({ listChecks: 2 })).toBe(0);
    expect(await doubts()).toMatchObject([{ state: 'in_doubt', listChecks: 1 }]);
    expect(await recordOutcome({ listChecks: 2 })).toBe(1);
    expect(await doubts()).toMatchObject([{ state: 'ready', listChecks: 0 }]);
  });

  it('that somebody else resolves meanwhile are not resolved twice', async () => {
    const { recordOutcome } = await inDoubt(['a']);
    const resolvedMeanwhile = async (db: Database) => {
      await db.query('delete from change');
      return [];
    };
    expect(await recordOutcome({ list: resolvedMeanwhile })).toBe(0);
  });

  it('request a job by itself if the list shows too little of it', async () => {
    const { recordOutcome, doubts, db } = await inDoubt(['a', 'b']);
    const list = [job('1', {}), job('2', {})];
    const show = async (id: string) => (id === '1' ? job('1', { number: 'a' }) : undefined);
    expect(await recordOutcome({ list, show })).toBe(2);
    expect(await db.query('select key, site_job_id as id from mapping')).toEqual([{ key: 'a', id: '1' }]);
    // Fields that the site does not show for the adopted job are set by an update.
    expect(await doubts()).toMatchObject([
      { key: 'a', state: 'ready', operation: 'update' },
      { key: 'b', state: 'ready', operation: 'create' },
    ]);
  });

  it('wait for a person if that shows too little as well, or fails', async () => {
    const { recordOutcome, doubts } = await inDoubt(['a']);
    expect(await recordOutcome({ list: [job('1', {})], show: async () => job('1', {}) })).toBe(0);
    expect(await doubts()).toMatchObject([{ state: 'in_doubt', note: expect.stringContaining('made: 1; say which') }]);
    const failing = () => Promise.reject(new Error('timed out'));
    expect(await recordOutcome({ list: [job('1', {})], show: failing })).toBe(0);
    expect(await doubts()).toMatchObject([{ state: 'in_doubt', note: expect.stringContaining('could not be shown') }]);
  });

  it('wait for a person if the list shows the job, and the site does not find it under that ID', async () => {
    const { recordOutcome, doubts, db } = await inDoubt(['a', 'b']);
    const [whole] = await db.query<{ fields: Readonly<Record<string, string>> }>(
      `select fields from change where key = 'b'`,
    );
    const list = [job('1', { number: 'a', title: 'Nurse a' }), job('2', whole?.fields ?? {})];
    expect(await recordOutcome({ list, show: async () => undefined })).toBe(0);
    expect(await db.query('select from mapping')).toEqual([]);
    expect(await doubts()).toMatchObject([
      { key: 'a', state: 'in_doubt', note: expect.stringContaining('the list shows 1, but') },
      { key: 'b', state: 'in_doubt', note: expect.stringContaining('the list shows 2, but') },
    ]);
  });

  it('do not adopt a job of which a person said that it is not theirs', async () => {
    const { recordOutcome, doubts, db } = await inDoubt(['a']);
    await db.query(`insert into refuted_job (site, site_job_id, feed, key) values ('board', '1', 'acme', 'a')`);
    expect(await recordOutcome({ list: [job('1', { number: 'a', title: 'Nurse a' })] })).toBe(1);
    expect(await db.query('select from mapping')).toEqual([]);
    expect(await doubts()).toMatchObject([{ key: 'a', state: 'ready', operation: 'create' }]);
  });

  it('leave it to a person whether the site has used the ID of such a job again', async () => {
    const { recordOutcome, doubts, db } = await inDoubt(['a', 'b']);
    await db.query(
      `insert into refuted_job (site, site_job_id, feed, key) values ('board', '1', 'acme', 'a'), ('board', '2', 'acme', 'b')`,
    );
    const list = [
      job('1', { number: 'a', title: 'Nurse a' }, new Date()),
      job('2', { number: 'b', title: 'Nurse b' }, new Date(Date.now() - 3_600_000)),
    ];
    expect(await recordOutcome({ list })).toBe(1);
    expect(await db.query('select from mapping')).toEqual([]);
    expect(await doubts()).toMatchObject([
      { key: 'a', state: 'in_doubt', note: 'jobs on the site that it may have made: 1; say which one it is' },
      { key: 'b', state: 'ready', operation: 'create' },
    ]);
  });

  it('do not adopt a job that a posting has under another name of the site', async () => {
    const { recordOutcome, doubts, db } = await inDoubt(['a']);
    await db.query(
      `insert into site_state (site, address) values ('board', 'jobs.example.com'), ('same board', 'jobs.example.com')
       on conflict (site) do update set address = excluded.address`,
    );
    await db.query(
      `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
       values ('other', 'a', 'same board', '1', '\\x01', '\\x01')`,
    );
    await db.query(
      `insert into document (feed, key, fields) values ('other', 'a', '{"number":"a","title":"Nurse a"}')`,
    );
    expect(await recordOutcome({ list: [job('1', { number: 'a', title: 'Nurse a' })] })).toBe(1);
    expect(await doubts()).toMatchObject([{ key: 'a', state: 'ready', operation: 'create' }]);
    expect(await db.query('select feed from mapping')).toEqual([{ feed: 'other' }]);
  });

  it('do not adopt a job that another posting gets while the site is asked about the list', async () => {
    const { recordOutcome, doubts, db } = await inDoubt(['a']);
    const own = (key: string, id: string) =>
      db.query(
        `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash) values ('acme', $1, 'board', $2, '\\x01', '\\x01')`,
        [key, id],
      );
    for (const [key, id] of [
      ['y', '8'],
      ['z', '7'],
    ] as const) {
      await own(key, id);
      await db.query(
        `insert into request (feed, key, operation, site_job_id, outcome, duration_ms) values ('acme', $1, 'create', $2, 'created', 1)`,
        [key, id],
      );
    }
    const asked: string[] = [];
    const show = async (id: string) => {
      if (asked.push(id) > 1) return undefined;
      await own('other', '1');
      await db.query(
        `insert into document (feed, key, fields) values ('acme', 'other', '{"number":"a","title":"Nurse a"}')`,
      );
      return undefined;
    };
    const list = [job('1', { number: 'a', title: 'Nurse a' }), job('8', {})];
    expect(await recordOutcome({ list, show })).toBe(1);
    expect(asked).toEqual(['7']);
    expect(await doubts()).toMatchObject([{ key: 'a', state: 'ready', operation: 'create' }]);
  });

  it('wait for a person if the list may show a job that was deleted before', async () => {
    const { recordOutcome, doubts, db } = await inDoubt(['a', 'b', 'c']);
    const [deletedAt, before, after] = [-600_000, -610_000, -590_000].map((ms) => new Date(Date.now() + ms));
    await db.query(`update change set attempt_started = $1`, [after]);
    await db.query(
      `insert into request (feed, key, at, operation, site_job_id, outcome, duration_ms)
       select 'acme', key, $1, 'delete', id, 'accepted', 1 from (values ('a', '1'), ('b', '2'), ('c', '3')) d(key, id)`,
      [deletedAt],
    );
    const list = [job('1', { number: 'a' }), job('2', { number: 'b' }, before), job('3', { number: 'c' }, after)];
    expect(await recordOutcome({ list })).toBe(1);
    expect(await db.query('select key, site_job_id as id from mapping')).toEqual([{ key: 'c', id: '3' }]);
    expect(await doubts()).toMatchObject([
      { key: 'a', state: 'in_doubt', note: 'jobs on the site that it may have made: 1; say which one it is' },
      { key: 'b', state: 'in_doubt', note: 'jobs on the site that it may have made: 2; say which one it is' },
      { key: 'c', state: 'ready', operation: 'update' },
    ]);
  });

  it('do not wait for a job that was deleted for another posting, unless the site may have used its ID again', async () => {
    const { recordOutcome, doubts, db } = await inDoubt(['p24', 'q24', 'r24', 's24']);
    const [deletedAt, before, after] = [-600_000, -7_200_000, -590_000].map((ms) => new Date(Date.now() + ms));
    await db.query(`update change set attempt_started = $1`, [after]);
    await db.query(
      `insert into request (feed, key, at, operation, site_job_id, outcome, duration_ms)
       select 'acme', key, $1, 'delete', id, 'accepted', 1 from (values ('p2', '1-nurse'), ('q2', '2'), ('r2', '3'), ('s2', '4')) d(key, id)`,
      [deletedAt],
    );
    const list = [
      job('1', { number: 'p2', 'deleted-at': '2026-01-02T03:04:05Z' }),
      job('2', { number: 'q2' }, before),
      job('3', { number: 'r2' }, after),
      job('4', { number: 's24' }, before),
    ];
    expect(await recordOutcome({ list })).toBe(2);
    expect(await doubts()).toMatchObject([
      { key: 'p24', state: 'ready', operation: 'create' },
      { key: 'q24', state: 'ready', operation: 'create' },
      { key: 'r24', state: 'in_doubt', note: 'jobs on the site that it may have made: 3; say which one it is' },
      { key: 's24', state: 'in_doubt', note: 'jobs on the site that it may have made: 4; say which one it is' },
    ]);
  });

  it('stay if the list lacks a job that the site accepted, and the site does not tell whether it has that job', async () => {
    const { recordOutcome, doubts, db } = await inDoubt(['a']);
    await db.query(
      `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
       values ('acme', 'z', 'board', '7', '\\x01', '\\x01')`,
    );
    await db.query(
      `insert into request (feed, key, operation, site_job_id, outcome, duration_ms)
       values ('acme', 'z', 'create', '7', 'created', 1)`,
    );
    expect(await recordOutcome({ show: () => Promise.reject(new Error('it answered 503')) })).toBe(0);
    const note = 'The list may be incomplete or outdated: job 7 is not in it, and checking it failed: it answered 503';
    expect(await doubts()).toMatchObject([{ key: 'a', state: 'in_doubt', listChecks: 0, note }]);
    // What a site never shows after its own 201 is not gone.
    await db.query(`update change set not_before = '-infinity'`);
    expect(await recordOutcome({ show: async () => undefined })).toBe(0);
    const hidden = expect.stringContaining('neither lists nor shows any of 1 job that it accepted last (7)');
    expect(await doubts()).toMatchObject([{ key: 'a', state: 'in_doubt', listChecks: 0, note: hidden }]);
    // It lists another one.
    await db.query(
      `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
       values ('acme', 'y', 'board', '8', '\\x01', '\\x01')`,
    );
    await db.query(
      `insert into request (feed, key, operation, site_job_id, outcome, duration_ms)
       values ('acme', 'y', 'create', '8', 'created', 1)`,
    );
    await db.query(`update change set not_before = '-infinity'`);
    expect(await recordOutcome({ list: [job('8', {})], show: async () => undefined })).toBe(1);
  });

  it('stay as they are if that request is cancelled', async () => {
    const { recordOutcome, doubts } = await inDoubt(['a', 'b']);
    const stop = new AbortController();
    const stopping = () => {
      stop.abort();
      return Promise.reject(new Error('called off'));
    };
    expect(await recordOutcome({ list: [job('1', {})], show: stopping, stop })).toBe(0);
    expect(await doubts()).toMatchObject([
      { state: 'in_doubt', listChecks: 0, note: null },
      { state: 'in_doubt', listChecks: 0, note: null },
    ]);
  });

  it('with several matching jobs wait for a person', async () => {
    const { recordOutcome, doubts } = await inDoubt(['a']);
    expect(await recordOutcome({ list: [job('1', { number: 'a' }), job('2', { number: 'a' })] })).toBe(0);
    expect(await doubts()).toMatchObject([{ state: 'in_doubt', note: expect.stringContaining('made: 1, 2; say') }]);
  });

  it('with identical content share the matching jobs', async () => {
    const { recordOutcome, db } = await inDoubt(['a', 'b'], ALIKE);
    const list = ['1', '2'].map((id) => job(id, CONTENT, new Date()));
    expect(
      await recordOutcome({ list: [...list, job('3', { ...CONTENT, 'location-city': 'Salem' }, new Date())] }),
    ).toBe(2);
    expect(await db.query('select site_job_id as id from mapping order by 1')).toEqual([{ id: '1' }, { id: '2' }]);
  });

  it('with identical content share nothing once somebody else has resolved them', async () => {
    const { recordOutcome, db } = await inDoubt(['a', 'b'], ALIKE);
    const { 'location-city': _, ...tooLittle } = CONTENT;
    const show = async (id: string) => {
      await db.query('delete from change');
      return job(id, CONTENT, new Date());
    };
    expect(await recordOutcome({ list: ['1', '2'].map((id) => job(id, tooLittle, new Date())), show })).toBe(0);
    expect(await db.query('select from mapping')).toEqual([]);
  });

  it('with too many candidates, all of which belong to others, wait for a person', async () => {
    const { recordOutcome, doubts, db } = await inDoubt(['a']);
    const list = Array.from({ length: 201 }, (_, at) => job(String(at), { number: 'a' }));
    await db.query(`insert into refuted_job (site, site_job_id, feed, key)
      select 'board', n::text, 'acme', 'a' from generate_series(0, 200) n`);
    expect(await recordOutcome({ list })).toBe(0);
    expect(await doubts()).toMatchObject([{ state: 'in_doubt', note: expect.stringContaining('more than 200 jobs') }]);
  });

  it('that share a reference find each their own job, however many are alike', async () => {
    const keys = Array.from({ length: MAX_CANDIDATES + 10 }, (_, at) => `k${at}`);
    const shared = { fields: '{ number: { value: R1 }, contact-web-address: null }' };
    const cityOf = (key: string) => `City ${key.slice(1).replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '')}`;
    const of = (key: string) => posting(key, { title: 'Nurse', description: 'You care.', city: cityOf(key) });
    const { recordOutcome, db } = await inDoubt(keys, shared, of);
    const sent = await db.query<{ key: string; fields: Readonly<Record<string, string>> }>(
      'select key, fields from change order by md5(key)',
    );
    const list = sent.map(({ key, fields }) => job(`of ${key}`, { ...fields, title: 'NURSE' }, new Date()));
    expect(await recordOutcome({ list })).toBe(keys.length);
    const mapped = await db.query<{ key: string; id: string }>('select key, site_job_id as id from mapping');
    expect(mapped.filter(({ key, id }) => id !== `of ${key}`)).toEqual([]);
  });

  it('with identical content share more jobs than one keeps', async () => {
    const keys = Array.from({ length: MAX_CANDIDATES + 10 }, (_, at) => `k${at}`);
    const { recordOutcome, db } = await inDoubt(keys, ALIKE);
    const list = keys.map((_, at) => job(String(at), CONTENT, new Date()));
    expect(await recordOutcome({ list })).toBe(keys.length);
    expect(await db.query('select count(distinct site_job_id)::int as n from mapping')).toEqual([{ n: keys.length }]);
  });

  it('leave alone a job that another open create has sent, and that differs from theirs', async () => {
    const of = (key: string) => posting(key, { title: 'Nurse', description: 'You care.', city: key });
    const { recordOutcome, doubts, db } = await inDoubt(
      ['Boston', 'Salem'],
      { fields: '{ number: { value: R1 } }' },
      of,
    );
    // It is not due yet.
    await db.query(`update change set not_before = clock_timestamp() + interval '1 hour' where key = 'Salem'`);
    const [salem] = await db.query<{ fields: Readonly<Record<string, string>> }>(
      `select fields from change where key = 'Salem'`,
    );
    expect(await recordOutcome({ list: [job('1', salem?.fields ?? {}, new Date())] })).toBe(1);
    expect(await doubts()).toMatchObject([
      { key: 'Boston', state: 'ready', operation: 'create' },
      { key: 'Salem', state: 'in_doubt' },
    ]);
  });

  it('are left to a person if a job has their address, whatever else it shows, unless it is of another time', async () => {
    const { recordOutcome, doubts, db } = await inDoubt(['a', 'b']);
    const old = new Date(Date.now() - 86_400_000);
    await db.query(
      `insert into document (feed, key, fields) values ('acme', 'z', '{"contact-web-address":"https://jobs.example.com/a"}')`,
    );
    await db.query(
      `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
       values ('acme', 'z', 'board', '7', '\\x01', '\\x01')`,
    );
    const shows = (key: string) => ({
      title: 'Opening',
      'contact-web-address': `https://jobs.example.com/${key}`,
      'location-city': 'Boston',
    });
    // Another posting has the address of a; nobody else has the one of b, but that job was there before.
    const list = [job('1', shows('a'), new Date()), job('2', shows('b'), old), job('7', shows('a'), old)];
    expect(await recordOutcome({ list })).toBe(0);
    expect(await doubts()).toMatchObject([
      { key: 'a', state: 'in_doubt', note: expect.stringContaining('made: 1; say which') },
      { key: 'b', state: 'in_doubt', note: expect.stringContaining('made: 2, 1; say which') },
    ]);
  });
});
