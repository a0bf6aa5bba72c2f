// Compares the site with the feed through the site's interface alone, and lists every difference.
import type { PostingKey, SiteJobId } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import type { SiteClient } from '../../site/exchange.ts';
import type { ReviewEntry } from '../../store/review/review-entries.ts';
import type { ExpectedSite, ReadVersion } from './feed-version.ts';

/** What was checked, one sentence each, and every difference found. */
export interface Proof {
  readonly proven: readonly string[];
  readonly differences: readonly string[];
}

/** Job IDs by the field that carries the posting's key. */
export type ListedJobs = ReadonlyMap<string, readonly SiteJobId[]>;

/** The field that carries the key in the preset `indeed`. */
const KEY_FIELD = 'number';
/** Fields that the site itself adds to each job. */
const SITE_FIELDS = ['id', 'created-at', 'updated-at'];

/** Reads the site's list of jobs. @throws Error if it can't be read completely */
export async function readSiteJobs(client: SiteClient, signal: AbortSignal): Promise<ListedJobs> {
  const jobs = new Map<string, SiteJobId[]>();
  const listing = await client.list(({ siteJobId, fields }) => {
    const key = fields[KEY_FIELD] ?? '';
    jobs.set(key, [...(jobs.get(key) ?? []), siteJobId]);
  }, signal);
  if (listing.kind === 'unreadable') throw new Error(listing.message);
  return jobs;
}

export interface DemoEvidence {
  readonly feed: ReadVersion;
  readonly expected: ExpectedSite;
  /** The jobs that the site had before the last sync. */
  readonly before: ListedJobs;
  readonly review: readonly ReviewEntry[];
  /** Requests that the site received during a repeated pull of the same feed. */
  readonly surplusRequests: number;
}

/** Checks every job of the site and every posting of the feed. */
export async function proveSite(client: SiteClient, evidence: DemoEvidence, signal: AbortSignal): Promise<Proof> {
  const { expected, surplusRequests } = evidence;
  const listed = await readSiteJobs(client, signal);
  const live = await compareLive(client, expected, listed, signal);
  const gone = await checkGone(client, evidence, signal);
  const orphans = [...listed.keys()].filter((key) => !expected.live.has(key as PostingKey));
  const review = checkReview(evidence);

  const untouched = [...expected.invalid].filter((key) => expected.live.has(key));
  const repeated = [...evidence.feed.repeated];
  return {
    proven: [
      `${live.same - untouched.length} valid postings are live, each as one job with exactly the posting's fields`,
      ...repeated.map((key) => `${key} appears twice in the feed, and the first of the two is live`),
      `${expected.invalid.size} invalid postings are in review; ${untouched.join(', ')} was live before and stays as it was`,
      `${expected.gone.size} postings left the feed, and the site answers 404 for their jobs`,
      `the site has ${sum(listed)} jobs: these ${expected.live.size} and no other`,
      'the pull of the unchanged feed sent the site no request',
    ],
    differences: [
      ...live.differences,
      ...gone,
      ...orphans.map((key) => `the site has a job that belongs to no posting: ${KEY_FIELD} "${key}"`),
      ...review,
      ...(surplusRequests === 0 ? [] : [`the pull of the unchanged feed sent the site ${surplusRequests} requests`]),
    ],
  };
}

const sum = (listed: ListedJobs): number => [...listed.values()].reduce((count, ids) => count + ids.length, 0);

async function compareLive(
  client: SiteClient,
  expected: ExpectedSite,
  listed: ListedJobs,
  signal: AbortSignal,
): Promise<{ readonly same: number; readonly differences: string[] }> {
  const differences: string[] = [];
  let same = 0;
  for (const [key, fields] of expected.live) {
    const found = await compareSiteJob(client, { key, fields }, listed, signal);
    differences.push(...found);
    if (found.length === 0) same += 1;
  }
  return { same, differences };
}

/** Reads the posting's job. @returns every difference; none: it is on the site once, with exactly these fields */
export async function compareSiteJob(
  client: SiteClient,
  { key, fields }: { readonly key: PostingKey; readonly fields: Fields },
  listed: ListedJobs,
  signal: AbortSignal,
): Promise<string[]> {
  const [id, ...others] = listed.get(key) ?? [];
  const several = others.length === 0 ? [] : [`${key} is on the site ${others.length + 1} times`];
  const siteJob = id === undefined ? undefined : await client.show(id, signal);
  if (siteJob === undefined) return [...several, `${key} is not on the site`];
  return [...several, ...compareFields(key, fields, siteJob.fields)];
}

function compareFields(key: PostingKey, desired: Fields, found: Fields): string[] {
  const names = new Set([...Object.keys(desired), ...Object.keys(found)].filter((name) => !SITE_FIELDS.includes(name)));
  // The interface does not distinguish an empty field from an absent one: a field is removed by setting it to nothing.
  return [...names]
    .filter((name) => (desired[name] ?? '') !== (found[name] ?? ''))
    .map((name) => `${key}: ${name} is ${shown(found[name])} on the site, and ${shown(desired[name])} in the feed`);
}

const shown = (text: string | undefined): string => (text === undefined ? 'absent' : JSON.stringify(text.slice(0, 80)));

async function checkGone(
  client: SiteClient,
  { expected, before }: DemoEvidence,
  signal: AbortSignal,
): Promise<string[]> {
  const differences: string[] = [];
  for (const key of expected.gone) {
    for (const id of before.get(key) ?? []) {
      if ((await client.show(id, signal)) !== undefined)
        differences.push(`${key} left the feed, and job ${id} is live`);
    }
  }
  return differences;
}

function checkReview({ feed, expected, review }: DemoEvidence): string[] {
  const has = (key: PostingKey, kind: ReviewEntry['kind']): boolean =>
    review.some((entry) => entry.key === key && entry.kind === kind);
  const missing = [
    ...[...expected.invalid].filter((key) => !has(key, 'rejected')).map((key) => `${key} is invalid`),
    ...[...feed.repeated].filter((key) => !has(key, 'duplicate')).map((key) => `${key} appears twice`),
  ].map((what) => `${what}, and is not in review`);
  const expectedEntries = expected.invalid.size + feed.repeated.size;
  const surplus = review.length - expectedEntries + missing.length;
  return surplus > 0 ? [...missing, `${surplus} entries of the review have no reason in the feed`] : missing;
}
