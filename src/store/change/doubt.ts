// Reads creates in doubt and records their resolution: adopted, sent again, or left to a person.
import { type EndedAttempt, stateAfterRefutedDoubt } from '../../plan/after-attempt.ts';
import { heldBecause } from '../../plan/delete-guard.ts';
import { type Reason, reasonOfTaken } from '../../plan/desired-change.ts';
import { plural } from '../../plan/message.ts';
import type { CheckDelays } from '../../plan/policy.ts';
import { contentHash } from '../../posting/hash.ts';
import {
  type FeedName,
  type PostingKey,
  type PostingRef,
  type SiteJobId,
  type SiteName,
  siteJobId,
} from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import {
  type Database,
  type Queryable,
  readColumn,
  readMap,
  readNumber,
  returnsRow,
  type Transaction,
} from '../postgres/database.ts';
import { unreadHashSql } from '../pull/record-hashes.ts';
import { areOfOneJob } from '../site/kept-values.ts';
import { namesOfSite } from '../site/known-address.ts';
import { forgetReference } from '../site/unowned-jobs.ts';
import { type AdoptedContent, type Attempt, forgetUncertainWrites, type Recorded } from './attempt.ts';
import { endOwnership, hasLostOwnership, lockOwner, ownedJobs } from './candidate-owners.ts';
import { dropChanges } from './imported-jobs.ts';
import { changeReason, ENDS_ATTEMPT, targetReason, targetState } from './life-cycle.ts';
import { noteEffect, recordAll } from './record-outcomes.ts';

/** A create whose outcome is unknown, with what was sent. */
export interface Doubt {
  readonly attempt: Attempt & { readonly accepted: NonNullable<Attempt['accepted']> };
  /** When the first attempt was committed that may have made the job, by the database clock: a list may have shown wrongly that it did not. */
  readonly startedAt: Date;
  /** When the last one was. */
  readonly sentAt: Date;
  /** Age of the attempt in milliseconds when the doubt was read, by the same clock. */
  readonly sinceMs: number;
  /** How often the list was read without finding a job for it. */
  readonly listChecks: number;
  /** A search of the site found a job for it, so nothing was sent. */
  readonly found: boolean;
  /** See `Reason`. */
  readonly made: SiteJobId | undefined;
}

const SELECT = `select c.feed, c.key, c.site, c.attempt_token as token, c.attempts as number, coalesce(c.sent_pull, c.pull) as pull, c.approved,
    coalesce(c.sent_revision, c.revision) as revision, coalesce(c.sent_fields, c.fields) as fields,
    coalesce(c.sent_record_hash, c.record_hash) as "recordHash", coalesce(c.sent_content_hash, c.content_hash) as "contentHash",
    least(c.doubted_since, c.attempt_started) as "startedAt", c.attempt_started as "sentAt", c.list_checks as "listChecks",
    (extract(epoch from clock_timestamp() - c.attempt_started) * 1000)::float8 as "sinceMs", c.found_job_id is not null as found, c.reason->>'made' as made
  from change c where c.state = 'in_doubt'`;

type DoubtRow = Omit<Doubt, 'attempt' | 'made'> & { readonly made: SiteJobId | null } & Pick<
    Attempt,
    'feed' | 'key' | 'site' | 'token' | 'number' | 'approved' | 'revision'
  > &
  Doubt['attempt']['accepted'] & { readonly pull: number | null };

/**
 * Doubts of a site that are due for a list check; see `checkDueMs`. Doubts that a list check left to a person are not due
 * unless {@link explainDoubts} rescheduled them.
 */
export async function dueDoubts(
  db: Queryable,
  site: SiteName,
  { firstMs, furtherMs }: CheckDelays,
  limit: number,
): Promise<Doubt[]> {
  const rows = await db.query<DoubtRow>(
    `${SELECT} and c.site = $1 and c.found_job_id is null
       and c.attempt_started + make_interval(secs => $2 + c.list_checks * $3::float8) < clock_timestamp()
       and c.not_before <= clock_timestamp()
     order by c.attempt_started limit $4`,
    [site, firstMs / 1000, furtherMs / 1000, limit],
  );
  return rows.map(tidy);
}

/** How many creates of a site that have sent this content are in doubt, due or not. */
export const countDoubtsOf = (db: Queryable, site: SiteName, contentHash: Buffer): Promise<number> =>
  readNumber(
    db,
    `select count(*) as n from change where site = $1 and state = 'in_doubt' and coalesce(sent_content_hash, content_hash) = $2`,
    [site, contentHash],
  );

/** The jobs of the site that a create in doubt may have made, as far as a search or a reading of the list has found them. */
export async function candidatesOf(db: Queryable, entry: number): Promise<SiteJobId[]> {
  const [row] = await db.query<{ found: string | null; candidates: string[] | null }>(
    `select found_job_id as found, reason->'candidates' as candidates from change where id = $1 and state = 'in_doubt'`,
    [entry],
  );
  const ids = [...(row?.found == null ? [] : [row.found]), ...(row?.candidates ?? [])];
  return [...new Set(ids)].map(siteJobId);
}

export async function findDoubt(db: Queryable, feed: FeedName, key: PostingKey): Promise<Doubt | undefined> {
  const [row] = await db.query<DoubtRow>(`${SELECT} and c.feed = $1 and c.key = $2`, [feed, key]);
  return row === undefined ? undefined : tidy(row);
}

/** What the site shows of a job that was found for a doubt. */
export interface FoundContent extends AdoptedContent {
  /** The site proves that the create has made the job. */
  readonly isProven: boolean;
  /** The job stays as it is: the feed's policy changes none. By default an update sets what differs. */
  readonly staysAsItIs?: boolean;
}

/**
 * Resolves a doubt: the site made the job, and this is its ID and content. An update sets what differs from what was sent,
 * and also sends a newer version.
 */
export async function adoptDoubt(
  db: Database,
  doubt: Doubt,
  id: SiteJobId,
  url: string | undefined,
  adopted: FoundContent,
  isOthers: (older: Fields | undefined) => boolean = () => false,
): Promise<Recorded> {
  return db.transaction(async (tx) => {
    await endOtherOwnership(tx, doubt, id, isOthers);
    return adoptDoubtWithin(tx, doubt, id, url, adopted);
  });
}

/** Ends another posting's ownership of a job that the site shows as the doubt's, unless that posting has a request in flight. */
export async function endOtherOwnership(
  tx: Transaction,
  { attempt }: Doubt,
  id: SiteJobId,
  isOthers: (older: Fields | undefined) => boolean,
): Promise<void> {
  await lockOutcomesShared(tx, [attempt.feed]);
  const open = await tx.query(
    `select from change where feed = $1 and key = $2 and attempt_token = $3 and state = 'in_doubt' for update`,
    [attempt.feed, attempt.key, attempt.token],
  );
  const older = open.length === 0 ? undefined : await lockOwner(tx, await namesOfSite(tx, attempt.site), id);
  if (older === undefined || !isOthers(older.fields)) return;
  if (await hasLostOwnership(tx, attempt, attempt.site, id)) return;
  const owned = (await ownedJobs(tx, attempt.site, [id])).get(id);
  if (owned?.inFlight === false) await endOwnership(tx, older, attempt);
}

/** Like {@link adoptDoubt}, within a transaction that also records the rest of the decision. */
export async function adoptDoubtWithin(
  tx: Transaction,
  doubt: Doubt,
  id: SiteJobId,
  url: string | undefined,
  { isProven, staysAsItIs = false, ...adopted }: FoundContent,
): Promise<Recorded> {
  const { feed, key, site, token } = doubt.attempt;
  const found = await tx.query(
    'select from change where feed = $1 and key = $2 and attempt_token = $3 and found_job_id is not null',
    [feed, key, token],
  );
  const result = { kind: 'created', siteJobId: id, url, adopted } as const;
  const [recordedAs] = await recordAll(tx, [{ attempt: doubt.attempt, result, record: undefined }]);
  if (recordedAs === 'recorded') await forgetReference(tx, site, id);
  if (recordedAs === 'recorded' && staysAsItIs) await sendNothing(tx, doubt.attempt, adopted.fields);
  if (recordedAs === 'recorded' && found.length === 0 && isProven) await noteEffect(tx, doubt.attempt, true, result);
  if (found.length > 0 || !isProven) await leaveToUndo(tx, { feed, key, id, wasSent: found.length === 0 });
  return recordedAs as Recorded;
}

/** Drops what is left to send for a posting that is in its feed. The next pull reads its record, and takes the job as the site shows it. */
async function sendNothing(tx: Queryable, attempt: Attempt, shown: Fields): Promise<void> {
  const { feed, key } = attempt;
  const which = `where c.feed = $1 and c.key = $2 and c.desired = 'present'`;
  if ((await dropChanges(tx, which, [feed, key])) === 0) return;
  await forgetUncertainWrites(tx, [{ attempt }]);
  await tx.query(
    `update mapping set content_hash = $3, record_hash = ${unreadHashSql('adopted')} where feed = $1 and key = $2`,
    [feed, key, contentHash(shown)],
  );
}

const MAY_BE_OTHERS = heldBecause(
  'guard',
  'the pull that is undone may not have made this job: look at it on the site, and approve the delete only if it did',
);

/**
 * Somebody may have made the job by hand, so undoing the pull must not delete it; `wasSent`: the undo names it. If the pull was undone
 * before the job was found, a person decides about the delete.
 */
async function leaveToUndo(
  tx: Queryable,
  { feed, key, id, wasSent }: { feed: FeedName; key: PostingKey; id: SiteJobId; wasSent: boolean },
): Promise<void> {
  await tx.query(
    `update mapping set created_by = case when $4 then created_by end, adopted = true
     where feed = $1 and key = $2 and site_job_id = $3`,
    [feed, key, id, wasSent],
  );
  await tx.query(
    `update change c set state = 'held', target_state = 'held', reason = $3, since = now(), revision = nextval('revision_number')
     from pull p where c.feed = $1 and c.key = $2 and c.desired = 'absent' and c.state = 'ready' and not c.approved
       and p.id = c.pull and p.undoes is not null`,
    [feed, key, toJsonb(MAY_BE_OTHERS)],
  );
}

/** Counts one reading of the list that showed no job for these doubts. */
export async function recordListCheck(db: Queryable, doubts: readonly Doubt[]): Promise<void> {
  await db.query(
    `update change set list_checks = list_checks + 1, reason = reason - 'note' - 'candidates' - 'crowded' where state = 'in_doubt' and attempt_token = any($1::uuid[])`,
    [doubts.map((doubt) => doubt.attempt.token)],
  );
}

/** Jobs that a person is asked about; the list may show many more that look alike. */
const MOST_NAMED = 20;

/** The jobs that a person has to look at, as the site's list shows them. */
export interface PossibleJobs {
  readonly candidates: readonly SiteJobId[];
  /** The list shows more of them than were compared. */
  readonly crowded: boolean;
}

/**
 * Records why these doubts cannot be resolved for now, beside the reason why they are in doubt. Checks them again only after
 * `againMs`, as the list may be long. `possible` is absent if the list told nothing: what an earlier one showed remains.
 */
export async function explainDoubts(
  db: Queryable,
  doubts: readonly Doubt[],
  note: string,
  againMs: number,
  possible?: PossibleJobs,
): Promise<void> {
  await db.query(
    `update change set reason = coalesce(reason, $2) || $3, not_before = clock_timestamp() + make_interval(secs => $4)
     where state = 'in_doubt' and attempt_token = any($1::uuid[])`,
    [
      doubts.map((doubt) => doubt.attempt.token),
      changeReason('unknown', 'whether the site has made the job is not known'),
      toJsonb({
        note,
        ...(possible && { candidates: possible.candidates.slice(0, MOST_NAMED), crowded: possible.crowded }),
      }),
      againMs / 1000,
    ],
  );
}

function tidy({ startedAt, sentAt, sinceMs, listChecks, found, made, ...row }: DoubtRow): Doubt {
  const { pull, fields, recordHash, contentHash, ...named } = row;
  const accepted = { fields, recordHash, contentHash };
  const attempt = { ...named, pull: pull ?? undefined, request: { kind: 'create', fields }, accepted } as const;
  return { attempt, startedAt, sentAt, sinceMs, listChecks, found, made: made ?? undefined };
}

/**
 * Resolves a doubt: the site did not make the job. The latest version is sent; a posting that went away is dropped.
 * @param mostTries how often one version is tried before a person must decide; Infinity if a person asked to try again.
 * @param holder what the list shows about the reference.
 * @returns whether it was still in doubt.
 */
export const refuteDoubt = (
  db: Database,
  doubt: Doubt,
  mostTries: number,
  holder?: ReferenceHolder,
): Promise<boolean> => db.transaction((tx) => refuteDoubtWithin(tx, doubt, mostTries, holder));

/** The posting whose job has the reference of a create. */
export interface ReferenceHolder extends PostingRef {
  readonly siteJobId: SiteJobId;
}

/** Like {@link refuteDoubt}, within a transaction that also records the rest of the decision. */
export async function refuteDoubtWithin(
  tx: Queryable,
  { attempt }: Doubt,
  mostTries: number,
  holder?: ReferenceHolder,
): Promise<boolean> {
  const { feed, key, token } = attempt;
  const [open] = await tx.query<EndedAttempt & { readonly reason: Reason | null }>(
    `select attempts, sent_revision is not null as superseded, reason from change
     where feed = $1 and key = $2 and attempt_token = $3 and state = 'in_doubt' for update`,
    [feed, key, token],
  );
  if (open === undefined) return false;
  await keepRefuted(tx, attempt);
  // The posting has no job under another address either.
  if (open.reason?.kind === 'unconfirmed')
    await tx.query('delete from ended_claim where feed = $1 and key = $2', [feed, key]);
  const said = open.reason?.taken;
  const isHeld = holder !== undefined && (await isHolding(tx, holder));
  // The list was read before that job was deleted.
  const isFree = holder !== undefined && !isHeld;
  const taken = isHeld ? (said === undefined ? 'listed' : 'both') : said && 'said';
  const next = stateAfterRefutedDoubt(isFree ? { ...open, attempts: 0 } : open, mostTries, taken);
  const tried = `tried ${plural(attempt.number, 'time')}, and the site never made the job`;
  const last = open.reason === null ? '' : `. The last time: ${open.reason.message}`;
  const problems = said ?? [{ message: open.reason?.message ?? tried }];
  const whose = holder && `job ${holder.siteJobId} of posting ${holder.key} of feed ${holder.feed}`;
  await tx.query(
    `update change set state = case when $4 = 'target' then ${targetState('change')} else $4 end, since = now(),
       not_before = '-infinity', attempts = $5, ${ENDS_ATTEMPT}, list_checks = 0, found_job_id = null,
       doubted_since = case when $7 then least(doubted_since, attempt_started) end,
       reason = case when $4 <> 'target' then $6::jsonb when invalid then ${targetReason('change')} end
     where feed = $1 and key = $2 and attempt_token = $3`,
    // A person's decision does not depend on what the list shows.
    [
      feed,
      key,
      token,
      next.state,
      next.attempts,
      next.state === 'rejected'
        ? toJsonb(reasonOfTaken(attempt, problems, whose))
        : toJsonb({ kind: 'unknown', message: `${tried}${last}`, problems: [{ message: tried }] } satisfies Reason),
      mostTries !== Number.POSITIVE_INFINITY,
    ],
  );
  return true;
}

/** The job is not deleted before this transaction ends, so that what deletes it sends the create again. */
const isHolding = (tx: Queryable, { feed, key, siteJobId: id }: ReferenceHolder): Promise<boolean> =>
  returnsRow(
    tx,
    `select from mapping where feed = $1 and key = $2 and ${areOfOneJob('site_job_id', '$3::text')} for key share`,
    [feed, key, id],
  );

/**
 * No job that was known when the posting was put in doubt is its job, so no later search asks about one of them again: of more than are
 * named, the person has said so too.
 */
async function keepRefuted(tx: Queryable, { feed, key, token }: Doubt['attempt']): Promise<void> {
  await tx.query(
    `insert into refuted_job (site, site_job_id, feed, key, at)
     select distinct on (j.id) c.site, j.id, c.feed, c.key, c.attempt_started
     from change c cross join lateral (select c.found_job_id as id union all select ''
       union all select jsonb_array_elements_text(coalesce(c.reason->'candidates', '[]'))) j
     where c.feed = $1 and c.key = $2 and c.attempt_token = $3 and c.found_job_id is not null
     on conflict (feed, key, site, site_job_id) do update set at = greatest(refuted_job.at, excluded.at)`,
    [feed, key, token],
  );
}

/** The same for the jobs that the create of the posting may have made, as far as no posting owns them. */
export async function refuteShown(
  tx: Queryable,
  { feed, key, site }: Doubt['attempt'],
  shown: readonly SiteJobId[],
): Promise<void> {
  await tx.query(
    `insert into refuted_job (site, site_job_id, feed, key)
     select site, site_job_id, $2, $3 from site_reference where site = $1 and site_job_id = any($4::text[]) on conflict do nothing`,
    [site, feed, key, shown],
  );
}

// Creates for which the site seems to have a job already: ready → in_doubt, until a person decides, or other postings own all such jobs.

/** A create and the job that seems to be its own. */
export interface RecognisedCreate {
  readonly key: string;
  readonly id: string;
  /** `found_on_site`: it certainly is, as far as the list tells. */
  readonly kind: 'found_on_site' | 'resembles_on_site';
  /** What makes the match certain, or would do so. */
  readonly by: 'reference' | 'content';
  /** As `mappings adopt` shows it together with the reasons. */
  readonly score: number;
  readonly reasons: readonly string[];
  /** All jobs that may be its own, the best first. */
  readonly candidates: readonly string[];
  /** There are more. */
  readonly isCrowded: boolean;
}

/** Puts these creates in doubt: a person decides. @returns their keys. */
export async function putInDoubt(
  tx: Queryable,
  feed: FeedName,
  found: readonly RecognisedCreate[],
): Promise<ReadonlySet<string>> {
  if (found.length === 0) return new Set();
  const owners = await readMap<string, string>(
    tx,
    `select m.site_job_id, 'posting ' || m.key || ' of feed ' || m.feed from feed_state f join mapping m on m.site = f.site
     where f.feed = $1 and m.site_job_id = any($2::text[])`,
    [feed, found.map(({ id }) => id)],
  );
  return new Set(
    await readColumn<string>(
      tx,
      `update change c set state = 'in_doubt', since = now(), found_job_id = f.id, reason = f.reason,
       attempt_token = gen_random_uuid(), attempt_operation = 'create', attempt_started = clock_timestamp(),
       sent_fields = null, sent_record_hash = null, sent_content_hash = null, sent_revision = null, sent_pull = null
     from unnest($2::text[], $3::text[], $4::jsonb[]) f(key, id, reason)
     where c.feed = $1 and c.key = f.key and c.state = 'ready' and c.operation = 'create' returning c.key`,
      [
        feed,
        found.map(({ key }) => key),
        found.map(({ id }) => id),
        found.map((one) => reasonOf(one, owners.get(one.id))),
      ],
    ),
  );
}

/** @param owner the posting whose mapping has the job, which shows another reference: the posting may have had another key before */
function reasonOf(
  { id, kind, by, score, reasons, candidates, isCrowded }: RecognisedCreate,
  owner: string | undefined,
): string {
  const seems = kind === 'found_on_site' ? 'seems to be' : 'may be';
  const say = (why: string, whose = owner) => {
    const but =
      whose === undefined ? 'and no mapping owns it' : `although ${whose} has it, whose reference it does not show`;
    return `not sent: job ${id} on the site ${seems} the job of this posting${why}, ${but}; decide whether it is`;
  };
  const reason: Reason = {
    kind,
    message: say(` (${score.toFixed(2)}: ${reasons.join(', ')})`),
    // Entries are grouped by it.
    problems: [{ message: say('', owner && 'another posting') }],
    by,
    candidates,
    crowded: isCrowded,
  };
  return toJsonb(reason);
}

/** These found jobs are no longer certain for the creates that wait: another posting fits them as well. */
export async function unsettleFound(tx: Queryable, site: SiteName, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(
    `update change set reason = reason || jsonb_build_object('kind', 'resembles_on_site',
         'message', (reason->>'message') || '; another posting fits the job as well')
     where site = $1 and state = 'in_doubt' and found_job_id = any($2::text[]) and reason->>'kind' = 'found_on_site'`,
    [site, ids],
  );
}

/**
 * Creates that only resemble jobs which other postings own by now: in_doubt → the target state. They are compared again before they are sent.
 * @returns how many
 */
export async function releaseOwned(db: Database, site: SiteName): Promise<number> {
  const waiting = await db.query<{ feed: FeedName; id: number }>(
    `select c.feed, c.id from change c where ${ALL_OWNED}`,
    [site],
  );
  if (waiting.length === 0) return 0;
  return db.transaction(async (tx) => {
    await lockOutcomesShared(tx, [...new Set(waiting.map(({ feed }) => feed))].sort());
    return release(tx, `c.id = any($2::bigint[]) and ${ALL_OWNED}`, [site, waiting.map(({ id }) => id)]);
  });
}

/** The same for a feed of whose jobs, as a person says, the site has none. What shows a reference of a posting still waits. */
export async function releaseResembling(tx: Queryable, feed: FeedName): Promise<number> {
  await lockOutcomesShared(tx, [feed]);
  return release(tx, `c.feed = $1 and ${RESEMBLES}`, [feed]);
}

/** @param condition in SQL, of the changes `c` */
async function release(tx: Queryable, condition: string, parameters: readonly unknown[]): Promise<number> {
  const released = await tx.query(
    `update change c set state = ${targetState('c')}, since = now(), not_before = '-infinity', ${ENDS_ATTEMPT}, list_checks = 0, found_job_id = null,
       reason = case when c.invalid then ${targetReason('c')} end
     where ${condition} returning c.id`,
    [...parameters],
  );
  return released.length;
}

const RESEMBLES = `c.state = 'in_doubt' and c.found_job_id is not null and c.reason->>'kind' = 'resembles_on_site'
  and c.reason->>'by' = 'content'`;

const ALL_OWNED = `c.site = $1 and c.state = 'in_doubt' and c.found_job_id is not null and c.reason->>'by' = 'content'
  and c.reason->>'crowded' = 'false'
  and not exists (select from jsonb_array_elements_text(c.reason->'candidates') j(id)
    where not exists (select from mapping m where m.site = c.site and m.site_job_id = j.id))`;
