// Recognises jobs that a site still shows although they are deleted, as one that marks rows instead of removing them does.
import type { SiteJob } from './exchange.ts';

/** Names of marks, such as `deleted-at` and `is-deleted`. */
const MARK = /^(is-)?(deleted|discarded|destroyed|trashed|removed)(-(at|on|date))?$/i;
/** Values of a mark that says no, and dates that stand for none. */
const UNSET = /^\s*(false|f|no|n|off|[0\s:TZ.-]*)\s*$/i;

/**
 * Whether the job's own fields say that it was deleted. This alone ends no mapping: the mark's name may mean something else on a site, so
 * it counts together with a write that was answered "no such job", or with a list that lacks the job. A time to come is none yet.
 */
export const statesDeletion = ({ fields }: Pick<SiteJob, 'fields'>): boolean =>
  Object.entries(fields).some(
    ([name, value]) => MARK.test(name.replaceAll('_', '-')) && !UNSET.test(value) && !(Date.parse(value) > Date.now()),
  );

/** The shown job, unless it says that it was deleted. */
export const unlessDeleted = (shown: SiteJob | undefined): SiteJob | undefined =>
  shown === undefined || statesDeletion(shown) ? undefined : shown;
