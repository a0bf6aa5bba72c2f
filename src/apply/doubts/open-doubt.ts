// A create in doubt while the site's list is searched for its job: what was sent, when, and which jobs may be its own.
import type { AdoptRules } from '../../plan/adopt/job-features.ts';
import { CLOCK_SKEW_MS, type Window } from '../../plan/adopt/open-contents.ts';
import { checkDelays, checkDueMs } from '../../plan/check-delay.ts';
import type { Fields } from '../../posting/posting.ts';
import type { SiteJob } from '../../site/exchange.ts';
import type { Doubt } from '../../store/change/doubt.ts';
import type { Candidates } from './doubt-candidates.ts';

export interface OpenDoubt extends Window, Candidates {
  readonly notAfter: Date;
  readonly doubt: Doubt;
  readonly fields: Fields;
  /** Another posting may have the same reference. */
  shared: boolean;
  /** Names of the values that other postings of the site have too; `undefined`: this is not known. */
  sharedValues: ReadonlySet<string> | undefined;
  /** Candidates that may be another open create's, or a job that a person refused: a person decides whose they are. */
  readonly contended: Set<string>;
  /** When jobs of the posting were deleted before, by ID: the list may go on to show them. */
  readonly deleted: Map<string, Date>;
}

/** How the jobs of a list are compared with doubts. */
export type Matching = AdoptRules;

export function openDoubt(doubt: Doubt, resolveAfterMs: number): OpenDoubt {
  const latest = doubt.sentAt.getTime() + resolveAfterMs * (1 + doubt.listChecks * 0.5);
  return {
    doubt,
    fields: doubt.attempt.accepted.fields,
    notBefore: new Date(doubt.startedAt.getTime() - CLOCK_SKEW_MS),
    notAfter: new Date(latest + CLOCK_SKEW_MS),
    candidates: [],
    crowded: false,
    shared: false,
    sharedValues: undefined,
    contended: new Set(),
    deleted: new Map(),
  };
}

/**
 * How old a cached copy of the list may be to prove anything about a doubt: it must date from after the create could no
 * longer arrive, and after this check was due.
 */
export const maxListAgeMs = ({ sinceMs, listChecks }: Doubt, resolveAfterMs: number): number =>
  Math.max(0, sinceMs - checkDueMs(checkDelays(resolveAfterMs), listChecks) - CLOCK_SKEW_MS);

/** Sites show when a job was made in whole seconds. */
const TIME_STEP_MS = 1_000;

/** Whether the list may show a job that was deleted before the create, and not one that the site has made since under the same ID. */
export function mayBeDeleted({ deleted }: OpenDoubt, { siteJobId, createdAt }: SiteJob): boolean {
  const deletedAt = deleted.get(siteJobId);
  if (deletedAt === undefined) return false;
  return createdAt === undefined || createdAt.getTime() + TIME_STEP_MS < deletedAt.getTime();
}

/** What a log line says about a doubt. */
export const namesOf = ({ attempt }: Doubt) => ({ site: attempt.site, feed: attempt.feed, key: attempt.key });
