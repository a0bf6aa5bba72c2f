// Checks the laws against the jobs that the site really has, the database, and one more pull.
import { expect } from 'vitest';
import type { PullReportJson } from '../../src/review/read-model/pull-report.ts';
import type { TestPosting } from '../support/indeed-feed.ts';
import type { Installation } from './installation.ts';

/** Postings that are known not to be mirrored. All others must be. */
export interface Exceptions {
  /** Keys that are listed in review as in doubt. */
  readonly inDoubt?: readonly string[];
  /** Live although the feed no longer has them: their deletes are held. */
  readonly held?: readonly TestPosting[];
}

/** The fields that the site should have for a posting. */
export function desiredFields(posting: TestPosting): Readonly<Record<string, string>> {
  return {
    number: posting.key,
    title: posting.title ?? `Nurse ${posting.key}`,
    'category-name': 'Health',
    description: posting.description ?? `<p>Work ${posting.key}</p>`,
    'location-city': posting.city ?? 'Boston',
    'location-state': 'Massachusetts',
    'contact-web-address': `https://jobs.example.com/${encodeURIComponent(posting.key)}`,
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
  { inDoubt = [], held = [] }: Exceptions,
): Promise<void> {
  const jobs = await sandbox.inspect.jobs();
  const own = jobs.filter((siteJob) => siteJob.owner === owner);
  expect(await duplicatesOf(sandbox, owner)).toEqual([]);
  const doubtful = new Set(inDoubt);
  const sure = own.filter(({ fields }) => !doubtful.has(fields.number ?? ''));
  const desired = [...postings.filter(({ key }) => !doubtful.has(key)), ...held].map(desiredFields);
  expect(sorted(sure.map(({ fields }) => fields))).toEqual(sorted(desired));
  expect(jobs.filter((siteJob) => siteJob.owner !== owner)).toEqual(foreign);
}

async function duplicatesOf(sandbox: Installation['sandbox'], owner: string): Promise<readonly unknown[]> {
  return (await sandbox.inspect.duplicates()).filter((duplicate) => duplicate.owner === owner);
}

/** Law 2, and a precondition of later pulls: the database records for each posting what the site has. */
async function checkDatabase(
  { app: openApp, sandbox, owner }: Installation,
  { inDoubt = [], held = [] }: Exceptions,
): Promise<void> {
  const app = await openApp();
  const mapped = await app.db.query<{ key: string; id: string; fields: Record<string, string> }>(
    'select m.key, m.site_job_id as id, d.fields from mapping m left join document d using (feed, key) order by m.key',
  );
  const doubtful = new Set(inDoubt);
  const own = (await sandbox.inspect.jobs()).filter(
    (siteJob) => siteJob.owner === owner && !doubtful.has(siteJob.fields.number ?? ''),
  );
  const byKey = (a: { key: string }, b: { key: string }) => (a.key < b.key ? -1 : 1);
  const live = own.map(({ id, fields }) => ({ key: fields.number ?? '', id, fields }));
  expect([...mapped].sort(byKey)).toEqual(live.sort(byKey));
  const open = await app.db.query<{ key: string; state: string }>('select key, state from change order by key');
  const expected = [
    ...inDoubt.map((key) => ({ key, state: 'in_doubt' })),
    ...held.map(({ key }) => ({ key, state: 'held' })),
  ];
  expect(open).toEqual(expected.sort(byKey));
  expect(await app.db.query('select site_job_id from orphan_site_job')).toEqual([]);
}

/** Law 2, added up here independently. It applies to complete pulls. */
export function checkCounts(report: PullReportJson): void {
  if (!report.complete) return;
  const { unchanged, created, updated, rejected, in_doubt, pending, failed, duplicates, unreadable, skipped } = report;
  expect(
    unchanged + created + updated + rejected + in_doubt + pending + failed + duplicates + unreadable + skipped,
  ).toBe(report.seen);
  expect(
    report.deleted + report.held + report.grace + report.kept + report.pending_deletes + report.failed_deletes,
  ).toBe(report.gone);
}

const sorted = (list: readonly Readonly<Record<string, string>>[]) =>
  [...list].sort((a, b) => ((a.number ?? '') < (b.number ?? '') ? -1 : 1));
