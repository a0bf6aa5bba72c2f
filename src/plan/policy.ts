// What a feed may do to jobs that exist (its setting `policy`; absent: `mirror`), and how long a posting that is
// missing keeps its job.

/**
 * | policy        | a new posting | a changed posting         | a missing posting                        |
 * | ------------- | ------------- | ------------------------- | ---------------------------------------- |
 * | `mirror`      | is created    | is updated                | is deleted: proof, grace and guard apply |
 * | `upsert_only` | is created    | is updated                | keeps its job, and counts as in grace    |
 * | `create_only` | is created    | keeps its job as it is    | keeps its job, and counts as in grace    |
 */
export type FeedPolicy = 'mirror' | 'upsert_only' | 'create_only';

export const deletesMissing = (policy: FeedPolicy | undefined): boolean => policy === undefined || policy === 'mirror';

export const updatesJobs = (policy: FeedPolicy | undefined): boolean => policy !== 'create_only';

/**
 * A missing posting keeps its job until it has been missing from `missingPulls` complete pulls in a row.
 *
 * | earlier pulls in which it was missing | this pull                              |
 * | ------------------------------------- | -------------------------------------- |
 * | fewer than returned                   | within its grace: one more is counted  |
 * | as many, or more                      | due: its job is deleted, or held       |
 *
 * The database applies this number to all missing postings at once: there may be a million.
 * @param missingPulls at least 1, which deletes at once.
 */
export const pullsBeforeDue = (missingPulls: number): number => missingPulls - 1;

/** Instead of what {@link pullsBeforeDue} returns, for feeds that delete nothing: the database counts up to one less. */
export const NEVER_DUE = 32_767;

// Decides when the site's list is checked for the job of a create in doubt.

/** The delays of list checks. */
export interface CheckDelays {
  /** The time from the start of the attempt to the first check, in milliseconds. */
  readonly firstMs: number;
  /** The time from each check to the next one. */
  readonly furtherMs: number;
}

/** @param resolveAfterMs how long a request may take to become visible in the list. */
export const checkDelays = (resolveAfterMs: number): CheckDelays => ({
  firstMs: resolveAfterMs,
  furtherMs: resolveAfterMs / 2,
});

/** The age of an attempt at which the next check is due, in milliseconds. The database applies the same sum. */
export const checkDueMs = ({ firstMs, furtherMs }: CheckDelays, checks: number): number => firstMs + checks * furtherMs;
