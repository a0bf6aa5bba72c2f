// Checks the laws against the jobs that the site really has, the database, and one more pull.
import { expect } from 'vitest';
import type { PullReportJson } from '../../src/runtime/conclude-pull.ts';
import type { TestPosting } from '../support/indeed-feed.ts';
import type { Installation } from './installation.ts';

/** Postings that are known not to be mirrored. All others must be. */
export interface Exceptions {
  /** Keys that are listed in review as in doubt. */
  readonly inDoubt?: readonly string[];
  /** Live although the feed no longer has them: their deletes are held. */
  readonly held?: readonly TestPosting[];
  /** What the site stores of the fields that it is sent; by default all of them, unchanged. */
  readonly stored?: Stored;
}

type Fields = Readonly<Record<string, string>>;
export type Stored = (fields: Fields) => Fields;

const ADDRESS = 'https://jobs.example.com/';

/** The key of the posting whose job has these fields: sites may drop or rewrite the reference, but keep the address. */
export function keyOf({ number, 'contact-web-address': address }: Fields): string {
  return address?.startsWith(ADDRESS) ? decodeURIComponent(address.slice(ADDRESS.length)) : (number ?? '');
}

/** The fields that the site should have for a posting. */
export function desiredFields(posting: TestPosting): Fields {
  const { salary, startsAt, remote } = posting;
  return {
    ...(salary === undefined ? {} : { salary }),
    ...(startsAt === undefined ? {} : { 'starts-at': startsAt }),
    ...(remote === undefined ? {} : { remote }),
    number: posting.key,
    title: posting.title ?? `Nurse ${posting.key}`,
    'category-name': 'Health',
    description: posting.description ?? `<p>Work ${posting.key}</p>`,
    'location-city': posting.city ?? 'Boston',
    'location-state': 'Massachusetts',
    'contact-web-address': `${ADDRESS}${encodeURIComponent(posting.key)}`,
  };
}

/**
 * Checks all laws once things are quiet: the newest feed contains exactly `postings`. Pulls once more and expects that no
 * request is sent to the site.
 */
export async function checkLaws(
  installation: Installation,
  postings: readonly TestPosting[],
  exceptions: Exceptions = {},
): Promise<void> {
  await checkSite(installation, postings, exceptions);
  await checkDatabase(installation, exceptions);
  installation.sandbox.requests.clear();
  const report = await installation.sync();
  expect(installation.sandbox.requests.recent().map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  checkCounts(report);
  expect(report).toMatchObject({ requests: 0, created: 0, updated: 0, deleted: 0, pending: 0, pending_deletes: 0 });
  await checkSite(installation, postings, exceptions);
}

/** Laws 1, 2, 4 and 5: one job per posting with exactly its fields, no other jobs, and nobody else's jobs touched. */
async function checkSite(
  { sandbox, owner, foreign }: Installation,
  postings: readonly TestPosting[],
  { inDoubt = [], held = [], stored = asSent }: Exceptions,
): Promise<void> {
  const jobs = await sandbox.inspect.jobs();
  const own = jobs.filter((siteJob) => siteJob.owner === owner);
  expect(await duplicatesOf(sandbox, owner)).toEqual([]);
  const doubtful = new Set(inDoubt);
  const sure = own.filter(({ fields }) => !doubtful.has(keyOf(fields)));
  const desired = [...postings.filter(({ key }) => !doubtful.has(key)), ...held].map(desiredFields).map(stored);
  const shown = stored === asSent ? asSent : filled;
  expect(sorted(sure.map(({ fields }) => shown(fields)))).toEqual(sorted(desired.map(shown)));
  expect(jobs.filter((siteJob) => siteJob.owner !== owner)).toEqual(foreign);
}

const asSent: Stored = (fields) => fields;

/** A field is removed by setting it to the empty text, and a site may have it then or not. */
export const filled: Stored = (fields) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));

export async function duplicatesOf(sandbox: Installation['sandbox'], owner: string): Promise<readonly unknown[]> {
  const byReference = await sandbox.inspect.duplicates();
  const byAddress = await sandbox.inspect.duplicates('contact-web-address');
  return [...byReference, ...byAddress].filter((duplicate) => duplicate.owner === owner);
}

/** Law 2, and a precondition of later pulls: the database records for each posting what the site has. */
async function checkDatabase(
  { app: openApp, sandbox, owner }: Installation,
  { inDoubt = [], held = [], stored = asSent }: Exceptions,
): Promise<void> {
  const app = await openApp();
  const mapped = await app.db.query<{ key: string; id: string; fields: Record<string, string> }>(
    'select m.key, m.site_job_id as id, d.fields from mapping m left join document d using (feed, key) order by m.key',
  );
  const doubtful = new Set(inDoubt);
  const own = (await sandbox.inspect.jobs()).filter(
    (siteJob) => siteJob.owner === owner && !doubtful.has(keyOf(siteJob.fields)),
  );
  const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1);
  const shown = stored === asSent ? asSent : filled;
  const live = own.map(({ id, fields }) => ({ key: keyOf(fields), id, fields: shown(fields) }));
  // The database knows what the site accepted, or showed; the site may store it in another form.
  const known = mapped.map((each) => ({ ...each, fields: shown(stored(each.fields)) }));
  expect(known.sort(byKey)).toEqual(live.sort(byKey));
  const open = await app.db.query<{ key: string; state: string }>('select key, state from change order by key');
  const expected = [
    ...inDoubt.map((key) => ({ key, state: 'in_doubt' })),
    ...held.map(({ key }) => ({ key, state: 'held' })),
  ];
  expect(open).toEqual(expected.sort(byKey));
  expect(await app.db.query('select site_job_id from orphan_site_job')).toEqual([]);
}

/** Law 2, added up here independently. It applies to complete pulls. Returns the report. */
export function checkCounts(report: PullReportJson): PullReportJson {
  if (!report.complete) return report;
  const { unchanged, created, updated, rejected, in_doubt, pending, failed, duplicates, unreadable, skipped } = report;
  expect(
    unchanged + created + updated + rejected + in_doubt + pending + failed + duplicates + unreadable + skipped,
  ).toBe(report.seen);
  expect(
    report.deleted + report.held + report.grace + report.kept + report.pending_deletes + report.failed_deletes,
  ).toBe(report.gone);
  return report;
}

const sorted = (list: readonly Fields[]) => [...list].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
