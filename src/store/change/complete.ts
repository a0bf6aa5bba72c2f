// Records accepted attempts: mapping and document become what was sent and what the site shows of it; the change is removed, or released
// if a newer version waits.
import { type EndedAttempt, nextOperation, stateAfterForeignJob } from '../../plan/after-attempt.ts';
import type { ShownForms } from '../../plan/compare-shown.ts';
import { whoseJob } from '../../plan/match/whose-job.ts';
import type { PostingRef } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { toJsonb } from '../postgres/copy-rows.ts';
import type { Queryable } from '../postgres/database.ts';
import type { OutcomeToCount } from '../pull/pull-history.ts';
import { unreadHashSql } from '../pull/record-hashes.ts';
import { noteSign } from '../site/ahead-signs.ts';
import {
  type AdoptedContent,
  type Attempt,
  type AttemptOutcome,
  attemptColumns,
  clearUncertain,
  forgetUncertainWrites,
  idOf,
  markUncertain,
  type Recorded,
  type Result,
} from './attempt.ts';
import { endOwnership, hasLostOwnership, lockOwner } from './candidate-owners.ts';
import { changeReason, doubtReason, ENDS_ATTEMPT, keepsAttempt, targetReason, targetState } from './life-cycle.ts';

/** Why a create was not recorded as the owner of its job. */
type Refusal = Exclude<Recorded, 'recorded' | 'superseded'>;

/** What the change of an open attempt asks for now; locked. */
export interface LockedChange extends EndedAttempt {
  readonly desired: 'present' | 'absent';
  /** When the attempt was committed. */
  readonly startedAt: Date;
}

const desiredBy = ({ token }: Attempt, open: ReadonlyMap<string, LockedChange>) =>
  (open.get(token) as LockedChange).desired;

/** The result of recording accepted attempts. */
export interface Accepted {
  /** Creates whose site job could not be recorded as theirs, by token. */
  readonly refused: ReadonlyMap<string, Refusal>;
  /** Tokens of updates whose job is another posting's by now. */
  readonly lost: ReadonlySet<string>;
  /** Outcomes to count for the current pulls. */
  readonly counts: readonly OutcomeToCount[];
}

/** Records accepted attempts. Independent statements are sent together and run in the order in which they are sent. */
export async function completeAccepted(
  tx: Queryable,
  outcomes: readonly AttemptOutcome[],
  open: ReadonlyMap<string, LockedChange>,
): Promise<Accepted> {
  if (outcomes.length === 0) return { refused: new Map(), lost: new Set(), counts: [] };
  const { conflicts, lost, disturbed } = await writeMappings(tx, outcomes, open);
  const refused = new Map<string, Refusal>();
  for (const created of conflicts) {
    const end = await resolveConflict(tx, created);
    if (end.kind === 'refused') refused.set(created.attempt.token, end.as);
    else if (end.disturbed) disturbed.add(created.attempt.token);
  }
  const done = outcomes
    .filter(({ attempt }) => !refused.has(attempt.token))
    .map((outcome) => (lost.has(outcome.attempt.token) ? withoutJob(outcome) : outcome));
  const uncertain = done.filter(
    ({ attempt, result }) => disturbed.has(attempt.token) || adoptedOf(result) !== undefined,
  );
  // Before the documents are replaced and the mappings removed.
  const [, , , , closed] = await Promise.all([
    keepFormerDocuments(tx, done),
    writeDocuments(tx, done),
    removeMappings(tx, done),
    disown(tx, done, open),
    closeChanges(tx, done, open, new Set(uncertain.map(({ attempt }) => attempt.token))),
  ]);
  for (const { attempt, result } of uncertain) await keepUncertain(tx, attempt, result);
  const counts = done.flatMap(({ attempt, result }): OutcomeToCount[] => {
    // A change that was replaced during the attempt counts once, when its newer version completes.
    const ended = closed.has(idOf(attempt));
    const counts = result.kind === 'created' || result.kind === 'updated' || result.kind === 'deleted';
    return ended && counts ? [{ feed: attempt.feed, outcome: result.kind }] : [];
  });
  return { refused, lost, counts };
}

/** The job of this update now belongs to another posting, so the update reached no job of its own posting. */
const withoutJob = (outcome: AttemptOutcome): AttemptOutcome => ({ ...outcome, result: { kind: 'vanished' } });

const adoptedOf = (result: Result): AdoptedContent | undefined =>
  result.kind === 'created' && result.adopted !== undefined && result.adopted.uncertain.length > 0
    ? result.adopted
    : undefined;

interface WrittenMappings {
  /** Creates whose site job already belongs to another posting; nothing was written for them. */
  readonly conflicts: readonly Created[];
  /** Tokens of updates whose posting no longer owns the job. */
  readonly lost: ReadonlySet<string>;
  /** Tokens of creates whose job a request for another posting may have changed or deleted, or may still do so. */
  readonly disturbed: Set<string>;
}

async function writeMappings(
  tx: Queryable,
  outcomes: readonly AttemptOutcome[],
  open: ReadonlyMap<string, LockedChange>,
): Promise<WrittenMappings> {
  const created = outcomes.flatMap(({ attempt, result }): Created[] =>
    result.kind === 'created' && attempt.accepted !== undefined ? [{ attempt, result, sent: attempt.accepted }] : [],
  );
  const updated = outcomes.filter(({ result }) => result.kind === 'updated');
  const [written, former, reached, , kept] = await Promise.all([
    insertMappings(tx, created),
    takeFromOrphans(tx, created),
    findReached(tx, created, open),
    clearUncertain(tx, updated),
    updateMappings(tx, updated),
  ]);
  const lost = updated.filter(({ attempt }) => attempt.accepted !== undefined && !kept.has(idOf(attempt)));
  return {
    conflicts: created.filter(({ attempt }) => !written.has(idOf(attempt))),
    lost: new Set(lost.map(({ attempt }) => attempt.token)),
    disturbed: new Set([...former, ...reached]),
  };
}

/** Stops created jobs from being deleted as orphans. Returns the tokens of creates whose job such a delete may still reach. */
async function takeFromOrphans(tx: Queryable, created: readonly Created[]): Promise<Set<string>> {
  if (created.length === 0) return new Set();
  const rows = await tx.query<{ token: string }>(
    `delete from orphan_site_job s using unnest($1::text[], $2::text[], $3::text[]) c(site, id, token)
     where s.site = c.site and s.site_job_id = c.id returning case when s.attempts > 0 then c.token end as token`,
    [
      created.map(({ attempt }) => attempt.site),
      created.map(({ result }) => result.siteJobId),
      created.map(({ attempt }) => attempt.token),
    ],
  );
  return new Set(rows.flatMap(({ token }) => token ?? []));
}

/**
 * Returns the tokens of creates whose job ID had a request for another posting since they began: the site may have made the job under the
 * ID of one that was gone, before that request arrived.
 */
async function findReached(
  tx: Queryable,
  created: readonly Created[],
  open: ReadonlyMap<string, LockedChange>,
): Promise<Set<string>> {
  const sent = created.flatMap(({ attempt, result }) => {
    const startedAt = open.get(attempt.token)?.startedAt;
    return result.adopted !== undefined || startedAt === undefined ? [] : [{ attempt, result, startedAt }];
  });
  if (sent.length === 0) return new Set();
  // The server takes planning this anew each time for cheaper than one plan for all parts of the table, which it is not.
  const [, rows] = await Promise.all([
    tx.query('set local plan_cache_mode = force_generic_plan'),
    tx.query<{ token: string }>(
      // Every plan must read the index of times, also one that was made while the table was small: hence the upper bound, and no join here.
      `with recent as materialized (select feed, site_job_id, at from request
         where at between $5 and 'infinity' and operation <> 'create')
     select c.token from recent q join feed_state f on f.feed = q.feed
       join unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) c(site, id, token, started)
         on c.id = q.site_job_id and c.site = f.site and c.started <= q.at`,
      [
        sent.map(({ attempt }) => attempt.site),
        sent.map(({ result }) => result.siteJobId),
        sent.map(({ attempt }) => attempt.token),
        sent.map(({ startedAt }) => startedAt),
        new Date(Math.min(...sent.map(({ startedAt }) => startedAt.getTime()))),
      ],
    ),
    tx.query('set local plan_cache_mode to default'),
  ]);
  return new Set(rows.map(({ token }) => token));
}

interface Created {
  readonly attempt: Attempt;
  readonly result: Extract<Result, { kind: 'created' }>;
  readonly sent: NonNullable<Attempt['accepted']>;
}

/** Returns the postings whose mapping was written. One that went missing during its create keeps its missing-pull count. */
async function insertMappings(tx: Queryable, created: readonly Created[]): Promise<ReadonlySet<string>> {
  if (created.length === 0) return new Set();
  const rows = await tx.query<PostingRef>(
    `insert into mapping as m (feed, key, site, site_job_id, site_job_url, record_hash, content_hash, created_by, never_shown, missing_pulls)
     select distinct on (site, id) feed, key, site, id, url, record_hash, content_hash, pull, never_shown,
       coalesce((select g.missing_pulls from change g where g.feed = c.feed and g.key = c.key and g.gone), 0)
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::bytea[],
       $8::bigint[], $9::bool[]) c(feed, key, site, id, url, record_hash, content_hash, pull, never_shown)
     where not exists (select from mapping o where o.site = c.site and o.site_job_id = c.id
                       and (o.feed, o.key) <> (c.feed, c.key))
     on conflict (feed, key) do update set site = excluded.site, site_job_id = excluded.site_job_id,
       site_job_url = excluded.site_job_url, record_hash = excluded.record_hash, content_hash = excluded.content_hash,
       created_by = excluded.created_by, never_shown = excluded.never_shown, adopted = false, missing_pulls = excluded.missing_pulls, mapped_at = now()
     returning m.feed, m.key`,
    [
      ...attemptColumns(created, 'feed', 'key', 'site'),
      created.map(({ result }) => result.siteJobId),
      created.map(({ result }) => result.url ?? null),
      created.map(({ sent }) => sent.recordHash),
      created.map(({ sent }) => sent.contentHash),
      created.map(({ attempt }) => attempt.pull ?? null),
      created.map(({ result }) => result.adopted === undefined),
    ],
  );
  return new Set(rows.map(idOf));
}

/** Returns the postings that still own the job. */
async function updateMappings(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<ReadonlySet<string>> {
  const updated = outcomes.flatMap(({ attempt }) =>
    attempt.accepted === undefined ? [] : [{ attempt, sent: attempt.accepted }],
  );
  if (updated.length === 0) return new Set();
  const rows = await tx.query<PostingRef>(
    `update mapping m set record_hash = u.record_hash, content_hash = u.content_hash, missing_pulls = 0, never_shown = false
     from unnest($1::text[], $2::text[], $3::bytea[], $4::bytea[], $5::text[]) u(feed, key, record_hash, content_hash, id)
     where m.feed = u.feed and m.key = u.key and m.site_job_id = u.id returning m.feed, m.key`,
    [
      ...attemptColumns(updated, 'feed', 'key'),
      updated.map(({ sent }) => sent.recordHash),
      updated.map(({ sent }) => sent.contentHash),
      updated.map(({ attempt }) => ('siteJobId' in attempt.request ? attempt.request.siteJobId : null)),
    ],
  );
  return new Set(rows.map(idOf));
}

/**
 * Copies the sent fields from the change to the document inside the database, without loading them here. An update that leaves
 * fields to the site did not send all of them.
 */
async function writeDocuments(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  const sent = outcomes.filter(({ result }) => result.kind === 'created' || result.kind === 'updated');
  if (sent.length === 0) return;
  await tx.query(
    `insert into document (feed, key, fields, shown)
     select c.feed, c.key, coalesce(a.fields, c.sent_fields, c.fields), a.shown
     from unnest($1::text[], $2::text[], $3::uuid[], $4::json[], $5::bytea[]) a(feed, key, token, fields, shown)
     join change c on c.feed = a.feed and c.key = a.key and c.attempt_token = a.token
     on conflict (feed, key) do update set fields = excluded.fields, shown = excluded.shown`,
    [
      ...attemptColumns(sent, 'feed', 'key', 'token'),
      sent.map(({ attempt: { accepted, createOnly }, result }) =>
        result.kind === 'updated' && createOnly !== undefined && accepted !== undefined
          ? toJsonb(accepted.fields)
          : null,
      ),
      sent.map(
        ({ result, forms }) =>
          (result.kind === 'created' && result.adopted !== undefined ? result.adopted.forms : forms) ?? null,
      ),
    ],
  );
}

/** Whether the site has a job of another posting under the ID. */
const isOthers = (result: Result): boolean =>
  result.kind === 'disowned' || (result.kind === 'deleted' && result.isOthers === true);

const ENDS_MAPPING: ReadonlySet<Result['kind']> = new Set(['deleted', 'vanished', 'disowned']);

async function removeMappings(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  const removed = outcomes.filter(({ result }) => ENDS_MAPPING.has(result.kind));
  if (removed.length === 0) return;
  const removal = () =>
    tx.query(
      `with r as (select * from unnest($1::text[], $2::text[], $3::bool[], $4::bool[]) r(feed, key, counts, gone)),
       f as (delete from site_reference f using r, mapping m
         where r.gone and m.feed = r.feed and m.key = r.key and f.site = m.site and f.site_job_id = m.site_job_id),
       m as (delete from mapping m using r where m.feed = r.feed and m.key = r.key),
       d as (delete from document d using r where d.feed = r.feed and d.key = r.key)
     insert into deletion (feed, key) select feed, key from r where counts`,
      [
        ...attemptColumns(removed, 'feed', 'key'),
        removed.map(({ attempt, result }) => result.kind === 'deleted' && !attempt.approved),
        removed.map(({ result }) => !isOthers(result)),
      ],
    );
  await Promise.all([forgetUncertainWrites(tx, removed), removal()]);
}

const CLOSES: ReadonlySet<Result['kind']> = new Set(['created', 'updated', 'deleted']);

/**
 * Removes the changes whose current version was sent; a newer version stays and is released. Returns the removed changes that
 * count as completed, as `feed key`. A posting that went missing meanwhile counts as missing; one that the current pull did
 * not see does not count.
 */
async function closeChanges(
  tx: Queryable,
  outcomes: readonly AttemptOutcome[],
  changes: ReadonlyMap<string, LockedChange>,
  uncertain: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const open = outcomes.filter(({ attempt, result }) => CLOSES.has(result.kind) && !uncertain.has(attempt.token));
  const rows = await tx.query<PostingRef & { readonly counts: boolean }>(
    `delete from change c using unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[]) a(feed, key, token, revision)
     where c.feed = a.feed and c.key = a.key and c.attempt_token = a.token and c.revision = a.revision
     returning c.feed, c.key, not c.gone and not c.unseen as counts`,
    attemptColumns(open, 'feed', 'key', 'token', 'revision'),
  );
  const replaced = outcomes.filter(({ result }) => result.kind !== 'disowned');
  if (rows.length < replaced.length) await releaseNewerVersions(tx, replaced, changes);
  return new Set(rows.filter((row) => row.counts).map(idOf));
}

/** Makes a change ready again if it is newer than what was sent, or if its job vanished. */
async function releaseNewerVersions(
  tx: Queryable,
  outcomes: readonly AttemptOutcome[],
  open: ReadonlyMap<string, LockedChange>,
): Promise<void> {
  const operationOf = ({ attempt, result }: AttemptOutcome) =>
    nextOperation(desiredBy(attempt, open), attempt.request.kind, result.kind === 'vanished');
  await tx.query(
    `update change c set state = ${targetState('c')}, since = now(), reason = (${targetReason('c')}) - 'denied', attempts = 0, not_before = '-infinity',
       operation = a.operation, ${ENDS_ATTEMPT}
     from unnest($1::text[], $2::text[], $3::uuid[], $4::text[]) a(feed, key, token, operation)
     where c.feed = a.feed and c.key = a.key and c.attempt_token = a.token`,
    [...attemptColumns(outcomes, 'feed', 'key', 'token'), outcomes.map(operationOf)],
  );
}

/**
 * The job belongs to another posting, so this posting's own job is unknown. Like a create in doubt, the change waits for a
 * person, and nothing is sent or listed for it. If the posting is to be absent, there is nothing left to delete.
 */
async function disown(
  tx: Queryable,
  outcomes: readonly AttemptOutcome[],
  open: ReadonlyMap<string, LockedChange>,
): Promise<void> {
  for (const { attempt, result } of outcomes) {
    if (result.kind !== 'disowned') continue;
    if ('siteJobId' in attempt.request) await noteSign(tx, attempt.site, attempt.request.siteJobId);
    const state = stateAfterForeignJob(desiredBy(attempt, open));
    await tx.query(
      `update change set state = $5, since = now(), list_checks = 0,
         reason = case when $5 = 'in_doubt' then ${doubtReason('change', '$4::jsonb')} else $4 end,
         not_before = case when $5 = 'ready' then '-infinity' else 'infinity' end::timestamptz,
         operation = case when $5 = 'ready' then 'delete' else 'create' end,
         attempt_operation = case when $5 = 'in_doubt' then 'create' end,
         attempt_token = case when $5 = 'in_doubt' then attempt_token end,
         attempt_started = case when $5 = 'in_doubt' then attempt_started end
       where feed = $1 and key = $2 and attempt_token = $3`,
      [attempt.feed, attempt.key, attempt.token, toJsonb(result.reason), state],
    );
  }
}

/** An update will set the uncertain fields. Until the site accepts it, neither hash matches what the site has. */
async function keepUncertain(tx: Queryable, attempt: Attempt, result: Result): Promise<void> {
  const adopted = adoptedOf(result);
  const evidence = result.kind === 'created' ? result.evidence : undefined;
  const names = adopted?.uncertain ?? Object.keys(attempt.accepted?.fields ?? {});
  await markUncertain(tx, attempt, names, adopted === undefined ? (evidence?.mayLandMs ?? 0) : 0);
  await tx.query(
    `update mapping set content_hash = decode(repeat('00', 16), 'hex'),
       record_hash = ${unreadHashSql('adopted')} where feed = $1 and key = $2`,
    [attempt.feed, attempt.key],
  );
  if (adopted === undefined) return;
  await tx.query('update document set fields = $3 where feed = $1 and key = $2', [
    attempt.feed,
    attempt.key,
    JSON.stringify(adopted.fields),
  ]);
}

/** The result of a create whose site job already belongs to another posting. */
type Resolution =
  | { readonly kind: 'refused'; readonly as: Refusal }
  /** The create owns the job. `disturbed`: a request for the older posting may still reach the job. */
  | { readonly kind: 'taken'; readonly disturbed: boolean };

/**
 * | the site shows                             | the create          | the older posting         |
 * | ------------------------------------------ | ------------------- | ------------------------- |
 * | what was sent                              | owns the job        | loses the job             |
 * | the older posting's content                | in doubt            | keeps the job             |
 * | neither, before the job was requested      | disputed            | keeps the job for now     |
 * | neither                                    | in doubt            | loses the job             |
 * | anything, and the job changed hands before | failed              | keeps the job             |
 */
async function resolveConflict(tx: Queryable, { attempt, result, sent }: Created): Promise<Resolution> {
  const { site } = attempt;
  const older = await lockOwner(tx, [site], result.siteJobId);
  if (result.adopted !== undefined) return { kind: 'refused', as: 'owned_elsewhere' };
  // The older mapping is gone by now, or another create in this batch was answered with the same ID.
  if (older === undefined) return { kind: 'refused', as: 'disputed' };
  const { evidence } = result;
  const verdict = whoseJob(evidence?.shown, sent.fields, older.fields, evidence?.referenceField, evidence?.types);
  // Sites also redirect to a job that exists: it stays with its posting unless it shows only what was sent.
  const owner = verdict.kind === 'sure' ? verdict.best : result.isRead === true ? 'older' : undefined;
  if (owner === undefined && evidence?.asked !== true) return { kind: 'refused', as: 'disputed' };
  const conflict = `the site answered the create with job ${result.siteJobId}, which belongs to posting ${older.key} of feed ${older.feed}`;
  if (await hasLostOwnership(tx, attempt, site, result.siteJobId)) {
    const now =
      owner === 'new' ? `, which has the content of posting ${attempt.key} now: leave one of them out of its feed` : '';
    const why = `and the job has passed between the two before: the site seems to treat both postings as one job${now}`;
    return refuse(tx, attempt, 'failed', `${conflict} ${why}`);
  }
  if (owner === 'older') {
    const why = "and shows that posting's content: the site seems to treat both postings as one job";
    return refuse(tx, attempt, 'in_doubt', `${conflict} ${why}`);
  }
  const disturbed = await endOwnership(tx, older, attempt);
  if (owner === 'new') {
    await insertMappings(tx, [{ attempt, result, sent }]);
    return { kind: 'taken', disturbed };
  }
  const why = 'and it is unclear whose job it is: neither posting has it until a person decides';
  return refuse(tx, attempt, 'in_doubt', `${conflict}, ${why}`);
}

/** Refuses a create. One in doubt keeps its attempt, which is needed to resolve it. */
async function refuse(
  tx: Queryable,
  attempt: Attempt,
  state: 'failed' | 'in_doubt',
  message: string,
): Promise<Resolution> {
  await tx.query(
    `update change set state = $4, since = now(),
       reason = case when $4 = 'in_doubt' then ${doubtReason('change', '$5::jsonb')} else $5 end, ${keepsAttempt('change', `$4 = 'in_doubt'`)}
     where feed = $1 and key = $2 and attempt_token = $3`,
    [attempt.feed, attempt.key, attempt.token, state, changeReason('owned_elsewhere', message)],
  );
  return { kind: 'refused', as: state === 'failed' ? 'owned_elsewhere' : state };
}

/** Writes nothing if another version of the posting was sent since, or is being sent. */
export async function noteForms(db: Queryable, attempt: Attempt, forms: ShownForms): Promise<void> {
  const { feed, key, request, accepted } = attempt;
  await db.query(
    `update document d set shown = $3 from mapping m
     where d.feed = $1 and d.key = $2 and m.feed = d.feed and m.key = d.key and m.site_job_id = $4 and m.content_hash = $5
       and not exists (select from change c where c.feed = d.feed and c.key = d.key and c.attempt_token is not null)`,
    [feed, key, forms ?? null, 'siteJobId' in request ? request.siteJobId : null, accepted?.contentHash ?? null],
  );
}

/** Only a request that ended the job: an ID that turned out to be another posting's never had this posting's content. */
const ENDS_JOB = new Set<AttemptOutcome['result']['kind']>(['deleted', 'vanished']);

/**
 * Keeps what the site had before accepted updates and deletes, so that their pull can be undone. Call it before documents and mappings are changed. Keeps nothing
 * for a job that the same pull has certainly created: undoing the pull deletes it.
 */
async function keepFormerDocuments(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  await Promise.all([keepChangedFields(tx, outcomes), keepEndedDocuments(tx, outcomes)]);
}

/** The fields that an update has set: mostly a few, so that a million updates take little space. */
async function keepChangedFields(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  const updated = outcomes.filter(({ attempt, result }) => result.kind === 'updated' && attempt.pull !== undefined);
  if (updated.length === 0) return;
  await tx.query(
    `insert into former_document (feed, key, pull, fields, whole)
     select a.feed, a.key, a.pull, a.fields, false
     from unnest($1::text[], $2::text[], $3::bigint[], $4::json[]) a(feed, key, pull, fields)
     join mapping m on m.feed = a.feed and m.key = a.key and (m.adopted or m.created_by is distinct from a.pull)`,
    [
      ...attemptColumns(updated, 'feed', 'key', 'pull'),
      updated.map(({ attempt: { request, before } }) =>
        before === undefined || !('fields' in request) ? null : toJsonb(formerValues(request.fields, before)),
      ),
    ],
  );
}

/** The former value of each field that is sent; null for one that the job did not have. */
const formerValues = (sent: Fields, before: Fields): Readonly<Record<string, string | null>> =>
  Object.fromEntries(Object.keys(sent).map((name) => [name, before[name] ?? null]));

/** Copies the documents inside the database, without loading them here. */
async function keepEndedDocuments(tx: Queryable, outcomes: readonly AttemptOutcome[]): Promise<void> {
  const ended = outcomes.filter(({ attempt, result }) => ENDS_JOB.has(result.kind) && attempt.pull !== undefined);
  if (ended.length === 0) return;
  await tx.query(
    `insert into former_document (feed, key, pull, fields, whole)
     select a.feed, a.key, a.pull, d.fields, true
     from unnest($1::text[], $2::text[], $3::bigint[]) a(feed, key, pull)
     join mapping m on m.feed = a.feed and m.key = a.key and (m.adopted or m.created_by is distinct from a.pull)
     left join document d on d.feed = a.feed and d.key = a.key`,
    attemptColumns(ended, 'feed', 'key', 'pull'),
  );
}
