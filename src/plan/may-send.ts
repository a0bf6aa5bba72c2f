// Decides whether a ready change may be sent now: what its feed and its site have to allow.

/** What is known of a feed before jobs are created for it. */
export interface CreateCircumstances {
  /** The site was searched for jobs of the feed, or nothing is known of the feed yet. */
  readonly isSearched: boolean;
  /** Because of a sign, or because the data was restored, the site has to be searched again. */
  readonly searchIsDue: boolean;
  /** Which creates an open question about changed keys is about. */
  readonly asked: 'none' | 'some' | 'all';
}

/**
 * Which creates of a feed may be sent. Any other create could be for a job that the site already has (law 1).
 *
 * | searched | search is due | asked about | may be sent  |
 * |----------|---------------|-------------|--------------|
 * | no       | any           | any         | none         |
 * | any      | yes           | any         | none         |
 * | yes      | no            | all         | none         |
 * | yes      | no            | some        | the others   |
 * | yes      | no            | none        | all          |
 */
export function sendableCreates({ isSearched, searchIsDue, asked }: CreateCircumstances): 'none' | 'others' | 'all' {
  if (!isSearched || searchIsDue || asked === 'all') return 'none';
  return asked === 'some' ? 'others' : 'all';
}

export interface SendCircumstances extends CreateCircumstances {
  readonly desired: 'present' | 'absent';
  readonly hasJob: boolean;
  /** The question about changed keys is about this create. */
  readonly isAsked: boolean;
  /** A person took the feed out of service. */
  readonly isRetired: boolean;
  /** A person has paused the feed, its site or everything. */
  readonly isPaused: boolean;
  /** The program has paused the site, or the site has asked to wait, refuses this process's token, or had its jobs at another address. */
  readonly siteIsClosed: boolean;
}

/** Whether a change that is ready may be sent. Updates and deletes of jobs that are known wait for no search and no question. */
export function isSendable(change: SendCircumstances): boolean {
  if (change.isPaused || change.siteIsClosed || change.isRetired) return false;
  if (change.hasJob || change.desired === 'absent') return true;
  const creates = sendableCreates(change);
  return creates === 'all' || (creates === 'others' && !change.isAsked);
}
