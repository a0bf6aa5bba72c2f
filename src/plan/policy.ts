// What a feed may do to jobs that exist: a setting of the feed. Absent: `mirror`.

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
