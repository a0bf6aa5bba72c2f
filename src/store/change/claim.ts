// Claims a change: compares desired and actual state and commits the intent before anything is sent. What needs no request is completed.
import { randomUUID } from 'node:crypto';
import { type RetryPolicy, retry } from '../../flow/retry.ts';
import { acceptedByUpdate, type CreateOnlyFields, createOnlyOf, updatableFields } from '../../plan/desired-change.ts';
import { UNKNOWN_PLACES } from '../../plan/match/likeness.ts';
import { SHARED_JOB_WINDOW_HOURS } from '../../plan/match/whose-job.ts';
import { isSendable, type NextRequest, nextRequest, type SendCircumstances } from '../../plan/next-request.ts';
import { contentHash } from '../../posting/hash.ts';
import type { FeedName, PostingRef, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { askedCreates, isAsked } from '../backlog/open-counts.ts';
import { type LastAcceptedRow, lastAcceptedOf } from '../backlog/planned-changes.ts';
import { lockOutcomesShared } from '../locks/advisory-locks.ts';
import { isPaused, mayBeSent } from '../locks/pauses.ts';
import { columnsOf, type Queryable, returnsRow, type Statements } from '../postgres/database.ts';
import { microBatch } from '../postgres/micro-batch.ts';
import { isPassing } from '../postgres/transient-error.ts';
import { addOutcomeCount } from '../pull/pull-history.ts';
import { unreadHashSql } from '../pull/record-hashes.ts';
import { noSearchIsDue } from '../site/ahead-signs.ts';
import { sharesNumber } from '../site/kept-values.ts';
import { type Attempt, clearUncertain, delayUntilSettled, idOf } from './attempt.ts';
import { ENDS_ATTEMPT, operationWithoutJob, targetState } from './life-cycle.ts';
import { doubtAmong, type SiteRules } from './recognise-jobs.ts';

/** How long jobs are shown before they are changed or deleted if their mappings are from a backup: their IDs may be others' by now. */
const RESTORED_DAYS = 30;

export type Claim =
  /** Send this request. */
  | { readonly kind: 'attempt'; readonly attempt: Attempt }
  /** Desired and actual state are equal; the change is done. */
  | { readonly kind: 'nothing' }
  /** Not now: another worker has it, it has to wait, or the change no longer exists. */
  | { readonly kind: 'not_due' };

/** Address of each site, as this process is configured. */
export type Addresses = ReadonlyMap<SiteName, string>;

/** How changes are sent, as this process is configured. */
export interface SendSettings {
  /** Fields that are set only on create, of the feeds that the process is configured with; of others as of their last pull. */
  readonly createOnly: ReadonlyMap<FeedName, CreateOnlyFields>;
  /** Sites that clear fields which an update omits. */
  readonly clearing: ReadonlySet<SiteName>;
  /** How the jobs of each site are compared with creates. */
  readonly rules: ReadonlyMap<SiteName, SiteRules>;
}

const ALL_FIELDS: SendSettings = { createOnly: new Map(), clearing: new Set(), rules: new Map() };
const NO_RULES: SiteRules = { referenceField: undefined, ...UNKNOWN_PLACES };

/**
 * Returns the function that claims postings for one worker; concurrent calls share statements and commits. Claims nothing
 * for a site whose jobs were created at another address, or that refuses this process's token, and nothing of what a person has paused
 * or of a retired feed, which the queue may still have.
 * @param tokenDigests digest of each site's token: see `tokenDigest`.
 */
export function createClaimer(
  db: Statements,
  worker: number,
  addresses: Addresses,
  tokenDigests: ReadonlyMap<SiteName, string> = new Map(),
  settings: SendSettings = ALL_FIELDS,
): (posting: PostingRef) => Promise<Claim> {
  return microBatch((postings: readonly PostingRef[]) =>
    claimAll(db, worker, { addresses, tokenDigests, settings }, postings),
  );
}

async function claimAll(db: Statements, worker: number, here: Here, postings: readonly PostingRef[]): Promise<Claim[]> {
  const found = await readDue(db, here, postings);
  await delayUntilSettled(
    db,
    found.filter((change) => change.tooEarly),
  );
  const due = await withoutFound(
    db,
    here.settings.rules,
    found.filter((change) => !change.tooEarly),
  );
  const idle = due.filter((change) => change.request.kind === 'none');
  const recorded = await completeWithoutRequest(db, idle);
  const granted = await grant(
    db,
    worker,
    due.filter((change) => change.request.kind !== 'none'),
  );
  return postings.map((posting): Claim => {
    const id = idOf(posting);
    const attempt = granted.get(id);
    if (attempt !== undefined) {
      granted.delete(id);
      return { kind: 'attempt', attempt };
    }
    return recorded.has(id) ? { kind: 'nothing' } : { kind: 'not_due' };
  });
}

/** Removes the creates for which a site search found a job: they wait for a person, however they became ready. */
async function withoutFound(
  db: Statements,
  rules: SendSettings['rules'],
  due: readonly DueChange[],
): Promise<DueChange[]> {
  const asked = new Map<string, DueChange[]>();
  for (const change of due) {
    if (change.request.kind !== 'create' || !change.mayBeFound) continue;
    const sameFeed = asked.get(change.feed);
    if (sameFeed === undefined) asked.set(change.feed, [change]);
    else sameFeed.push(change);
  }
  const doubted = new Set<DueChange>();
  for (const creates of asked.values()) {
    const { feed, site } = creates[0] as DueChange;
    const searched = creates.map(({ key, request }) => ({ key, fields: 'fields' in request ? request.fields : {} }));
    const keys = await doubtAmong(db, feed, site, rules.get(site) ?? NO_RULES, searched);
    for (const change of creates) if (keys.has(change.key)) doubted.add(change);
  }
  return due.filter((change) => !doubted.has(change));
}

/** Address and token digest of each site and how changes are sent, as this process is configured. */
interface Here {
  readonly addresses: Addresses;
  readonly tokenDigests: ReadonlyMap<SiteName, string>;
  readonly settings: SendSettings;
}

/** A change that is due, with the request that closes its gap. */
interface DueChange extends Omit<Attempt, 'token' | 'number' | 'request'> {
  readonly request: NextRequest;
  /** An earlier request for another version may still arrive and would undo this one. */
  readonly tooEarly: boolean;
  /** The site has jobs that nobody owns. */
  readonly mayBeFound: boolean;
}

interface DueRow extends PostingRef, SendCircumstances, LastAcceptedRow {
  readonly site: SiteName;
  /** Null if it is to be deleted, as the two hashes. */
  readonly fields: Fields | null;
  readonly record_hash: Buffer | null;
  readonly content_hash: Buffer | null;
  readonly revision: number;
  readonly pull: number | null;
  readonly approved: boolean;
  readonly was_doubted: boolean;
  readonly denied: string | null;
  /** Null without a job. */
  readonly shown: Buffer | null;
  readonly is_repair: boolean;
  readonly too_early: boolean;
  readonly may_be_found: boolean;
  readonly create_only_fields: readonly string[] | null;
  readonly id_may_be_reused: boolean;
  readonly lost_job_id: SiteJobId | null;
}

/** The changes that are ready and may be sent. */
async function readDue(
  db: Statements,
  { addresses, tokenDigests, settings }: Here,
  postings: readonly PostingRef[],
): Promise<DueChange[]> {
  const rows = await db.query<DueRow>(
    `select c.feed, c.key, c.site, c.desired, c.fields, c.record_hash, c.content_hash, c.revision, c.pull, c.approved, c.doubted_since is not null as was_doubted,
       c.reason->>'denied' as denied,
       m.site_job_id, m.content_hash as actual_hash, d.fields as actual_fields, d.shown, u.fields as uncertain,
       coalesce(u.fields is not null and m.record_hash = ${unreadHashSql('verified', 'm.key')}, false) as is_repair,
       coalesce(c.desired = 'present' and u.revision <> c.revision and u.until > now(), false) as too_early,
       exists (select from site_reference r where r.site = c.site) as may_be_found, f.create_only_fields,
       m.feed is not null as "hasJob", f.retired_at is not null as "isRetired", ${isAsked('c', 'f')} as "isAsked", ${askedCreates('f')} as asked,
       f.feed is null or f.site_checked_at is not null as "isSearched", not (${noSearchIsDue('c.site')}) as "searchIsDue",
       ${isPaused('c.feed', 'c.site')} as "isPaused",
       t.site is not null or s.paused_since is not null or coalesce(s.not_before > now(), false)
         or coalesce(s.address <> here.address, false) as "siteIsClosed",
       m.feed is not null and (exists (select from ended_claim e
           where e.site = c.site and e.ended_at > now() - make_interval(hours => ${SHARED_JOB_WINDOW_HOURS}))
         or exists (select from change o where o.site = c.site and o.state = 'in_doubt')
         or ${sharesNumber('m')}
         or coalesce(m.mapped_at <= f.restored_at and f.restored_at > now() - interval '${RESTORED_DAYS} days', false)) as id_may_be_reused,
       case when m.feed is null then (select e.site_job_id from ended_claim e
         where e.site = c.site and e.feed = c.feed and e.key = c.key order by e.ended_at desc limit 1) end as lost_job_id
     from (select distinct feed, key from unnest($1::text[], $2::text[]) p(feed, key)) p
     join change c on c.feed = p.feed and c.key = p.key
     left join mapping m on m.feed = c.feed and m.key = c.key
     left join document d on d.feed = m.feed and d.key = m.key
     left join uncertain_write u on u.feed = m.feed and u.key = m.key
     left join site_state s on s.site = c.site
     left join feed_state f on f.feed = c.feed
     left join unnest($3::text[], $4::text[], $5::text[]) here(site, address, token) on here.site = c.site
     left join refused_token t on t.site = c.site and t.digest = here.token and t.refused_since is not null
     where c.state = 'ready' and not c.gone and c.not_before <= now()`,
    [
      ...columnsOf(postings, 'feed', 'key'),
      [...addresses.keys()],
      [...addresses.values()],
      [...addresses.keys()].map((site) => tokenDigests.get(site) ?? null),
    ],
  );
  return rows.filter(isSendable).map((row) => {
    const present = row.desired === 'present';
    const actual = lastAcceptedOf(row);
    const createOnly = createOnlyFor(row.feed, row.create_only_fields ?? undefined, settings);
    const desired = present
      ? ({ kind: 'present', ...desiredOf(row.fields as Fields, row.content_hash as Buffer, createOnly) } as const)
      : ({ kind: 'absent' } as const);
    const request = nextRequest(desired, actual, { createOnly, whole: settings.clearing.has(row.site) });
    return {
      feed: row.feed,
      key: row.key,
      site: row.site,
      revision: row.revision,
      pull: row.pull ?? undefined,
      approved: row.approved,
      request,
      accepted:
        desired.kind === 'present'
          ? {
              fields:
                actual === undefined ? desired.fields : acceptedByUpdate(desired.fields, actual.fields, createOnly),
              recordHash: row.record_hash as Buffer,
              contentHash: desired.contentHash,
            }
          : undefined,
      createOnly,
      before: actual?.fields,
      uncertain: actual?.uncertain,
      forms: row.shown ?? undefined,
      isRepair: row.is_repair,
      idMayBeReused: row.id_may_be_reused,
      lostJobId: row.lost_job_id ?? undefined,
      wasDoubted: request.kind === 'create' && row.was_doubted,
      denied: row.denied ?? undefined,
      tooEarly: row.too_early,
      mayBeFound: row.may_be_found,
    };
  });
}

/** @param pulled the fields as of the last pull */
function createOnlyFor(
  feed: FeedName,
  pulled: readonly string[] | undefined,
  { createOnly }: SendSettings,
): CreateOnlyFields {
  return createOnly.has(feed) ? createOnly.get(feed) : createOnlyOf({ createOnly: pulled });
}

/** The hash that a mapping keeps does not change with fields that are set only on create: they make no update. */
const desiredOf = (fields: Fields, whole: Buffer, createOnly: CreateOnlyFields) => ({
  fields,
  contentHash: createOnly === undefined ? whole : contentHash(updatableFields(fields, createOnly)),
});

/** Commits the intents. A change that another worker took, or that got a newer version, is not granted. */
async function grant(db: Statements, worker: number, due: readonly DueChange[]): Promise<Map<string, Attempt>> {
  if (due.length === 0) return new Map();
  const tokens = due.map(() => randomUUID());
  const granting = db.query<{ token: string; attempts: number }>(
    `update change c set state = 'sending', since = now(), attempts = c.attempts + 1, attempt_token = a.token,
       attempt_operation = a.operation, attempt_started = clock_timestamp(), attempt_worker = $6, list_checks = 0,
       found_job_id = null, sent_fields = null, sent_record_hash = null, sent_content_hash = null, sent_revision = null,
       sent_pull = null, doubted_since = case when a.operation = 'create' then c.doubted_since end
     from (select * from unnest($1::text[], $2::text[], $3::bigint[], $4::uuid[], $5::text[])
             a(feed, key, revision, token, operation) order by feed, key) a
     where c.feed = a.feed and c.key = a.key and c.revision = a.revision and c.state = 'ready' and not c.gone
       and ${mayBeSent('c.feed', 'c.site')}
     returning c.attempt_token as token, c.attempts`,
    [...columnsOf(due, 'feed', 'key', 'revision'), tokens, due.map((change) => change.request.kind), worker],
  );
  const rows = await granting.catch((error: unknown) => {
    // The commit may have succeeded and only its response been lost.
    const lost = due.map(({ feed, key, revision }, at) => ({ feed, key, revision, token: tokens[at] as string }));
    void giveBackClaims(db, lost);
    throw error;
  });
  const numbers = new Map(rows.map((row) => [row.token, row.attempts]));
  const granted = new Map<string, Attempt>();
  for (const [at, change] of due.entries()) {
    const token = tokens[at] as string;
    const number = numbers.get(token);
    const { request } = change;
    if (number === undefined || request.kind === 'none') continue;
    const { tooEarly: _, mayBeFound: __, ...rest } = change;
    granted.set(idOf(change), { ...rest, request, token, number });
  }
  return granted;
}

interface IdleChange extends PostingRef {
  readonly revision: number;
  readonly accepted: Attempt['accepted'];
}

/** Removes the changes whose revision is unchanged and records their newest hashes. Returns the `feed key` of each. */
async function completeWithoutRequest(db: Statements, idle: readonly IdleChange[]): Promise<ReadonlySet<string>> {
  if (idle.length === 0) return new Set();
  return db.transaction(async (tx) => {
    await lockOutcomesShared(
      tx,
      idle.map((change) => change.feed),
    );
    const rows = await tx.query<PostingRef & { readonly desired: string; readonly unseen: boolean }>(
      `with gone as (
         delete from change c using unnest($1::text[], $2::text[], $3::bigint[], $4::bytea[]) i(feed, key, revision, hash)
         where c.feed = i.feed and c.key = i.key and c.revision = i.revision and c.state = 'ready' and not c.gone
         returning c.feed, c.key, c.desired, c.record_hash, i.hash, c.unseen),
       noted as (
         update mapping m set record_hash = g.record_hash, content_hash = coalesce(g.hash, m.content_hash), missing_pulls = 0
         from gone g where m.feed = g.feed and m.key = g.key and g.desired = 'present')
       select feed, key, desired, unseen from gone`,
      [...columnsOf(idle, 'feed', 'key', 'revision'), idle.map((change) => change.accepted?.contentHash ?? null)],
    );
    await clearUncertain(
      tx,
      rows.flatMap((attempt) => (attempt.desired === 'present' ? [{ attempt }] : [])),
    );
    // Postings that the current pull did not see do not count towards it.
    const counted = rows.filter((row) => !row.unseen);
    await addOutcomeCount(
      tx,
      counted.map((row) => ({ feed: row.feed, outcome: row.desired === 'present' ? 'nothing' : 'dropped' })),
    );
    return new Set(rows.map(idOf));
  });
}

/** A claim whose statement got no response, so it may or may not be committed. */
export interface LostClaim extends PostingRef {
  readonly token: string;
  readonly revision: number;
}

/** As long as the process lives; waiting does not keep it alive. */
const EVERY_HALF_SECOND: RetryPolicy = { firstDelayMs: 500, maxDelayMs: 500 };

/**
 * Undoes these claims as soon as the database responds again. If the process ends first, they count as those of a dead
 * worker, and a create becomes a doubt.
 */
async function giveBackClaims(db: Queryable, lost: readonly LostClaim[]): Promise<void> {
  const giveBack = () =>
    db.query(
      // Another process may already have recovered them as those of a dead worker.
      `update change c set state = case when c.revision = a.revision then 'ready' else ${targetState('c')} end, since = now(),
         operation = ${operationWithoutJob('c')},
         attempts = greatest(0, c.attempts - 1), not_before = '-infinity',
         reason = case when c.target_state in ('held', 'rejected') then c.reason end, ${ENDS_ATTEMPT}
       from unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[]) a(feed, key, token, revision)
       where c.feed = a.feed and c.key = a.key and c.attempt_token = a.token`,
      columnsOf(lost, 'feed', 'key', 'token', 'revision'),
    );
  await retry(giveBack, EVERY_HALF_SECOND, { worthAgain: isPassing, keepsAlive: false }).catch(() => undefined);
}

/** Returns whether the attempt is still open, and nobody has paused it meanwhile. */
export const renewAttempt = (db: Queryable, { feed, key, token }: Attempt): Promise<boolean> =>
  returnsRow(
    db,
    `update change c set attempt_started = clock_timestamp()
     where c.feed = $1 and c.key = $2 and c.attempt_token = $3 and c.state = 'sending' and ${mayBeSent('c.feed', 'c.site')}
     returning 1`,
    [feed, key, token],
  );
