// Doubts: resolved by the list or by a person, blocking newer changes, and distinguished even if all postings look alike.
import { describe, expect } from 'vitest';
import type { SiteName } from '../../src/posting/identifiers.ts';
import type { PersonsVerdict } from '../../src/review/health/check-verdict.ts';
import { resolveEntry } from '../../src/review/resolve-entry.ts';
import { reviewEntries } from '../../src/store/review/review-page.ts';
import { pauseSite, resumeSite } from '../../src/store/site/site-state.ts';
import { firstOf } from '../support/extent.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';
import { runSql } from '../support/sql.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest as it } from './law-test.ts';
import { checkLaws } from './laws.ts';

const BOARD = 'board' as SiteName;
const MADE = { name: '500', made: true, on: ['create'] } as const;
const NOT_MADE = { name: '500', made: false, on: ['create'] } as const;
/** Nothing but a person ends a doubt, so a slow machine must not cause any. */
const NO_LIST = { list_path: undefined, ...patientSite(25) };
/** Postings with the same content: nothing distinguishes them. */
const ALIKE = { fields: '{ number: null, contact-web-address: null, description: null, title: category }' };

async function entriesOf(installation: Installation): Promise<{ id: number; kind: string; key: string | undefined }[]> {
  const { db } = await installation.app();
  const found = [];
  const filter = { feed: undefined, kinds: ['in_doubt', 'failed', 'rejected', 'held'] as const };
  for await (const { id, kind, key } of reviewEntries(db, filter, undefined)) found.push({ id, kind, key });
  return found;
}

async function resolve(installation: Installation, entry: number, verdict: PersonsVerdict) {
  const { db } = await installation.app();
  const siteContext = (await installation.engine()).siteContexts.get(BOARD);
  const { referenceField } = siteContext?.policy ?? {};
  // The sandbox has no request left that may still arrive.
  const site = siteContext && { client: siteContext.client, referenceField, resolveAfterMs: 0 };
  return resolveEntry(db, entry, verdict, { actor: 'a person', site } as never);
}

describe('without a list action', { concurrent: true }, () => {
  it('a doubt stays in review, and is adopted when a person names the job', async ({ open }) => {
    const installation = await open({ site: NO_LIST });
    await installation.sandbox.setFaults([{ ...MADE, count: 1 }]);
    expect(await installation.syncOf([posting('a')])).toMatchObject({ status: 'review', in_doubt: 1, requests: 1 });
    expect(await installation.sync()).toMatchObject({ status: 'review', in_doubt: 1, requests: 0 });
    await checkLaws(installation, [], { inDoubt: ['a'] });
    const [entry] = await entriesOf(installation);
    const job = (await installation.sandbox.inspect.jobs()).find(({ fields }) => fields.number === 'a');
    const [foreign] = installation.foreign;
    const wrong = { kind: 'exists', siteJobId: foreign?.id as never, anyway: false } as const;
    expect(await resolve(installation, entry?.id ?? 0, wrong)).toMatchObject({ kind: 'refused' });
    const right = { kind: 'exists', siteJobId: job?.id as never, anyway: false } as const;
    expect(await resolve(installation, entry?.id ?? 0, right)).toMatchObject({ kind: 'recorded' });
    await checkLaws(installation, [posting('a')]);
  });

  it('a doubt is sent again when a person says that the job is missing', { tags: 'slow' }, async ({ open }) => {
    const installation = await open({ site: NO_LIST });
    await installation.sandbox.setFaults([{ ...NOT_MADE, count: 1 }]);
    await installation.syncOf([posting('a')]);
    const [entry] = await entriesOf(installation);
    expect(await resolve(installation, entry?.id ?? 0, { kind: 'missing' })).toMatchObject({ kind: 'recorded' });
    await installation.sync();
    await checkLaws(installation, [posting('a')]);
  });

  it('a newer change waits for the doubt', async ({ open }) => {
    const installation = await open({ site: NO_LIST });
    await installation.sandbox.setFaults([{ ...MADE, count: 1 }]);
    await installation.syncOf([posting('a')]);
    const newer = [posting('a', { title: 'Head nurse' })];
    expect(await installation.syncOf(newer)).toMatchObject({ in_doubt: 1, requests: 0 });
    const [entry] = await entriesOf(installation);
    const job = (await installation.sandbox.inspect.jobs()).find(({ fields }) => fields.number === 'a');
    const { db } = await installation.app();
    await pauseSite(db, BOARD, 'a test', undefined);
    await resolve(installation, entry?.id ?? 0, { kind: 'exists', siteJobId: job?.id as never, anyway: false });
    // The newer change is kept, and needs no further pull.
    expect(await db.query(`select desired, operation, fields->>'title' as title from change`)).toEqual([
      { desired: 'present', operation: 'update', title: 'Head nurse' },
    ]);
    installation.sandbox.requests.clear();
    await resumeSite(db, BOARD);
    await installation.sync();
    expect(installation.sandbox.requests.recent().map(({ method }) => method)).toEqual(['PUT']);
    await checkLaws(installation, newer);
  });

  it('a delete waits for the doubt', { tags: 'slow' }, async ({ open }) => {
    const installation = await open({ site: NO_LIST });
    await installation.sandbox.setFaults([{ ...MADE, after: 5, count: 1 }]);
    await installation.syncOf(postings(6));
    const [entry] = await entriesOf(installation);
    const left = postings(6).filter(({ key }) => key !== entry?.key);
    expect(await installation.syncOf(left)).toMatchObject({ requests: 0, gone: 1 });
    const job = (await installation.sandbox.inspect.jobs()).find(
      ({ fields, owner }) => fields.number === entry?.key && owner === installation.owner,
    );
    await resolve(installation, entry?.id ?? 0, { kind: 'exists', siteJobId: job?.id as never, anyway: false });
    await installation.sync();
    await checkLaws(installation, left);
  });
});

describe('a job that the site has stored with other values', { concurrent: true }, () => {
  const STORED = [
    ['its reference in upper case', '{"number":"KEY-A"}'],
    ['another state', '{"location-state":"Ohio","location-city":"Columbus"}'],
    ['its reference cut', '{"number":"key-"}'],
  ] as const;
  it.for(firstOf(STORED, 1))(
    'with %s, is adopted once and set to the values of the feed',
    { timeout: 900_000 },
    async ([, made], { open }) => {
      const installation = await open();
      const database = installation.env.DATABASE_URL ?? '';
      await runSql(
        database,
        `create function sandbox.alter_job() returns trigger language plpgsql as
         $$ begin new.fields := (new.fields::jsonb || '${made}'::jsonb); return new; end $$`,
      );
      await runSql(
        database,
        'create trigger alter_job before insert on sandbox.job for each row execute function sandbox.alter_job()',
      );
      await installation.sandbox.setFaults([{ ...MADE, count: 1 }]);
      await installation.syncOf([posting('key-a')]);
      await heal(installation);
      await checkLaws(installation, [posting('key-a')]);
    },
  );
});

describe('postings that are all alike', { concurrent: true }, () => {
  const keys = Array.from({ length: 24 }, (_, at) => `k${at}`);
  const feed = feedXml(keys.map((key) => posting(key)));

  const FAULTS = [
    ['made', { ...MADE, rate: 0.6 }],
    ['not made', { ...NOT_MADE, rate: 0.6 }],
  ] as const;
  it.for(firstOf(FAULTS, 1))('are created once each if %s', { timeout: 900_000 }, async ([, fault], { open }) => {
    const installation = await open({ feed: ALIKE });
    await installation.sandbox.setFaults([fault]);
    await installation.writeFeed(feed);
    await installation.sync();
    await heal(installation);
    const jobs = (await installation.sandbox.inspect.jobs()).filter(({ owner }) => owner === installation.owner);
    const mapped = await installation.query<{ id: string }>('select site_job_id as id from mapping');
    expect(mapped.map(({ id }) => id).sort()).toEqual(jobs.map(({ id }) => id).sort());
    expect(mapped).toHaveLength(keys.length);
  });
});

describe('a job of the same number that may be somebody else’s', { concurrent: true }, () => {
  // The other user's job of that number; an old creation time also stands for a site whose clock is wrong.
  const AGES = [
    ['made a day ago', '1 day'],
    ['made just now', '0 days'],
  ] as const;
  it.for(firstOf(AGES, 1))(
    '%s, is neither adopted nor created again without a person',
    { timeout: 900_000 },
    async ([, age], { open }) => {
      const installation = await open();
      const database = installation.env.DATABASE_URL ?? '';
      await runSql(database, `update sandbox.job set created_at = created_at - interval '${age}'`);
      await installation.sandbox.setFaults([{ ...NOT_MADE, count: 1 }]);
      const list = [posting('elsewhere-1')];
      expect(await installation.syncOf(list)).toMatchObject({ in_doubt: 1, requests: 1 });
      const [entry] = await entriesOf(installation);
      await resolve(installation, entry?.id ?? 0, { kind: 'missing' });
      await installation.sync();
      const jobs = await installation.sandbox.inspect.jobs();
      expect(jobs.filter(({ owner }) => owner === installation.owner)).toHaveLength(1);
      expect(jobs.filter(({ owner }) => owner !== installation.owner)).toHaveLength(2);
    },
  );
});

describe('a create that the site never makes', () => {
  it('ends in review after its attempts', { timeout: 900_000 }, async ({ open }) => {
    const installation = await open({
      site: { retry: '{ attempts: 2, first_delay_seconds: 0.05, max_delay_seconds: 0.2 }' },
    });
    await installation.sandbox.setFaults([NOT_MADE]);
    await installation.writeFeed(feedXml([posting('a')]));
    let report = await installation.sync();
    while (report.in_doubt > 0) report = await installation.sync();
    expect(report).toMatchObject({ status: 'review', failed: 1 });
    expect(installation.sandbox.requests.recent().filter(({ method }) => method === 'POST')).toHaveLength(2);
    await heal(installation);
    await checkLaws(installation, [posting('a')]);
  });
});
