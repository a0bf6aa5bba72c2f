// Where a change goes once the attempt that it waited for has ended: SQL for whoever ends attempts.

/**
 * The state in which a change rests. A delete that was to be held has nothing to hold where the posting has no job: it is
 * ready, and ends without a request.
 */
export const targetState = (change: string): string =>
  `case when ${change}.desired = 'absent'
       and not exists (select from mapping m where m.feed = ${change}.feed and m.key = ${change}.key)
     then 'ready' else ${change}.target_state end`;
