// What differs between simulated lives: whether postings expire, what the feed may do to jobs that exist, and whether an older backup is
// restored in the middle.
import { expect } from 'vitest';
import type { FeedPolicy } from '../../src/plan/policy.ts';
import type { TestPosting } from '../support/indeed-feed.ts';
import type { MirrorOptions } from '../support/mirror.ts';
import type { Installation } from './installation.ts';
import { checkCounts, desiredFields, duplicatesOf, filled, keyOf, type Stored } from './laws.ts';
import { habitsOf, type SiteHabits } from './simulated-habits.ts';

export interface LifeKind {
  readonly expires: boolean;
  readonly policy: FeedPolicy;
  readonly isRestored: boolean;
  readonly habits: SiteHabits;
}

/** Of every eight lives four expire, three of the others have another policy or a restored database. */
export function kindOf(seed: number): LifeKind {
  const isRestored = seed % 8 === 6;
  return {
    expires: seed % 2 === 1,
    policy: seed % 8 === 2 ? 'upsert_only' : seed % 8 === 4 ? 'create_only' : 'mirror',
    isRestored,
    habits: habitsOf(seed, isRestored),
  };
}

export const optionsOf = ({ expires, policy, isRestored, habits }: LifeKind): MirrorOptions => ({
  feed: {
    fields: SIMULATED_FIELDS,
    ...(expires ? { expire_after_days: '30' } : {}),
    ...(policy === 'mirror' ? {} : { policy }),
  },
  sandbox: habits.settings,
  site: { ...SIMULATED_SITE, ...(habits.hasReference ? {} : { reference_field: undefined }) },
  ...(isRestored ? { searched: true } : {}),
});

/** The typed fields of simulated feeds, on top of the preset. */
export const SIMULATED_FIELDS = '{ salary: salary, starts-at: startsAt, remote: remote }';

/** Waits in milliseconds instead of the default seconds. */
export const SIMULATED_SITE = {
  limits: '{ requests_per_second: 5000, concurrency: 4, timeout_seconds: 0.5 }',
  doubts: '{ resolve_after_seconds: 0.9 }',
  retry: '{ attempts: 3, first_delay_seconds: 0.05, max_delay_seconds: 0.2 }',
} as const;

/** What a life without a mirrored end has seen of its feed and of the site. */
export interface Seen {
  /** The fields of each version of a posting, as the site stores them, by key. */
  readonly versions: Map<string, Set<string>>;
  /** Keys that had a job on the site. */
  readonly live: Set<string>;
  /** The fields of jobs whose postings had nothing left to send, by job ID. */
  readonly quiet: Map<string, string>;
  /** The database was restored, and nobody let it learn what the site has since: updates send what differs from what it knows. */
  outdated?: { readonly endedJobs: ReadonlySet<string> };
}

/** The IDs of jobs that a restored database has for postings, and that the site no longer has. */
export async function endedJobsOf({ app, sandbox }: Installation): Promise<ReadonlySet<string>> {
  const { db } = await app();
  const mapped = await db.query<{ id: string }>('select site_job_id as id from mapping');
  const existing = new Set((await sandbox.inspect.jobs()).map(({ id }) => id));
  return new Set(mapped.map(({ id }) => id).filter((id) => !existing.has(id)));
}

export function noteVersions({ versions }: Seen, postings: readonly TestPosting[], stored: Stored): void {
  for (const posting of postings)
    versions.set(posting.key, (versions.get(posting.key) ?? new Set()).add(inOrder(stored(desiredFields(posting)))));
}

export async function noteLive({ live, quiet }: Seen, { app, sandbox, owner }: Installation): Promise<void> {
  const { db } = await app();
  const rows = await db.query<{ id: string }>(
    `select site_job_id as id from mapping m where not exists (select from change c where c.feed = m.feed and c.key = m.key)
       and not exists (select from uncertain_write u where u.feed = m.feed and u.key = m.key)`,
  );
  const isQuiet = new Set(rows.map(({ id }) => id));
  for (const { id, owner: of, fields } of await sandbox.inspect.jobs()) {
    if (of !== owner) continue;
    live.add(keyOf(fields));
    if (isQuiet.has(id) && !quiet.has(id)) quiet.set(id, inOrder(fields));
  }
}

const inOrder = (fields: Readonly<Record<string, string>>): string =>
  JSON.stringify(Object.entries(filled(fields)).sort(([a], [b]) => (a < b ? -1 : 1)));

/**
 * The laws at the end of a life whose feed deletes nothing, or whose database was older for a while: each posting has one job, with the
 * content of the feed, or, if jobs are only created, with one that it had; no other job is mapped than was kept; and all is quiet.
 */
export async function checkKept(
  installation: Installation,
  postings: readonly TestPosting[],
  { policy, isRestored, habits: { stored } }: LifeKind,
  { versions, live, quiet, outdated }: Seen,
  deletedByHand: ReadonlySet<string>,
): Promise<void> {
  await checkJobs();
  installation.sandbox.requests.clear();
  const report = checkCounts(await installation.sync());
  expect(report).toMatchObject({ requests: 0, created: 0, updated: 0, deleted: 0, pending: 0, pending_deletes: 0 });
  await checkJobs();

  async function checkJobs() {
    const { sandbox, owner, foreign } = installation;
    const jobs = await sandbox.inspect.jobs();
    const own = new Map(jobs.filter((job) => job.owner === owner).map((job) => [keyOf(job.fields), job]));
    expect(await duplicatesOf(sandbox, owner)).toEqual([]);
    expect(jobs.filter((job) => job.owner !== owner)).toEqual(foreign);
    if (policy === 'create_only')
      for (const { id, fields } of own.values())
        expect({ id, has: quiet.get(id) ?? inOrder(fields) }).toEqual({ id, has: inOrder(fields) });
    const mapped = await installation.query<{ key: string; id: string; fields: Record<string, string> }>(
      'select m.key, m.site_job_id as id, d.fields from mapping m left join document d using (feed, key)',
    );
    // An update of a posting that is missing since is not sent again; whether the site has received it is not known.
    const sent = await installation.query<{ key: string; fields: Record<string, string> }>(
      'select key, c.fields from change c join uncertain_write u using (feed, key) where c.gone and c.fields is not null',
    );
    const uncertain = new Map(sent.map((each) => [each.key, filled(stored(each.fields))]));
    for (const { key, id, fields: known } of mapped) {
      const job = own.get(key);
      const mayHave = uncertain.get(key);
      const isSent = mayHave !== undefined && inOrder(job?.fields ?? {}) === inOrder(mayHave);
      const fields = isSent ? mayHave : filled(stored(known));
      // A deleted job is only noticed when it is requested: when its posting is no longer as it was when the backup was made.
      if (job === undefined && outdated?.endedJobs.has(id)) {
        const posting = postings.find((each) => each.key === key);
        expect({ key, fields }).toEqual({ key, fields: posting && filled(stored(desiredFields(posting))) });
      } else
        expect({ key, id: job?.id, fields: filled(job?.fields ?? {}) }).toMatchObject(
          outdated ? { key, id } : { key, id, fields },
        );
    }
    const isMapped = new Set(mapped.map(({ key }) => key));
    for (const posting of postings) {
      const { key } = posting;
      expect({ key, mapped: isMapped.has(key) }).toEqual({ key, mapped: true });
      const has = inOrder(own.get(key)?.fields ?? {});
      if (outdated) continue;
      if (policy === 'create_only') expect({ key, has: versions.get(key)?.has(has) }).toEqual({ key, has: true });
      else expect({ key, has }).toEqual({ key, has: inOrder(stored(desiredFields(posting))) });
    }
    // Jobs that a restored database does not know stay as they are.
    const isKept = (key: string) => postings.some((posting) => posting.key === key) || !isMapped.has(key);
    if (isRestored) expect([...own.keys()].filter((key) => !isKept(key))).toEqual([]);
    else expect([...live].filter((key) => !isMapped.has(key) && !deletedByHand.has(key))).toEqual([]);
    expect(await installation.query('select key, state from change where not gone')).toEqual([]);
    expect(await installation.query('select site_job_id from orphan_site_job')).toEqual([]);
  }
}
