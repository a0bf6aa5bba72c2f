// Review entries as scripts see them: one in a list, and one with all its details.
import type { Here } from '../../plan/allowed.ts';
import { messageOfReason } from '../../plan/desired-change.ts';
import { tell, type WriteAction } from '../../plan/message.ts';
import type { ReviewEntry } from '../../store/review/review-entries.ts';
import type { EntryDetails } from '../../store/review/review-entry.ts';
import { actionsOfEntry } from '../entry-facts.ts';
import { entryVersion } from '../entry-version.ts';

export interface EntryMarks {
  /** It has waited too long for a person. */
  readonly escalated: boolean;
  readonly discarded: boolean;
}

export interface EntryContext extends Pick<EntryMarks, 'escalated'> {
  readonly here: Here;
}

export function listedEntryJson(entry: ReviewEntry, { escalated, discarded }: EntryMarks, write: WriteAction) {
  return {
    id: entry.id,
    feed: entry.feed,
    site: entry.site ?? null,
    key: entry.key ?? null,
    kind: entry.kind,
    operation: entry.operation ?? null,
    since: entry.since,
    age_seconds: Math.floor(entry.ageMs / 1000),
    escalated,
    reason: tell(entry.reason, write),
    ...(discarded ? { discarded } : {}),
  };
}

export function entryJson(entry: EntryDetails, { escalated, here }: EntryContext, write: WriteAction) {
  const { id, ...rest } = entry.kind === 'record' ? recordJson(entry) : changeJson(entry, escalated, write);
  return { id, version: entryVersion(entry), ...rest, actions: actionsOfEntry(entry, here) };
}

function recordJson(entry: Extract<EntryDetails, { kind: 'record' }>) {
  const { id, feed, key, kind, problems, excerpt, recordNumber, since, ageMs, firstPull, discarded, records } =
    entry.record;
  return {
    id,
    feed,
    key: key ?? null,
    kind,
    discarded,
    since,
    age_seconds: Math.floor(ageMs / 1000),
    problems,
    excerpt,
    record_number: recordNumber ?? null,
    first_pull: firstPull,
    records,
  };
}

function changeJson(entry: Extract<EntryDetails, { kind: 'change' }>, escalated: boolean, write: WriteAction) {
  const { change, live, edits, record, failures } = entry;
  return {
    id: change.id,
    feed: change.feed,
    site: change.site,
    key: change.key,
    kind: change.state,
    ...(change.discardedFrom === undefined ? {} : { discarded_from: change.discardedFrom }),
    operation: change.operation,
    since: change.since,
    age_seconds: Math.floor(change.ageMs / 1000),
    escalated,
    reason: change.reason === undefined ? null : tell(messageOfReason(change.reason), write),
    problems: change.reason?.problems ?? [],
    note: change.reason?.note ?? null,
    attempts: change.attempts,
    sent_at: change.attempt?.startedAt ?? null,
    sent_fields: change.attempt?.fields ?? null,
    desired_fields: change.fields ?? null,
    site_job_id: live?.siteJobId ?? null,
    site_job_url: live?.url ?? null,
    site_fields: live?.fields ?? null,
    edits: edits.map(({ field, sourceValue, value }) => ({ field, source_value: sourceValue, value })),
    record: record ?? null,
    failures,
  };
}
