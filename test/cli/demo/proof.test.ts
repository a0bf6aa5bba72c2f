// The demo's proof finds every kind of difference between site and feed, over HTTP against a sandbox.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ExpectedSite, expectSite, type ReadVersion } from '../../../src/cli/demo/feed-version.ts';
import { type DemoEvidence, type Proof, proveSite, readSiteJobs } from '../../../src/cli/demo/proof.ts';
import { feedName, postingKey, siteName } from '../../../src/posting/identifiers.ts';
import type { Fields, ReadResult } from '../../../src/posting/posting.ts';
import type { SiteClient } from '../../../src/site/exchange.ts';
import { createSiteClient } from '../../../src/site/http/client.ts';
import type { EntryKind } from '../../../src/store/backlog/open-counts.ts';
import type { ReviewEntry } from '../../../src/store/review/review-entries.ts';
import { openTestSandbox, type TestSandbox } from '../../sandbox/test-sandbox.ts';

let site: TestSandbox;
let client: SiteClient;
const { signal } = new AbortController();

beforeAll(async () => {
  site = await openTestSandbox();
  client = createSiteClient({
    baseUrl: new URL(site.sandbox.url),
    token: { reveal: () => site.token },
    listPath: '/jobs.xml',
    timeoutMs: 20_000,
    concurrency: 2,
  });
});

afterAll(async () => {
  await client.close();
  await site.end();
});

beforeEach(async () => {
  for (const { id } of await site.sandbox.inspect.jobs()) await site.sandbox.inspect.removeJob(id);
});

const job = (number: string, title: string): Fields => ({ number, title, 'location-state': 'Ohio' });
const read = (kind: 'posting' | 'invalid', fields: Fields): [ReturnType<typeof postingKey>, ReadResult] => {
  const key = postingKey(fields.number ?? '');
  const posting = { key, fields, contentHash: Buffer.alloc(16), notes: [] };
  return [key, kind === 'posting' ? { kind, posting } : { kind, posting, problems: [{ message: 'wrong' }] }];
};
const version = (results: ReturnType<typeof read>[], repeated: string[] = []): ReadVersion => ({
  results: new Map(results) as ReadVersion['results'],
  repeated: new Set(repeated.map(postingKey)),
});
const entry = (key: string, kind: EntryKind): ReviewEntry => ({
  id: 1,
  feed: feedName('acme'),
  site: siteName('board'),
  key: postingKey(key),
  kind,
  operation: undefined,
  since: new Date(),
  ageMs: 0,
  value: null,
  title: null,
  mark: '0',
  reason: 'wrong',
});

const before: ExpectedSite = expectSite(
  version([read('posting', job('a', 'Nurse')), read('posting', job('b', 'Cook')), read('posting', job('z', 'Gone'))]),
);
/** `a` is repeated, `b` has become invalid, `c` is new, `n` was never valid, `z` is gone. */
const now = version(
  [
    read('posting', job('a', 'Nurse, nights')),
    read('invalid', { number: 'b', title: 'Cook, days' }),
    read('posting', job('c', 'Clerk')),
    read('invalid', { number: 'n' }),
  ],
  ['a'],
);
const review = [entry('b', 'rejected'), entry('n', 'rejected'), entry('a', 'duplicate')];

/** Sets up the expected site, except for `jobs`, and runs the proof. */
async function prove(jobs: readonly Fields[], differing: Partial<DemoEvidence> = {}): Promise<Proof> {
  const gone = await site.create(job('z', 'Gone'));
  const listed = await readSiteJobs(client, signal);
  await site.sandbox.inspect.removeJob(gone);
  for (const fields of jobs) await site.create(fields);
  const evidence = { feed: now, expected: expectSite(now, before), before: listed, review, surplusRequests: 0 };
  return proveSite(client, { ...evidence, ...differing }, signal);
}

const rightJobs = [job('a', 'Nurse, nights'), job('b', 'Cook'), job('c', 'Clerk')];

it('finds no difference on a correct site, and counts what it checked', async () => {
  expect(await prove(rightJobs)).toEqual({
    differences: [],
    proven: [
      "2 valid postings are live, each as one job with exactly the posting's fields",
      'a appears twice in the feed, and the first of the two is live',
      '2 invalid postings are in review; b was live before and stays as it was',
      '1 postings left the feed, and the site answers 404 for their jobs',
      'the site has 3 jobs: these 3 and no other',
      'the pull of the unchanged feed sent the site no request',
    ],
  });
});

describe('it finds', () => {
  const [a, b, c] = rightJobs as [Fields, Fields, Fields];
  it.each<[string, readonly Fields[], Partial<DemoEvidence>, string]>([
    ['a missing job', [a, b], {}, 'c is not on the site'],
    ['another text', [a, b, { ...c, title: 'Clark' }], {}, 'c: title is "Clark" on the site, and "Clerk" in the feed'],
    [
      'a missing field',
      [a, b, c],
      { expected: withCity() },
      'c: location-city is absent on the site, and "Keene" in the feed',
    ],
    ['a field too many', [a, b, { ...c, city: 'Keene' }], {}, 'c: city is "Keene" on the site, and absent in the feed'],
    ['a job twice', [a, b, c, c], {}, 'c is on the site 2 times'],
    [
      'an invalid posting that was sent',
      [a, { ...b, title: 'Cook, days' }, c],
      {},
      'b: title is "Cook, days" on the site, and "Cook" in the feed',
    ],
    [
      'a job without a posting',
      [a, b, c, job('x', 'X')],
      {},
      'the site has a job that belongs to no posting: number "x"',
    ],
    [
      'an invalid posting that is not in review',
      rightJobs,
      { review: review.slice(1) },
      'b is invalid, and is not in review',
    ],
    [
      'a duplicate that is not in review',
      rightJobs,
      { review: review.slice(0, 2) },
      'a appears twice, and is not in review',
    ],
    [
      'a review entry too many',
      rightJobs,
      { review: [...review, entry('c', 'failed')] },
      '1 entries of the review have no reason in the feed',
    ],
    [
      'superfluous requests',
      rightJobs,
      { surplusRequests: 2 },
      'the pull of the unchanged feed sent the site 2 requests',
    ],
  ])('%s', async (_name, jobs, differing, difference) => {
    expect((await prove(jobs, differing)).differences).toEqual([difference]);
  });

  it('a job that should be gone', async () => {
    for (const fields of [...rightJobs, job('z', 'Gone')]) await site.create(fields);
    const listed = await readSiteJobs(client, signal);
    const evidence = { feed: now, expected: expectSite(now, before), before: listed, review, surplusRequests: 0 };
    const [id] = listed.get('z') ?? [];
    expect((await proveSite(client, evidence, signal)).differences).toEqual([
      `z left the feed, and job ${id} is live`,
      'the site has a job that belongs to no posting: number "z"',
    ]);
  });
});

function withCity(): ExpectedSite {
  const expected = expectSite(now, before);
  const live = new Map(expected.live).set(postingKey('c'), { ...job('c', 'Clerk'), 'location-city': 'Keene' });
  return { ...expected, live };
}
