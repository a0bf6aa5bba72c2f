// Matching thousands of pairs of nearly identical postings: what counts as certain is never wrong.
// @module-tag slow
import { afterEach, expect, it } from 'vitest';
import { stateTable } from '../../src/config/load-us-states.ts';
import { rateLimiterFor } from '../../src/flow/rate-limiter.ts';
import { feedName, postingKey, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import { matchJobs } from '../../src/review/jobs/match-jobs.ts';
import { JobMatching } from '../../src/store/mapping/job-matching.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { type Corpus, makeCorpus } from '../support/adopt-corpus.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const PAIRS = 5_500;

let database: TestDatabase;
let db: Database;
afterEach(async () => {
  await db?.close();
  await database?.drop();
});

interface Found {
  readonly key: string;
  readonly job: string;
}

/** The certain matches of the corpus. */
async function matchAll({ postings, jobs }: Corpus): Promise<Found[]> {
  database = await createTestDatabase();
  db = openDatabase(database.url);
  const matching = await JobMatching.open(db);
  try {
    const end = await matchJobs(matching, {
      db,
      feed: feedName('acme'),
      site: siteName('board'),
      address: 'jobs.example.com',
      policy: undefined,
      referenceField: 'number',
      stateField: 'location-state',
      states: stateTable(),
      client: {
        list: async (take) => {
          for (const { id, fields } of jobs) await take({ siteJobId: siteJobId(id), fields });
          return { kind: 'listed', pages: 1 };
        },
        show: async () => undefined,
      },
      rateLimiter: rateLimiterFor(Number.POSITIVE_INFINITY),
      signal: new AbortController().signal,
      readPostings: async (take) => {
        const recordHash = Buffer.alloc(16);
        for (let at = 0; at < postings.length; at += 500) {
          const some = postings.slice(at, at + 500);
          await take(some.map(({ key, fields }) => ({ key: postingKey(key), fields, inDoubt: undefined, recordHash })));
        }
        return { kind: 'read', shortfalls: [], version: undefined };
      },
    });
    expect(end.kind).toBe('matched');
    const found: Found[] = [];
    for await (const { key, siteJobId: job, verdict } of matching.lines()) {
      if (verdict === 'sure' && job !== undefined) found.push({ key, job });
    }
    return found;
  } finally {
    await matching.close();
  }
}

it(`of ${PAIRS} pairs, every certain match is right`, { timeout: 600_000 }, async () => {
  const corpus = makeCorpus(PAIRS, 20_240_601);
  const truth = new Map(corpus.jobs.map(({ id, of }) => [id, of]));
  const found = await matchAll(corpus);
  const wrong = found.filter(({ key, job }) => truth.get(job) !== key);
  expect(wrong).toEqual([]);
  // The others cannot be told: two requisitions with the same text and no references, references cut to the same, jobs that
  // exist twice, and cities spelled like other cities.
  const owners = new Set(truth.values());
  const withJob = corpus.postings.filter(({ key }) => owners.has(key));
  expect(found.length / withJob.length).toBeGreaterThan(0.83);
  const never = ['another requisition, no references', 'references cut off'];
  expect(found.filter(({ key }) => never.includes(corpus.kindOf.get(key) ?? ''))).toEqual([]);
});
