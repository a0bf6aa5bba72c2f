// When a missing posting is due: the rule's cases, for the function and for the SQL that applies it.

/** Complete pulls that a posting must be missing from, earlier pulls that it was missing from, and what follows now. */
export const graceCases = [
  [1, 0, 'due'],
  [1, 1, 'due'],
  [2, 0, 'in grace'],
  [2, 1, 'due'],
  [3, 0, 'in grace'],
  [3, 1, 'in grace'],
  [3, 2, 'due'],
  // The setting was lowered meanwhile.
  [2, 5, 'due'],
] as const;
