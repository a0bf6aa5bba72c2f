// Plans a group of postings: counts each, compares it with what is known of its key, and writes what follows.

import type { DesiredChange, Mapping, OpenChange } from '../plan/desired-change.ts';
import { type CreateOnlyFields, problemsOfUpdate, updatableFields } from '../plan/desired-change.ts';
import { type Planned, planPosting } from '../plan/plan-posting.ts';
import { contentHash, keyHash } from '../posting/hash.ts';
import type { PostingKey } from '../posting/identifiers.ts';
import type { Fields, ReadPosting } from '../posting/posting.ts';
import { withdrawUpdates } from '../store/change/merge/mark-missing.ts';
import type { KeptRecord } from '../store/pull/posting-notes.ts';
import type { FieldsToStore, PullTransaction, Refresh } from '../store/pull/pull-transaction.ts';
import type { PullLedger, SeenRecord } from './pull-ledger.ts';
import type { UnusableRecords } from './unusable-records.ts';

/** A record, with its bytes or the first of them. */
export interface PlannedRecord extends SeenRecord {
  readonly bytes: Buffer;
}

/** Each place of a record may take as much memory as the record, so its postings are planned in groups of about this many bytes. */
export const PLACES_BYTES = 4 << 20;

/** A record that was read into a posting. */
export interface RecordPosting {
  readonly record: PlannedRecord;
  readonly read: ReadPosting<FieldsToStore>;
}

/** What becomes of a group of postings. */
interface Group {
  readonly newChanges: DesiredChange<FieldsToStore>[];
  readonly superseding: DesiredChange<FieldsToStore>[];
  readonly refreshed: Refresh[];
  readonly pendingSame: Refresh[];
  /** Postings that have expired. */
  readonly expired: Refresh[];
  /** The records of postings that a rule of the site rejects, or that the site itself may reject. */
  readonly kept: KeptRecord[];
  /** Keys of new changes whose postings were missing before. */
  readonly returned: PostingKey[];
}

/** What a feed may do to jobs that exist. */
export interface UpdateLimits {
  readonly mayUpdate: boolean;
  readonly createOnly: CreateOnlyFields;
}

/** Plans the postings and writes the changes to the pull's transaction. */
export async function planPostings(
  postings: readonly RecordPosting[],
  pullTx: PullTransaction,
  ledger: PullLedger,
  unusable: UnusableRecords,
  limits: UpdateLimits,
): Promise<void> {
  if (postings.length === 0) return;
  const known = await pullTx.lookUp(postings.map(({ read }) => read.posting.key));
  const group: Group = {
    newChanges: [],
    superseding: [],
    refreshed: [],
    pendingSame: [],
    expired: [],
    kept: [],
    returned: [],
  };
  const withdrawn: PostingKey[] = [];
  for (const [at, { record, read }] of postings.entries()) {
    const { posting } = read;
    const entry = known[at] ?? { mapping: undefined, open: undefined };
    const jobHash = jobHashOf(read, entry.mapping, limits);
    const isOfJob = entry.mapping?.contentHash.equals(jobHash ?? posting.contentHash) === true;
    const sighting = ledger.seePosting(record, keyHash(posting.key), posting.contentHash, entry, isOfJob);
    if (sighting.kind !== 'first' && sighting.kind !== 'identical') unusable.noteDuplicate(record, posting.key);
    if (sighting.kind === 'identical' || sighting.kind === 'conflicting') continue;
    if (sighting.kind === 'known_of_conflicting' && !withdraw(group, posting.key)) {
      withdrawn.push(posting.key);
      continue;
    }
    if (entry.expired === true) {
      ledger.skipExpired();
      group.expired.push({ key: posting.key, recordHash: record.hash });
      continue;
    }
    const planned = planPosting(updatable(read, entry.mapping, limits), record.hash, entry, limits.mayUpdate, jobHash);
    const refresh = { key: posting.key, recordHash: record.hash, ...(jobHash === undefined ? {} : { jobHash }) };
    const why = whyKept(planned, read, refresh.recordHash, entry.open);
    if (why !== undefined && pullTx.kept.hasRoom(why)) {
      group.kept.push({ ...refresh, why, excerpt: unusable.excerptOf(record.bytes) });
    }
    switch (planned.kind) {
      case 'unchanged':
        ledger.unchanged++;
        if (planned.refresh) group.refreshed.push(refresh);
        break;
      case 'pending_same':
        ledger.pendingSame++;
        group.pendingSame.push(refresh);
        break;
      case 'new':
        group.newChanges.push(planned.desired);
        if (entry.mapping !== undefined && entry.mapping.missingPulls > 0) group.returned.push(posting.key);
        break;
      case 'superseding':
        group.superseding.push(planned.desired);
        break;
      default:
        planned satisfies never;
    }
  }
  await pullTx.addNotes(postings.map(({ read }) => read.posting));
  await write(group, pullTx);
  // The updates of other records, if they were planned before.
  ledger.unchanged += await withdrawUpdates(pullTx, withdrawn);
}

/** Removes the update of a posting from the group. Returns whether it was there. */
function withdraw({ newChanges }: Group, key: PostingKey): boolean {
  const at = newChanges.findIndex((change) => change.key === key);
  if (at >= 0) newChanges.splice(at, 1);
  return at >= 0;
}

/** Why the beginning of the record is kept, if it is. Nothing speaks of the record once its change is sent, so it is kept before. */
function whyKept(
  planned: Planned<FieldsToStore>,
  { kind }: ReadPosting<FieldsToStore>,
  recordHash: Buffer,
  open: OpenChange | undefined,
): KeptRecord['why'] | undefined {
  if (planned.kind === 'unchanged') return undefined;
  if (kind === 'invalid') return 'rejected';
  const isKnown = planned.kind === 'pending_same' && open?.recordHash?.equals(recordHash) === true;
  return isKnown ? undefined : 'sent';
}

/** The hash of the fields that updates set; `undefined`: of all, or there is no job. Such feeds are not parsed ahead. */
function jobHashOf({ posting }: ReadPosting<FieldsToStore>, mapping: Mapping | undefined, limits: UpdateLimits) {
  const { createOnly, mayUpdate } = limits;
  if (createOnly === undefined || mapping === undefined || !mayUpdate) return undefined;
  return contentHash(updatableFields(posting.fields as Fields, createOnly));
}

/** A posting that has a job is not rejected for a field that is not sent. */
function updatable(
  read: ReadPosting<FieldsToStore>,
  mapping: Mapping | undefined,
  { createOnly }: UpdateLimits,
): ReadPosting<FieldsToStore> {
  if (read.kind === 'posting' || mapping === undefined) return read;
  const problems = problemsOfUpdate(read.problems, createOnly);
  return problems.length === 0 ? { kind: 'posting', posting: read.posting } : { ...read, problems };
}

async function write(group: Group, pullTx: PullTransaction): Promise<void> {
  await pullTx.addNew(group.newChanges);
  await pullTx.addSuperseding(group.superseding);
  await pullTx.refreshMappings(group.refreshed);
  await pullTx.addPendingSame(group.pendingSame);
  await pullTx.addExpired(group.expired);
  await pullTx.endGrace(group.returned);
  await pullTx.keepRecords(group.kept);
}
