// Settles creates in doubt against lists of every kind: what shows the job, what shows too little, what shows too much.
import { describe, expect } from 'vitest';
import { resolveDoubts } from '../../src/apply/resolve-doubts.ts';
import type { SiteContext } from '../../src/apply/site-context.ts';
import { siteJobId, siteName } from '../../src/posting/identifiers.ts';
import type { Listing, SiteJob } from '../../src/site/exchange.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { lawTest as it, type Open } from '../laws/law-test.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';

const LISTED: Listing = { kind: 'listed', pages: 1 };
/** Postings of one content: nothing of them tells one from another. */
const ALIKE = { fields: '{ number: null, contact-web-address: null, description: null, title: category }' };

const CONTENT = {
  title: 'Health',
  'category-name': 'Health',
  'location-city': 'Boston',
  'location-state': 'Massachusetts',
};

interface Site {
  /** What the list shows. It may do something meanwhile. */
  readonly list?: readonly SiteJob[] | ((db: Database) => Promise<readonly SiteJob[]>);
  readonly listing?: Listing;
  readonly show?: (id: string, db: Database) => Promise<SiteJob | undefined>;
  readonly listChecks?: number;
  readonly canList?: boolean;
  readonly stop?: AbortController;
}

interface Doubtful {
  readonly db: Database;
  /** Settles once; gives how many were settled. */
  recordOutcome(site: Site): Promise<number>;
  /** State and note of each doubt, by key. */
  doubts(): Promise<
    readonly { key: string; state: string; operation: string; listChecks: number; note: string | null }[]
  >;
}

/** Creates of these keys, none of which the site has made, as far as anybody knows. */
async function inDoubt(
  open: Open,
  keys: readonly string[],
  feed: Readonly<Record<string, string>> = {},
): Promise<Doubtful> {
  const installation = await open({ site: { list_path: undefined }, feed });
  await installation.sandbox.setFaults([{ name: '500', on: ['create'] }]);
  await installation.writeFeed(feedXml(keys.map((key) => posting(key))));
  expect(await installation.sync()).toMatchObject({ in_doubt: keys.length });
  const { db } = await installation.app();
  const real = (await installation.engine()).siteContexts.get(siteName('board')) as SiteContext;
  return {
    db,
    recordOutcome(site) {
      let listed: readonly SiteJob[] = [];
      const client: SiteContext['client'] = {
        ...real.client,
        async list(take) {
          listed = typeof site.list === 'function' ? await site.list(db) : (site.list ?? []);
          for (const siteJob of listed) take(siteJob);
          return site.listing ?? LISTED;
        },
        show: async (id) => (site.show === undefined ? listed.find((one) => one.siteJobId === id) : site.show(id, db)),
      };
      const doubts = { resolveAfterMs: 0, listChecks: site.listChecks ?? 1, escalateAfterMs: 0 };
      const policy = { ...real.policy, doubts, canList: site.canList ?? true };
      return resolveDoubts({ ...real, client, policy }, (site.stop ?? new AbortController()).signal);
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

describe('doubts', { concurrent: true }, () => {
  it('stay without a list action, with an unreadable list, and where the reading is called off', async ({ open }) => {
    const { recordOutcome, doubts } = await inDoubt(open, ['a']);
    expect(await recordOutcome({ canList: false, list: [job('1', { number: 'a' })] })).toBe(0);
    const stop = new AbortController();
    const stopping = async () => {
      stop.abort();
      return [job('1', { number: 'a' })];
    };
    expect(await recordOutcome({ list: stopping, stop })).toBe(0);
    expect(await recordOutcome({ listing: { kind: 'unreadable', message: 'it is a page' } })).toBe(0);
    expect(await doubts()).toMatchObject([{ key: 'a', state: 'in_doubt', listChecks: 0, note: 'it is a page' }]);
  });

  it('that are none cost no reading of the list', async ({ open }) => {
    const { recordOutcome } = await inDoubt(open, []);
    const unread = async () => {
      throw new Error('it was read');
    };
    expect(await recordOutcome({ list: unread })).toBe(0);
  });

  it('are adopted where the list shows the job, and refuted where it shows none', async ({ open }) => {
    const { recordOutcome, doubts, db } = await inDoubt(open, ['a', 'b']);
    expect(await recordOutcome({ list: [job('1', { number: 'a' }), job('2', { number: 'z' })] })).toBe(2);
    expect(await db.query('select key, site_job_id as id from mapping')).toEqual([{ key: 'a', id: '1' }]);
    // What the site does not show of the adopted one is set by an update.
    expect(await doubts()).toMatchObject([
      { key: 'a', state: 'ready', operation: 'update' },
      { key: 'b', state: 'ready', operation: 'create' },
    ]);
  });

  it('take several looks where that is wished', async ({ open }) => {
    const { recordOutcome, doubts } = await inDoubt(open, ['a']);
    expect(await recordOutcome({ listChecks: 2 })).toBe(0);
    expect(await doubts()).toMatchObject([{ state: 'in_doubt', listChecks: 1 }]);
    expect(await recordOutcome({ listChecks: 2 })).toBe(1);
    expect(await doubts()).toMatchObject([{ state: 'ready', listChecks: 0 }]);
  });

  it('that somebody else settles meanwhile are not settled twice', async ({ open }) => {
    const { recordOutcome } = await inDoubt(open, ['a']);
    const resolvedMeanwhile = async (db: Database) => {
      await db.query('delete from change');
      return [];
    };
    expect(await recordOutcome({ list: resolvedMeanwhile })).toBe(0);
  });

  it('have a job that the list shows too little of shown by itself', async ({ open }) => {
    const { recordOutcome, doubts, db } = await inDoubt(open, ['a', 'b']);
    const list = [job('1', {}), job('2', {})];
    const show = async (id: string) => (id === '1' ? job('1', { number: 'a' }) : undefined);
    expect(await recordOutcome({ list, show })).toBe(2);
    expect(await db.query('select key, site_job_id as id from mapping')).toEqual([{ key: 'a', id: '1' }]);
    // What the site does not show of the adopted one is set by an update.
    expect(await doubts()).toMatchObject([
      { key: 'a', state: 'ready', operation: 'update' },
      { key: 'b', state: 'ready', operation: 'create' },
    ]);
  });

  it('wait for a person where that shows too little as well, or fails', async ({ open }) => {
    const { recordOutcome, doubts } = await inDoubt(open, ['a']);
    expect(await recordOutcome({ list: [job('1', {})], show: async () => job('1', {}) })).toBe(0);
    expect(await doubts()).toMatchObject([{ state: 'in_doubt', note: expect.stringContaining('made: 1; say which') }]);
    const failing = () => Promise.reject(new Error('timed out'));
    expect(await recordOutcome({ list: [job('1', {})], show: failing })).toBe(0);
    expect(await doubts()).toMatchObject([{ state: 'in_doubt', note: expect.stringContaining('could not be shown') }]);
  });

  it('stay as they are where the showing is called off', async ({ open }) => {
    const { recordOutcome, doubts } = await inDoubt(open, ['a', 'b']);
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

  it('with several jobs to choose from wait for a person', async ({ open }) => {
    const { recordOutcome, doubts } = await inDoubt(open, ['a']);
    expect(await recordOutcome({ list: [job('1', { number: 'a' }), job('2', { number: 'a' })] })).toBe(0);
    expect(await doubts()).toMatchObject([{ state: 'in_doubt', note: expect.stringContaining('made: 1, 2; say') }]);
  });

  it('of one content share their jobs', async ({ open }) => {
    const { recordOutcome, db } = await inDoubt(open, ['a', 'b'], ALIKE);
    const list = ['1', '2'].map((id) => job(id, CONTENT, new Date()));
    expect(
      await recordOutcome({ list: [...list, job('3', { ...CONTENT, 'location-city': 'Salem' }, new Date())] }),
    ).toBe(2);
    expect(await db.query('select site_job_id as id from mapping order by 1')).toEqual([{ id: '1' }, { id: '2' }]);
  });

  it('of one content share nothing any more where somebody else has settled them meanwhile', async ({ open }) => {
    const { recordOutcome, db } = await inDoubt(open, ['a', 'b'], ALIKE);
    const { 'location-city': _, ...tooLittle } = CONTENT;
    const show = async (id: string) => {
      await db.query('delete from change');
      return job(id, CONTENT, new Date());
    };
    expect(await recordOutcome({ list: ['1', '2'].map((id) => job(id, tooLittle, new Date())), show })).toBe(0);
    expect(await db.query('select from mapping')).toEqual([]);
  });

  it('whose candidates are too many, and all belong to others, wait for a person', async ({ open }) => {
    const { recordOutcome, doubts, db } = await inDoubt(open, ['a']);
    const list = Array.from({ length: 201 }, (_, at) => job(String(at), { number: 'a' }));
    await db.query(`insert into orphan_site_job (site, site_job_id, feed, key)
      select 'board', n::text, 'acme', 'other' from generate_series(0, 200) n`);
    expect(await recordOutcome({ list })).toBe(0);
    expect(await doubts()).toMatchObject([{ state: 'in_doubt', note: expect.stringContaining('more than 200 jobs') }]);
  });
});
