// Decides how long a posting that is missing from its feed keeps its job.

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
