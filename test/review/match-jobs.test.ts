// Matching on sites whose lists and IDs mislead: what seems certain by itself is not.
import { expect, it } from 'vitest';
import { stateTable } from '../../src/config/load-us-states.ts';
import { rateLimiterFor } from '../../src/flow/rate-limiter.ts';
import { feedName, postingKey, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import type { Fields } from '../../src/posting/posting.ts';
import { matchJobs } from '../../src/review/jobs/match-jobs.ts';
import { JobMatching } from '../../src/store/mapping/job-matching.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { forgetOrphan } from '../../src/store/site/orphan-site-jobs.ts';
import { databaseFor } from '../support/database.ts';

let db: Database;
databaseFor('test', {}, (opened) => {
  db = opened;
});

const board = siteName('board');
const nurse = (number: string | undefined, description = 'Care for people'): Fields => ({
  title: 'Nurse',
  description,
  'location-city': 'Boston',
  'location-state': 'Massachusetts',
  ...(number === undefined ? {} : { number }),
});

interface Stage {
  readonly postings: Readonly<Record<string, Fields>>;
  readonly jobs: Readonly<Record<string, Fields>>;
  /** Shown although the list leaves them out. */
  readonly unlisted?: Readonly<Record<string, Fields>>;
  /** Readings of the list that find it changed and show one job too many, before one that shows it whole. */
  readonly changedReadings?: number;
  /** Runs once the list has been read. */
  readonly meanwhile?: () => Promise<unknown>;
}

/** The verdicts by key, each with its reasons; or why nothing was compared. */
async function match({ postings, jobs, unlisted = {}, changedReadings = 0, meanwhile }: Stage) {
  let readings = 0;
  const matching = await JobMatching.open(db);
  try {
    const end = await matchJobs(matching, {
      db,
      feed: feedName('acme'),
      site: board,
      address: 'jobs.example.com',
      policy: undefined,
      referenceField: 'number',
      stateField: 'location-state',
      states: stateTable(),
      client: {
        list: async (take) => {
          for (const [id, fields] of Object.entries(jobs)) await take({ siteJobId: siteJobId(id), fields });
          if (readings++ < changedReadings) {
            await take({ siteJobId: siteJobId('gone'), fields: nurse('p1') });
            return { kind: 'unreadable', message: 'it changed while it was read', changed: true };
          }
          return { kind: 'listed', pages: 1 };
        },
        show: async (id) => {
          const fields = unlisted[id];
          return fields && { siteJobId: id, fields };
        },
      },
      rateLimiter: rateLimiterFor(Number.POSITIVE_INFINITY),
      signal: new AbortController().signal,
      readPostings: async (take) => {
        await meanwhile?.();
        await take(
          Object.entries(postings).map(([key, fields]) => ({
            key: postingKey(key),
            fields,
            inDoubt: undefined,
            recordHash: Buffer.alloc(16),
          })),
        );
        return { kind: 'read', shortfalls: [], version: undefined };
      },
    });
    if (end.kind === 'failed') return end.message;
    const found: Record<string, string> = {};
    for await (const { key, verdict, reasons } of matching.lines()) found[key] = `${verdict}: ${reasons.join(', ')}`;
    return found;
  } finally {
    await matching.close();
  }
}

const mapTo = (id: string) =>
  db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash) values ('acme', 'old', 'board', $1, 'x', 'x')`,
    [id],
  );
const noteRequest = (operation: string, outcome: string, id: string, minutesAgo: number) =>
  db.query(
    `insert into request (feed, key, at, operation, site_job_id, outcome, duration_ms)
     values ('acme', 'old', now() - make_interval(mins => $4), $1, $3, $2, 1)`,
    [operation, outcome, id, minutesAgo],
  );

it('a job that jobmirror deleted lately, which an outdated list still shows, is not certain', async () => {
  await noteRequest('delete', 'accepted', '5', 10);
  await noteRequest('delete', 'rejected', '6', 10);
  await noteRequest('delete', 'accepted', '7', 2 * 24 * 60);
  const found = await match({
    postings: { p5: nurse('p5'), p6: nurse('p6'), p7: nurse('p7') },
    jobs: { 5: nurse('p5'), 6: nurse('p6'), 7: nurse('p7') },
  });
  expect(found).toEqual({
    p5: expect.stringMatching(/^unsure: .*jobmirror deleted this job within the last day/),
    p6: expect.stringMatching(/^sure/),
    p7: expect.stringMatching(/^sure/),
  });
});

it('a list that changes while it is read is read again, and what was read of it before does not count', async () => {
  const stage = { postings: { p1: nurse('p1') }, jobs: { 1: nurse('p1') } };
  expect(await match({ ...stage, changedReadings: 4 })).toEqual({ p1: expect.stringMatching(/^sure/) });
  expect(await match({ ...stage, changedReadings: 5 })).toBe('it changed while it was read');
});

it('an orphan that is deleted while the feed is read is not certain', async () => {
  await db.query(`insert into orphan_site_job (site, site_job_id, feed, key) values ('board', '5', 'acme', 'old')`);
  const id = siteJobId('5');
  const found = await match({
    postings: { p5: nurse('p5') },
    jobs: { 5: nurse('p5') },
    meanwhile: () => forgetOrphan(db, board, id, { outcome: 'accepted', status: 200, durationMs: 3 }),
  });
  expect(found).toEqual({ p5: expect.not.stringMatching(/^sure/) });
});

it('a list without a job that the site accepted lately, and still shows, proves nothing', async () => {
  await mapTo('1');
  await noteRequest('create', 'created', '1', 10);
  const stage = { postings: { p5: nurse('p5') }, jobs: { 5: nurse('p5') } };
  expect(await match({ ...stage, unlisted: { 1: nurse('old') } })).toBe(
    'The list is incomplete or outdated: job 1 is on the site but not in the list, or not under this ID',
  );
  const deleted = { ...nurse('old'), 'deleted-at': '2026-01-01T00:00:00Z' };
  expect(await match({ ...stage, unlisted: { 1: deleted } })).toEqual({ p5: expect.stringMatching(/^sure/) });
  expect(await match(stage)).toEqual({ p5: expect.stringMatching(/^sure/) });
});

it('a job whose reference may be the cut one of a posting with the same content is not certain for another', async () => {
  const found = await match({
    postings: { short: nurse('REQ-2024', 'Cook for people'), long: nurse('REQ-2024-0017') },
    jobs: { 5: nurse('REQ-2024') },
  });
  expect(found).toEqual({
    short: expect.stringMatching(/^unsure: .*another posting has its content/),
    long: expect.stringMatching(/^unsure/),
  });
});

it('a job that a posting has under an ID with its title is not free under its number', async () => {
  await mapTo('12-nurse');
  expect(await match({ postings: { p5: nurse('p5') }, jobs: { 12: nurse(undefined) } })).toEqual({
    p5: expect.stringMatching(/^unmatched/),
  });
});

it('jobs of one other user, where none of ours is listed, are not certain', async () => {
  const stage = { postings: { p5: nurse('p5') }, jobs: { 5: { ...nurse('p5'), 'user-id': '8' } } };
  expect(await match(stage)).toEqual({ p5: expect.stringMatching(/^sure/) });
  await mapTo('1');
  expect(await match(stage)).toEqual({ p5: expect.stringMatching(/^unsure: .*another user’s/) });
});
