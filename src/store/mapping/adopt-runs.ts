// Stores what became of the last matching of a feed that somebody started on a page or through the API.
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import { auditAction } from '../access/audit.ts';
import { RUNNING_WORKERS } from '../locks/processes.ts';
import type { Database, Queryable } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';

/** To match, to adopt all certain matches that were shown, or to adopt named jobs. */
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
export async function readAdoptRun(db: Queryable, feed: FeedName): Promise<AdoptRun | undefined> {
  const [row] = await db.query<AdoptRun>(`select ${COLUMNS} from adopt_run r where r.feed = $1`, [feed]);
  return row;
}

export async function listAdoptRuns(db: Queryable): Promise<ReadonlyMap<FeedName, AdoptRun>> {
  const rows = await db.query<AdoptRun & { readonly feed: FeedName }>(`select r.feed, ${COLUMNS} from adopt_run r`);
  return new Map(rows.map((row) => [row.feed, row]));
}

export interface BegunRun {
  readonly feed: FeedName;
  readonly site: SiteName;
  readonly actor: string;
  readonly asked: AskedAdoption;
  /** Of the process that runs it. */
  readonly worker: number;
  /** For the audit. */
  readonly detail: object;
}

/** Replaces the former run; its proposals stay until there are new ones. The caller holds the feed's pull lock. Returns its number. */
export function beginAdoptRun(db: Database, { feed, site, actor, asked, worker, detail }: BegunRun): Promise<number> {
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
