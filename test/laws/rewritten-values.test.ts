// Creates in doubt at sites that rewrite values: adopted, created once, and asked about only as often as needed.
// @module-tag slow
import { describe, expect } from 'vitest';
import { confirmAddress } from '../../src/apply/confirm-address.ts';
import type { SiteContext } from '../../src/apply/site-context.ts';
import type { SiteName } from '../../src/posting/identifiers.ts';
import { resolveEntry } from '../../src/review/resolve-entry.ts';
import { reviewEntries } from '../../src/store/review/review-page.ts';
import { learntRewrites } from '../../src/store/site/kept-values.ts';
import { setAddress } from '../../src/store/site/known-address.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { patientSite } from '../support/patient-site.ts';
import { runSql } from '../support/sql.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest as it } from './law-test.ts';

const LOST = { name: 'reset-after', on: ['create'] } as const;

const own = async (installation: Installation) =>
  (await installation.sandbox.inspect.jobs()).filter(({ owner }) => owner === installation.owner);

/** From now on the site prefixes each reference with a text. */
async function prefix(installation: Installation, text: string): Promise<void> {
  const database = installation.env.DATABASE_URL ?? '';
  await runSql(
    database,
    `create function sandbox.prefix_job() returns trigger language plpgsql as $$ begin
       if new.fields->>'number' not like '${text}%' then
         new.fields := (new.fields::jsonb || jsonb_build_object('number', '${text}' || (new.fields->>'number')));
       end if; return new; end $$`,
  );
  await runSql(
    database,
    'create trigger prefix_job before insert or update on sandbox.job for each row execute function sandbox.prefix_job()',
  );
}

async function resolveAs(installation: Installation, key: string): Promise<void> {
  const { db } = await installation.app();
  const siteContext = (await installation.engine()).siteContexts.get('board' as SiteName);
  const site = siteContext && { client: siteContext.client, referenceField: siteContext.policy.referenceField };
  const job = (await own(installation)).find(({ fields }) => fields.number === `ACME-${key}`);
  for await (const entry of reviewEntries(db, { feed: undefined, kinds: ['in_doubt'] as never }, undefined)) {
    if (entry.key !== key) continue;
    const verdict = { kind: 'exists', siteJobId: job?.id as never, anyway: true } as const;
    const resolved = await resolveEntry(db, entry.id, verdict, { actor: 'a person', site } as never);
    expect(resolved).toMatchObject({ kind: 'recorded' });
  }
}

describe('a site that stores values as', { concurrent: true }, () => {
  it.for(['exact', 'trimmed', 'upper-case', 'stripped', 'cut', 'composed'] as const)(
    '%s: a create whose response was lost is adopted, needs one update at most, and no further one at each pull',
    { timeout: 900_000 },
    async (storedValues, { open }) => {
      const installation = await open({ site: patientSite(5) });
      installation.sandbox.setSettings({ storedValues });
      const description = '<p>Care  for <b>all</b></p>\r\n and Cafe\u0301 &amp; more, as long as this text goes on';
      const title = 'Nurse of the night in the house on the hill by the sea';
      const ours = ['key-a', 'key-b', 'key-c'].map((key) => posting(key, { title: `${key} ${title}`, description }));
      await installation.syncOf(ours.slice(0, 1));
      const [former] = await own(installation);
      installation.sandbox.requests.clear();
      await installation.sandbox.setFaults([{ ...LOST, count: 2 }]);
      await installation.syncOf(ours);
      const report = await heal(installation);
      expect(report).toMatchObject({ status: 'mirrored', in_doubt: 0 });
      expect(await own(installation)).toHaveLength(3);
      const requests = installation.sandbox.requests.recent();
      const updated = requests.filter(({ method }) => method === 'PUT').map(({ path }) => path);
      expect(updated).toEqual([...new Set(updated)]);
      expect(updated).not.toContain(`/jobs/${former?.id}.xml`);
      for (const _time of [1, 2]) expect(await installation.sync()).toMatchObject({ unchanged: 3, requests: 0 });
    },
  );
});

it.concurrent('a reference that a site always prefixes is asked about once', { timeout: 900_000 }, async ({ open }) => {
  const installation = await open({ site: patientSite(5) });
  await prefix(installation, 'ACME-');
  expect(await installation.syncOf([posting('key-a')])).toMatchObject({ in_doubt: 1, created: 0 });
  await resolveAs(installation, 'key-a');
  const { db } = await installation.app();
  expect((await learntRewrites(db, 'board' as SiteName)).get('number')).toEqual([
    { kind: 'prefixed', detail: 'ACME-', seen: 1, taught: true },
  ]);
  expect(await installation.sync()).toMatchObject({ in_doubt: 0 });
  // From now on the rewriting explains responses, and finds the job of a create whose response was lost.
  expect(await installation.syncOf([posting('key-a'), posting('key-b')])).toMatchObject({ in_doubt: 0, created: 1 });
  await installation.sandbox.setFaults([{ ...LOST, count: 1 }]);
  await installation.syncOf([posting('key-a', { title: 'Head' }), posting('key-b'), posting('key-c')]);
  expect(await heal(installation)).toMatchObject({ status: 'mirrored', in_doubt: 0 });
  const jobs = await own(installation);
  expect(jobs.map(({ fields }) => fields.number).sort()).toEqual(['ACME-key-a', 'ACME-key-b', 'ACME-key-c']);
});

it.concurrent('a site that starts and stops prefixing references is asked about once; its older jobs stay', {
  timeout: 900_000,
}, async ({ open }) => {
  const installation = await open({ site: patientSite(5) });
  const many = Array.from({ length: 18 }, (_, at) => posting(`old-${String(at).padStart(2, '0')}`));
  expect(await installation.syncOf(many)).toMatchObject({ created: 18 });
  await prefix(installation, 'ACME-');
  expect(await installation.syncOf([...many, posting('key-a')])).toMatchObject({ in_doubt: 1, created: 0 });
  installation.sandbox.requests.clear();
  await resolveAs(installation, 'key-a');
  // New jobs, changed older jobs, and one create whose response is lost.
  const changed = [posting('old-00', { title: 'Head' }), ...many.slice(1)];
  await installation.writeFeed(feedXml([...changed, posting('key-a'), posting('key-b')]));
  expect(await installation.sync()).toMatchObject({ in_doubt: 0, created: 1, failed: 0 });
  // One request for the change, and one that corrects the adopted job; the latter may be sent before the pull.
  expect(installation.sandbox.requests.recent().filter(({ method }) => method === 'PUT')).toHaveLength(2);
  await installation.sandbox.setFaults([{ ...LOST, count: 1 }]);
  await installation.syncOf([...changed, posting('key-a'), posting('key-b'), posting('key-c')]);
  expect(await heal(installation)).toMatchObject({ status: 'mirrored', in_doubt: 0 });
  const database = installation.env.DATABASE_URL ?? '';
  await runSql(database, 'drop trigger prefix_job on sandbox.job');
  const latest = [...changed, ...['key-a', 'key-c', 'key-d'].map((key) => posting(key))];
  await installation.writeFeed(feedXml([...latest, posting('key-b', { title: 'Chief' })]));
  expect(await installation.sync()).toMatchObject({ in_doubt: 0, created: 1, updated: 1, failed: 0 });
  expect(await installation.sync()).toMatchObject({ unchanged: 22, requests: 0 });
  expect(await own(installation)).toHaveLength(22);
});

it.concurrent('rewritings learnt from one site do not apply to another site under its name', {
  timeout: 900_000,
}, async ({ open }) => {
  const installation = await open({ site: patientSite(5) });
  await prefix(installation, 'ACME-');
  await installation.syncOf([posting('key-a')]);
  await resolveAs(installation, 'key-a');
  await installation.syncOf([]);
  const { db } = await installation.app();
  const known = async () => (await learntRewrites(db, 'board' as SiteName)).get('number');
  const siteContext = (await installation.engine()).siteContexts.get('board' as SiteName) as SiteContext;
  await confirmAddress(siteContext);
  expect(await known()).toHaveLength(1);
  // A site with its jobs is the same site once a person says so.
  await setAddress(db, siteContext.site, 'elsewhere.example.com');
  expect(await known()).toHaveLength(1);
  await db.query('delete from change');
  await db.query('delete from mapping');
  await confirmAddress(siteContext);
  expect(await known()).toBeUndefined();
});
