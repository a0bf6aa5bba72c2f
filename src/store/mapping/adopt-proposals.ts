// Stores the last matching of a feed's postings with jobs that a site already had: what became of it, and which job may be which
// posting's, so that people can decide.
import type { Certainty } from '../../plan/match/whose-job.ts';
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { auditAction } from '../access/audit.ts';
import { RUNNING_WORKERS } from '../locks/processes.ts';
import { RowCopier, toJsonb } from '../postgres/copy-rows.ts';
import {
  type Database,
  type Queryable,
  readMap,
  type Stored,
  transactionOn,
  withoutNulls,
} from '../postgres/database.ts';
import type { FoundCandidate, FoundMatch, JobMatching } from './job-matching.ts';

/** A candidate as it is stored and shown. */
export interface ProposedJob extends Omit<FoundCandidate, 'fields'> {
  readonly title: string | null;
  /** What the job shows, and what the next pull sends instead. */
  readonly differences: readonly { readonly field: string; readonly before?: string; readonly now?: string }[];
  readonly moreFields: number;
}

export interface JobProposal {
  readonly key: PostingKey;
  readonly verdict: Certainty;
  readonly reasons: readonly string[];
  readonly title: string | undefined;
  readonly candidates: readonly ProposedJob[];
  /** Another one after each change of the posting. */
  readonly version: string;
}

export interface ListedProposal extends Omit<JobProposal, 'title'> {
  readonly n: number;
  readonly title: string | null;
  /** The job that the posting has got since. */
  readonly ownJobId: SiteJobId | null;
  /** A pull has read the posting, so that there is more to show of it. */
  readonly isKnown: boolean;
}

const PROPOSAL_COLUMNS = {
  feed: 'text',
  n: 'integer',
  key: 'text',
  verdict: 'text',
  reasons: 'jsonb',
  title: 'text',
  candidates: 'jsonb',
  version: 'text',
  fields: 'json',
  record_hash: 'bytea',
} as const;

/** The run that made the proposals. */
export interface ProposedRun {
  readonly feed: FeedName;
  readonly site: SiteName;
  readonly run: number;
  /** The version of the feed's source; `undefined` if it has none. */
  readonly version: string | undefined;
}

/** Replaces the proposals of the feed by what the matching found, apart from postings that have a job by now. */
export async function storeProposals(
  matching: JobMatching,
  { feed, site, run, version }: ProposedRun,
  { otherJobs, notes }: { readonly otherJobs: number; readonly notes: readonly string[] },
  propose: (found: FoundMatch) => JobProposal,
): Promise<void> {
  const { session } = matching;
  await transactionOn(session, async () => {
    await session.query('delete from adopt_proposal where feed = $1', [feed]);
    const copier = new RowCopier(session, 'adopt_proposal', PROPOSAL_COLUMNS);
    let n = 0;
    for await (const rows of matching.found()) {
      await copier.copy(
        rows.map((found) => {
          const { key, verdict, reasons, title, candidates, version: own } = propose(found);
          const { fields, recordHash } = found;
          const shown = [toJsonb(reasons), title ?? null, toJsonb(candidates), own];
          return [feed, n++, key, verdict, ...shown, fields, recordHash];
        }),
      );
    }
    await session.query(
      `update adopt_run set matched_at = now(), matched_site = $3, other_jobs = $4, notes = $5, feed_version = $6
       where feed = $1 and run = $2`,
      [feed, run, site, otherJobs, toJsonb(notes), version ?? null],
    );
    await countProposals(session, feed);
  });
}

async function countProposals(db: Queryable, feed: FeedName): Promise<void> {
  await db.query(
    `update adopt_run set (sure, unsure, unmatched, mark) = (
       select count(*) filter (where verdict = 'sure'), count(*) filter (where verdict = 'unsure'),
         count(*) filter (where verdict = 'unmatched'),
         md5(coalesce(string_agg(key || ' ' || (candidates->0->>'siteJobId') || ' ' || version, ',' order by n)
           filter (where verdict = 'sure'), ''))
       from adopt_proposal where feed = $1)
     where feed = $1`,
    [feed],
  );
}

/** Removes the proposals of postings that have a job by now. */
export async function removeDecided(db: Database, feed: FeedName): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query(
      `delete from adopt_proposal p using mapping m where p.feed = $1 and m.feed = p.feed and m.key = p.key`,
      [feed],
    );
    await countProposals(tx, feed);
  });
}

/** A proposal, with the posting as the matching read it. */
export interface StoredProposal extends Pick<JobProposal, 'version' | 'candidates'> {
  /** `undefined`, like the hash, in a proposal of a former version of jobmirror. */
  readonly fields: Fields | undefined;
  readonly recordHash: Buffer | undefined;
  /** The version of the feed's source; `undefined` if it has none. */
  readonly feedVersion: string | undefined;
}

export async function findProposal(
  db: Queryable,
  feed: FeedName,
  key: PostingKey,
): Promise<StoredProposal | undefined> {
  const [row] = await db.query<Stored<StoredProposal>>(
    `select p.version, p.candidates, p.fields, p.record_hash as "recordHash", r.feed_version as "feedVersion"
     from adopt_proposal p join adopt_run r on r.feed = p.feed where p.feed = $1 and p.key = $2`,
    [feed, key],
  );
  return row && withoutNulls<StoredProposal>(row);
}

/** @param after the number of the last one before the page */
export async function readProposals(
  db: Queryable,
  feed: FeedName,
  { show, after, limit }: { readonly show: Certainty; readonly after: number; readonly limit: number },
): Promise<ListedProposal[]> {
  return db.query<ListedProposal>(
    `select p.n, p.key, p.verdict, p.reasons, p.title, p.candidates, p.version, m.site_job_id as "ownJobId",
       m.key is not null or exists (select from change c where c.feed = p.feed and c.key = p.key) as "isKnown"
     from adopt_proposal p left join mapping m on m.feed = p.feed and m.key = p.key
     where p.feed = $1 and p.verdict = $2 and p.n > $3 order by p.n limit $4`,
    [feed, show, after, limit],
  );
}

/** The certain matches of postings that have no job by now: the job of each. */
export const sureProposals = (db: Queryable, feed: FeedName): Promise<ReadonlyMap<PostingKey, SiteJobId>> =>
  readMap<PostingKey, SiteJobId>(
    db,
    `select p.key, p.candidates->0->>'siteJobId' as id from adopt_proposal p where p.feed = $1 and p.verdict = 'sure'
       and not exists (select from mapping m where m.feed = p.feed and m.key = p.key) order by p.n`,
    [feed],
  );

/** `match`: match; `sure`: adopt all certain matches that were shown; `named`: adopt named jobs. */
export type AskedAdoption = 'match' | 'sure' | 'named';

/** An accepted match that was not adopted. */
export interface Refusal {
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  readonly message: string;
}

export interface AdoptRun {
  readonly run: number;
  readonly site: SiteName;
  readonly actor: string;
  readonly asked: AskedAdoption;
  /** `interrupted`: its process was stopped or died. */
  readonly state: 'running' | 'done' | 'failed' | 'interrupted';
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  readonly progress: string | null;
  readonly message: string | null;
  readonly adopted: number;
  readonly refused: number;
  /** Some of them. */
  readonly refusals: readonly Refusal[];
  /** When the proposals were made; null: there are none yet. */
  readonly matchedAt: Date | null;
  readonly matchedSite: SiteName | null;
  readonly notes: readonly string[];
  readonly sure: number;
  readonly unsure: number;
  readonly unmatched: number;
  readonly otherJobs: number;
  /** Another one if other matches are certain. */
  readonly mark: string | null;
}

const COLUMNS = `r.run, r.site, r.actor, r.asked,
  case when r.state = 'running' and r.worker not in (${RUNNING_WORKERS}) then 'interrupted' else r.state end as state,
  r.started_at as "startedAt", r.ended_at as "endedAt", r.progress, r.message, r.adopted, r.refused, r.refusals,
  r.matched_at as "matchedAt", r.matched_site as "matchedSite", r.notes, r.sure, r.unsure, r.unmatched,
  r.other_jobs as "otherJobs", r.mark`;

/** `undefined`: nobody has started one. */
export const readAdoptRun = async (db: Queryable, feed: FeedName): Promise<AdoptRun | undefined> =>
  (await listAdoptRuns(db, feed)).get(feed);

/** Of all feeds, or of one. */
export async function listAdoptRuns(db: Queryable, of?: FeedName): Promise<ReadonlyMap<FeedName, AdoptRun>> {
  const rows = await db.query<AdoptRun & { readonly feed: FeedName }>(
    `select r.feed, ${COLUMNS} from adopt_run r where $1::text is null or r.feed = $1`,
    [of ?? null],
  );
  return new Map(rows.map((row) => [row.feed, row]));
}

export interface BegunAdoptRun {
  readonly feed: FeedName;
  readonly site: SiteName;
  readonly actor: string;
  readonly asked: AskedAdoption;
  /** The number of the process that runs it. */
  readonly worker: number;
  /** What the audit shows of it. */
  readonly detail: object;
}

/** Replaces the former run; its proposals stay until there are new ones. The caller holds the feed's pull lock. Returns its number. */
export function beginAdoptRun(
  db: Database,
  { feed, site, actor, asked, worker, detail }: BegunAdoptRun,
): Promise<number> {
  return db.transaction(async (tx) => {
    const [row] = await tx.query<{ run: number }>(
      `insert into adopt_run as r (feed, site, actor, asked, worker) values ($1, $2, $3, $4, $5)
       on conflict (feed) do update set run = r.run + 1, site = excluded.site, actor = excluded.actor, asked = excluded.asked,
         worker = excluded.worker, state = 'running', started_at = now(), ended_at = null, progress = null, message = null,
         adopted = 0, refused = 0, refusals = '[]'
       returning run`,
      [feed, site, actor, asked, worker],
    );
    await auditAction(tx, { actor, action: 'match jobs', feed, detail: { asked, ...detail } });
    return row?.run ?? 1;
  });
}

/** @param worker of the process that runs it, which may have got another number. */
export async function noteAdoptProgress(
  db: Queryable,
  { feed, run, worker }: { readonly feed: FeedName; readonly run: number; readonly worker: number },
  progress: string | undefined,
): Promise<void> {
  await db.query(
    `update adopt_run set worker = $3, progress = coalesce($4, progress) where feed = $1 and run = $2 and state = 'running'`,
    [feed, run, worker, progress ?? null],
  );
}

export interface AdoptRunEnd {
  readonly state: 'done' | 'failed' | 'interrupted';
  readonly message?: string;
  readonly adopted: number;
  readonly refusals: readonly Refusal[];
}

const MOST_REFUSALS = 50;

export async function endAdoptRun(
  db: Queryable,
  feed: FeedName,
  run: number,
  { state, message, adopted, refusals }: AdoptRunEnd,
): Promise<void> {
  await db.query(
    `update adopt_run set state = $3, message = $4, adopted = $5, refused = $6, refusals = $7, progress = null, ended_at = now()
     where feed = $1 and run = $2`,
    [feed, run, state, message ?? null, adopted, refusals.length, toJsonb(refusals.slice(0, MOST_REFUSALS))],
  );
}
