import { afterEach, describe, expect, it } from 'vitest';
import { feedName, postingKey } from '../../src/posting/identifiers.ts';
import { type Doubt, findDoubt, refuteDoubt } from '../../src/store/change/doubt.ts';
import { firstOf } from '../support/extent.ts';
import { changeJob } from '../support/hand-made-jobs.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { patientSite } from '../support/patient-site.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

const SHORT = {
  limits: '{ requests_per_second: 5000, concurrency: 1, timeout_seconds: 2 }',
  doubts: '{ resolve_after_seconds: 2.5 }',
};

/** An installation that has mirrored `p1` to `p4`, but no longer knows the last two. */
async function openBehind(site: Readonly<Record<string, string | undefined>> = {}): Promise<void> {
  mirror = await openMirror({ searched: true, site: { ...SHORT, ...site } });
  expect(await mirror.syncOf(postings(4))).toMatchObject({ created: 4 });
  await forget('p3', 'p4');
}

async function forget(...keys: readonly string[]): Promise<void> {
  await mirror.query('delete from mapping where key = any($1::text[])', [keys]);
  await mirror.query('delete from document where key = any($1::text[])', [keys]);
}

const idOf = async (number: string): Promise<string> =>
  (await mirror.sandbox.inspect.jobs()).find((siteJob) => siteJob.fields.number === number)?.id ?? '';
const lists = (): number =>
  mirror.sandbox.requests.recent().filter(({ method, path }) => method === 'GET' && path.startsWith('/jobs.xml'))
    .length;

describe('after a sign the site is searched once, and none of its jobs is created again', () => {
  it('a job shows the reference of another posting', { tags: 'slow' }, async () => {
    await openBehind(patientSite(30, 1));
    await changeJob(mirror, await idOf('p1'), { number: 'of-another' });
    expect(await mirror.syncOf([posting('p1', { title: 'Other' }), posting('p2')])).toMatchObject({ in_doubt: 1 });
    mirror.sandbox.requests.clear();
    const four = [posting('p1', { title: 'Other' }), ...postings(5).slice(1)];
    expect(await mirror.syncOf(four)).toMatchObject({ created: 1, in_doubt: 3 });
    expect(await mirror.sandbox.inspect.count()).toBe(5);
    const searched = lists();
    expect(searched).toBeGreaterThan(0);
    expect(await mirror.syncOf([...four, posting('p6')])).toMatchObject({ created: 1, in_doubt: 3 });
    expect(lists()).toBe(searched);
  });

  it('the list that is read for a doubt shows jobs of no known posting', { tags: 'slow' }, async () => {
    await openBehind();
    await mirror.sandbox.setFaults([{ name: '500', made: true, on: ['create'], count: 1 }]);
    expect(await mirror.syncOf([...postings(2), posting('p5')])).toMatchObject({ in_doubt: 0 });
    expect(await mirror.syncOf(postings(5))).toMatchObject({ created: 0, in_doubt: 2 });
    expect(await mirror.sandbox.inspect.count()).toBe(5);
  });

  it('a create is answered with the ID of an older posting', { tags: 'slow' }, async () => {
    await openBehind();
    const { db } = await mirror.app();
    // The next ID that the site will assign.
    const last = Math.max(...(await mirror.sandbox.inspect.jobs()).map(({ id }) => Number(id)));
    await db.query(`update mapping set site_job_id = $1 where key = 'p2'`, [String(last + 1)]);
    await mirror.syncOf([...postings(2), posting('p5')]);
    expect(await mirror.syncOf(postings(5))).toMatchObject({ in_doubt: 3 });
    expect(await mirror.sandbox.inspect.count()).toBe(5);
  });

  it('a job that the database maps to another posting is not created again for the posting that it shows', {
    tags: 'slow',
  }, async () => {
    await openBehind();
    // As if the site had reused the ID: the database maps p1 to the job of p3.
    await mirror.query(`update mapping set site_job_id = $1 where key = 'p1'`, [await idOf('p3')]);
    await mirror.query('update feed_state set site_checked_at = null');
    expect(await mirror.syncOf(postings(4))).toMatchObject({ created: 0, in_doubt: 2 });
    expect(await mirror.sandbox.inspect.count()).toBe(4);
  });
});

it('without a list a sign is reported once, and creates continue', async () => {
  await openBehind({ list_path: undefined, ...patientSite(30, 1) });
  await changeJob(mirror, await idOf('p1'), { number: 'of-another' });
  const changed = [posting('p1', { title: 'Other' }), posting('p2')];
  const reports = [
    await mirror.syncOf(changed),
    await mirror.syncOf([...changed, posting('p7')]),
    await mirror.syncOf([...changed, posting('p7'), posting('p8')]),
  ];
  expect(reports.map(({ created }) => created)).toEqual([0, 1, 1]);
  // Maintenance may notice the sign before or after the first report.
  const told = reports.map(({ message }) => message?.includes('the database may be older than the site') === true);
  expect(told.filter(Boolean)).toHaveLength(1);
  expect(told[2]).toBe(false);
});

it('many signs cause a single search of the site', { tags: 'slow' }, async () => {
  await openBehind(patientSite(30, 1));
  await changeJob(mirror, await idOf('p1'), { number: 'of-another' });
  await mirror.syncOf([posting('p1', { title: 'Other' }), posting('p2')]);
  await mirror.syncOf([posting('p1', { title: 'Other' }), posting('p2'), posting('p5')]);
  await changeJob(mirror, await idOf('p2'), { number: 'of-a-third' });
  mirror.sandbox.requests.clear();
  const changed = [posting('p1', { title: 'Other' }), posting('p2', { title: 'Other' }), posting('p5'), posting('p6')];
  expect(await mirror.syncOf(changed)).toMatchObject({ created: 1, in_doubt: 2 });
  expect(await mirror.syncOf([...changed, posting('p7')])).toMatchObject({ created: 1 });
  expect(lists()).toBe(0);
});

it('nobody is asked again about a found job that a person declared to be another posting’s', {
  tags: 'slow',
}, async () => {
  await openBehind();
  const { db } = await mirror.app();
  await db.query('update feed_state set site_checked_at = null');
  expect(await mirror.syncOf(postings(4))).toMatchObject({ in_doubt: 2 });
  const doubt = await findDoubt(db, feedName('acme'), postingKey('p3'));
  await refuteDoubt(db, doubt as Doubt, Number.POSITIVE_INFINITY);
  await db.query('update feed_state set site_checked_at = null');
  expect(await mirror.sync()).toMatchObject({ in_doubt: 1 });
  expect(await mirror.sandbox.inspect.count()).toBe(5);
});

describe('the data of an older dump in the same tables', () => {
  /** Replaces all rows with the former ones, like pg_restore --data-only into emptied tables. */
  async function restore(): Promise<void> {
    const { db } = await mirror.app();
    const tables = await db.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'backup' order by 1`,
    );
    await db.transaction(async (tx) => {
      for (const { name } of tables) {
        const columns = await tx.query<{ list: string }>(
          `select string_agg(quote_ident(attname), ', ') as list from pg_attribute
           where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = ''`,
          [`public.${name}`],
        );
        await tx.query(`delete from public.${name}`);
        await tx.query(
          `insert into public.${name} (${columns[0]?.list}) overriding system value select ${columns[0]?.list} from backup.${name}`,
        );
      }
    });
  }

  async function dump(): Promise<void> {
    await mirror.query('create schema backup');
    const ours = ['feed_state', 'installation', 'mapping', 'document', 'change', 'pull', 'data_stamp', 'site_state'];
    const kept = await mirror.query<{ name: string }>(
      `select tablename as name from pg_tables where schemaname = 'public' and tablename = any($1::text[])`,
      [ours],
    );
    for (const { name } of kept) await mirror.query(`create table backup.${name} as table public.${name}`);
  }

  const RESTORED = [
    ['while it runs', false],
    ['while nothing runs', true],
  ] as const;
  it.each(firstOf(RESTORED, 1))('causes a search of the site, also %s', async (_name, stops) => {
    mirror = await openMirror({ searched: true });
    expect(await mirror.syncOf(postings(2))).toMatchObject({ created: 2 });
    await dump();
    expect(await mirror.syncOf(postings(4))).toMatchObject({ created: 2 });
    await restore();
    if (stops) await mirror.stopEngine();
    expect(await mirror.syncOf(postings(5))).toMatchObject({ created: 1, in_doubt: 2 });
    expect(await mirror.sandbox.inspect.count()).toBe(5);
    mirror.sandbox.requests.clear();
    await mirror.stopEngine();
    expect(await mirror.syncOf(postings(6))).toMatchObject({ created: 1, in_doubt: 2 });
    expect(lists()).toBe(0);
  });
});
