// Names the version of a review entry, so that nobody decides on one that they have not seen.
import { hash } from 'node:crypto';
import { type Message, messageOf } from '../plan/message.ts';
import type { OpenChangeRow } from '../store/change/open-change.ts';
import type { Queryable } from '../store/postgres/database.ts';
import type { PostingStory } from '../store/review/posting-history.ts';
import { type EntryDetails, readEntry } from '../store/review/review-entry.ts';

/** Differs after each new content, state or decision, and for a create in doubt once other jobs may be its own. */
export const changeVersion = ({ revision, since, state, reason }: Version): string => {
  const candidates = state === 'in_doubt' ? (reason?.candidates ?? []) : [];
  const jobs = candidates.length === 0 ? '' : `-${hash('sha256', JSON.stringify(candidates), 'hex').slice(0, 10)}`;
  return `${revision}-${since.getTime()}${jobs}`;
};

type Version = Pick<OpenChangeRow, 'revision' | 'since' | 'state' | 'reason'>;

/** The version of its open change. Without one, differs after each update of its job and each edit; `undefined`: there is neither. */
export function versionOfPosting({
  change,
  live,
  edits,
}: Pick<PostingStory, 'change' | 'live' | 'edits'>): string | undefined {
  if (change !== undefined) return changeVersion(change);
  if (live === undefined) return undefined;
  const state = JSON.stringify([live.siteJobId, live.fields, edits]);
  return `job-${hash('sha256', state, 'hex').slice(0, 32)}`;
}

export const entryVersion = (entry: EntryDetails): string =>
  entry.kind === 'change' ? changeVersion(entry.change) : `${entry.record.revision}-${entry.record.discarded}`;

export const STALE: Message = messageOf('it has changed since you saw it; look at it again. Nothing was changed');

/** Whether an entry is no longer the version that a person saw. One that is resolved is not stale but missing. */
export async function isStale(db: Queryable, id: number, version: string | undefined): Promise<boolean> {
  if (version === undefined) return false;
  const entry = await readEntry(db, id);
  return entry !== undefined && entryVersion(entry) !== version;
}
