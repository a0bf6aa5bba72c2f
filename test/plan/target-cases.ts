// The state of a change once no attempt is open: the rule's cases, for the function and for the SQL that applies it.

/** What is desired, whether the posting has a job, the change's target state, and the state that it enters. */
export const targetCases = [
  ['present', true, 'ready', 'ready'],
  ['present', false, 'ready', 'ready'],
  ['present', true, 'rejected', 'rejected'],
  ['present', false, 'rejected', 'rejected'],
  ['absent', true, 'ready', 'ready'],
  ['absent', true, 'held', 'held'],
  ['absent', false, 'ready', 'ready'],
  ['absent', false, 'held', 'ready'],
] as const;
