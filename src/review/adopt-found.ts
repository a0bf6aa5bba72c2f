// The site jobs that a search found for a feed: which of them certainly belong to a posting, and the action that adopts those.
import { createHash } from 'node:crypto';
import type { Config } from '../config/config.ts';
import type { PostingKey, SiteJobId } from '../posting/identifiers.ts';
import { type Database, inSnapshot, type Queryable } from '../store/postgres/database.ts';
import { unfinishedBulk } from '../store/review/bulk-actions.ts';
import { type FoundEntry, type FoundOf, foundEntries } from '../store/review/found-entries.ts';
import { readMarks } from '../store/review/selected-counts.ts';
import { type BulkStart, startBulk } from './bulk/start-bulk.ts';
import { tokenOfOne } from './seen.ts';

/** An entry that a person must decide, with the reason. */
export interface LeftEntry {
  readonly entry: number;
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  readonly message: string;
}

export interface FoundJobsOfFeed {
  /** Their posting is certain. */
  readonly sure: readonly FoundEntry[];
  readonly left: readonly LeftEntry[];
  /** Another one if others are certain. */
  readonly mark: string;
}

export async function readFoundJobs(db: Queryable, of: FoundOf): Promise<FoundJobsOfFeed> {
  const found = await foundEntries(db, of);
  const sure = found.filter(({ ambiguous }) => ambiguous === undefined);
  const left = found.flatMap(({ ambiguous: message, ...one }) => (message === undefined ? [] : [{ ...one, message }]));
  const mark = createHash('sha256');
  for (const { entry, siteJobId } of sure) mark.update(`${entry} ${siteJobId}\n`);
  return { sure, left, mark: mark.digest('hex').slice(0, MARK_LENGTH) };
}

const MARK_LENGTH = 20;

export interface AdoptFoundRequest {
  readonly of: FoundOf;
  /** Of the certain jobs that the person saw: with any others, nothing is done. */
  readonly mark: string;
  readonly actor: string;
  /** No command waits for it. */
  readonly unattended?: boolean;
}

/** Stores the action that adopts the certain jobs. A job that is no longer certain once it is reached is left alone. */
export async function startAdoptingFound(
  db: Database,
  config: Config,
  { of, mark, actor, unattended = false }: AdoptFoundRequest,
): Promise<BulkStart> {
  const other = await unfinishedBulk(db, 'adopt', of.feed);
  if (other?.state === 'open')
    return refused(`action ${other.id} adopts found jobs of feed ${of.feed} already: wait for its end, or stop it`);
  // At one moment, so that the revisions are those of the entries with these jobs.
  const shown = await inSnapshot(db, async (session) => {
    const found = await readFoundJobs(session, of);
    const ids = found.sure.map(({ entry }) => entry);
    return { ...found, ids, named: await readMarks(session, ids) };
  });
  if (shown.mark !== mark) return refused('other jobs are certain than those that were shown; look at them again');
  if (shown.ids.length === 0) return refused('no found job is certain');
  const query = { feed: of.feed, kinds: ['in_doubt'], ids: shown.ids } as const;
  const detail = { query, ...(unattended ? { unattended } : {}) };
  const seen = { count: shown.ids.length, tokens: shown.named.map(tokenOfOne) };
  return startBulk(db, config, { action: 'adopt', actor, seen, detail });
}

const refused = (why: string): BulkStart => ({ kind: 'refused', message: `${why}. Nothing was adopted.` });
