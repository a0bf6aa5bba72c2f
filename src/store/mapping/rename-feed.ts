// Renames a feed in all tables, or takes a feed out of service; in one transaction.
import type { FeedName, PostingKey, SiteName } from '../../posting/identifiers.ts';
import { auditAction } from '../access/audit.ts';
import { keepDiscards } from '../change/act-in-review.ts';
import { planAgain } from '../change/edit.ts';
import { MOST_VERSIONS } from '../feed/feed-file-versions.ts';
import { keepNewest, moveUploadsBehind } from '../feed/feed-uploads.ts';
import { type HeldLock, lockOutcomes } from '../locks/advisory-locks.ts';
import { lockFeed } from '../locks/feed-locks.ts';
import { joinPauses } from '../locks/pauses.ts';
import { type Database, type Queryable, readColumn } from '../postgres/database.ts';

export type RenameEnd =
  | { readonly kind: 'renamed'; readonly mappings: number; readonly changes: number; readonly edits: number }
  /** Nothing was written: a pull of this feed is running. */
  | { readonly kind: 'busy'; readonly feed: FeedName }
  /** Nothing was written. */
  | { readonly kind: 'refused'; readonly message: string };

/** Tables with one row per posting or record of a feed; a new name that was pulled without success may already have some. */
const KEYED_TABLES = [
  'feed_state',
  'document',
  'uncertain_write',
  'record_problem',
  'override',
  'posting_note',
  'kept_record',
  'skipped_record',
  'dated_record',
  'posting_expiry',
  'detail',
  'failed_detail',
  'refuted_job',
  'rekey_posting',
  'rekey_survey',
  'rekey_line',
  'rekey_total',
  'rekey_touched',
  'feed_verify',
  'adopt_run',
  'adopt_proposal',
] as const;

/** All tables with rows of a feed. */
export const FEED_TABLES = [
  ...KEYED_TABLES,
  'mapping',
  'change',
  'review_entry',
  'bulk_entry',
  'review_rule',
  'deletion',
  'failure',
  'request',
  'orphan_site_job',
  'ended_claim',
  'audit',
  'pull',
  'former_document',
  'pause',
  'feed_file_version',
  'feed_upload',
  'feed_upload_part',
] as const;

/** Renames a feed for which nobody pulls or sends. The new name must have no mappings, and no changes that were ever sent. */
export async function renameFeed(
  db: Database,
  from: FeedName,
  to: { readonly feed: FeedName; readonly site: SiteName },
  actor: string,
): Promise<RenameEnd> {
  const locks: HeldLock[] = [];
  try {
    for (const feed of [from, to.feed].sort()) {
      const lock = await lockFeed(db, feed);
      if (lock === undefined) return { kind: 'busy', feed };
      locks.push(lock);
    }
    return await db.transaction(async (tx) => {
      for (const feed of [from, to.feed].sort()) await lockOutcomes(tx, feed);
      const message = await whyNotRename(tx, from, to);
      if (message !== undefined) return { kind: 'refused', message };
      const edited = await keepLatestEdits(tx, from, to.feed);
      await keepDiscards(tx, from, to.feed);
      for (const table of KEYED_TABLES.filter((each) => each !== 'override' && each !== 'record_problem'))
        await tx.query(`delete from ${table} where feed = $1`, [to.feed]);
      // Whichever of them a person has paused, the feed stays paused.
      await joinPauses(tx, from, to.feed);
      await moveVersionsBehind(tx, from, to.feed);
      await moveUploadsBehind(tx, from, to.feed);
      for (const table of FEED_TABLES) await tx.query(`update ${table} set feed = $2 where feed = $1`, [from, to.feed]);
      // Pulls of the new name that were refused until now still ask for this command.
      await tx.query(
        `update pull set notes = jsonb_build_array($2::text) where feed = $1 and status = 'failed' and notes @? $3::jsonpath`,
        [to.feed, `feed ${from} had not been renamed yet`, '$[*].next[*].action ? (@.kind == "rename_feed")'],
      );
      // The address of the source may have changed.
      await tx.query('update feed_state set source_version = null, retired_at = null where feed = $1', [to.feed]);
      await planAgain(tx, to.feed, [...new Set(edited)]);
      // A worker that claims a change meanwhile would not find it by the old name.
      const [begun] = await tx.query(`select from change where feed = $1 and state = 'sending' limit 1`, [to.feed]);
      if (begun !== undefined) throw new BeingSentError();
      const [counts] = await tx.query<{ mappings: number; changes: number }>(
        `select (select count(*) from mapping where feed = $1) as mappings,
           (select count(*) from change where feed = $1) as changes`,
        [to.feed],
      );
      const { mappings = 0, changes = 0 } = counts ?? {};
      const moved = { mappings, changes, edits: edited.length };
      await auditAction(tx, { actor, action: 'rename feed', feed: to.feed, detail: { from, ...moved } });
      return { kind: 'renamed', ...moved };
    });
  } catch (error) {
    if (error instanceof BeingSentError) return { kind: 'refused', message: beingSent(from) };
    throw error;
  } finally {
    for (const lock of locks) await lock.release();
  }
}

/**
 * Of a field that was edited under both names the later edit stays. Returns the key of each edit of the new name that stays: the old name
 * may know the record of its posting, so it has to be planned again.
 */
async function keepLatestEdits(tx: Queryable, from: FeedName, to: FeedName): Promise<PostingKey[]> {
  await tx.query(
    `delete from override o using override later where o.feed in ($1, $2) and later.feed in ($1, $2) and o.feed <> later.feed
       and o.key = later.key and o.field = later.field and (o.edited_at, o.feed = $2) < (later.edited_at, later.feed = $2)`,
    [from, to],
  );
  return readColumn<PostingKey>(tx, 'select key from override where feed = $1', [to]);
}

/** Texts that the file of the new name has had become later versions than those of the former name. */
async function moveVersionsBehind(tx: Queryable, from: FeedName, to: FeedName): Promise<void> {
  // Further than the most versions of a feed, so that no number is taken meanwhile.
  await tx.query(
    `update feed_file_version set version = version + $3 +
       (select coalesce(max(version), 0) from feed_file_version where feed = $1) where feed = $2`,
    [from, to, MOST_VERSIONS],
  );
}

async function whyNotRename(
  tx: Queryable,
  from: FeedName,
  to: { readonly feed: FeedName; readonly site: SiteName },
): Promise<string | undefined> {
  const [old] = await tx.query<{ site: SiteName }>('select site from feed_state where feed = $1', [from]);
  if (old === undefined) return `no feed ${from} is recorded in the database`;
  if (old.site !== to.site) {
    return `feed ${from} was mirrored into site ${old.site}, and feed ${to.feed} is for site ${to.site}: job IDs of one mean nothing on the other`;
  }
  const [state] = await tx.query<{ taken: boolean; sending: boolean }>(
    `select exists(select from mapping where feed = $2) or exists(select from change where feed = $2
           and (attempts > 0 or (attempt_token is not null and found_job_id is null) or doubted_since is not null))
         or exists(select from orphan_site_job where feed = $2) as taken,
       exists(select from change where feed = $1 and state = 'sending') as sending`,
    [from, to.feed],
  );
  if (state?.taken === true) return `feed ${to.feed} has jobs or changes of its own already`;
  // A late response finds its change by the feed's name.
  return state?.sending === true ? beingSent(from) : undefined;
}

/** Rolls the transaction back. */
class BeingSentError extends Error {}

const beingSent = (feed: FeedName): string =>
  `changes of feed ${feed} are being sent: stop the command that sends them, and try again after a minute`;

/** The result of taking a feed out of service. */
export interface Retired {
  /** Creates in doubt or in flight: the site may have a job for each, although no mapping shows it. */
  readonly inDoubt: number;
  /** Feeds that were declared new on the site, but for which it is searched anyway before their first create. */
  readonly searched: readonly FeedName[];
}

/** Takes a feed out of service: its jobs stay as they are, and nothing is sent for it. `undefined`: unknown feed. */
export async function retireFeed(db: Database, feed: FeedName, actor: string): Promise<Retired | undefined> {
  return db.transaction(async (tx) => {
    const rows = await tx.query(
      'update feed_state set retired_at = coalesce(retired_at, now()) where feed = $1 returning feed',
      [feed],
    );
    if (rows.length === 0) return undefined;
    await auditAction(tx, { actor, action: 'retire feed', feed });
    // What it reads if it returns.
    await keepNewest(tx, feed, 1);
    const [row] = await tx.query<{ n: number }>(
      `select count(*) as n from change where feed = $1 and attempt_operation = 'create'`,
      [feed],
    );
    const inDoubt = row?.n ?? 0;
    return { inDoubt, searched: inDoubt === 0 ? [] : await searchForNew(tx, feed) };
  });
}

/** The feed was declared new before the possible jobs of these doubts lost their owner, so the site is searched after all. */
async function searchForNew(tx: Queryable, retired: FeedName): Promise<FeedName[]> {
  const rows = await tx.query<{ feed: FeedName }>(
    `update feed_state f set site_checked_at = null, site_declared = false
     from feed_state r where r.feed = $1 and f.site = r.site and f.feed <> r.feed and f.site_declared and f.retired_at is null
       and not exists (select from mapping m where m.feed = f.feed) and not exists (select from change c where c.feed = f.feed)
     returning f.feed`,
    [retired],
  );
  return rows.map((row) => row.feed).sort();
}
