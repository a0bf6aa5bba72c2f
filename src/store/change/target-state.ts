// SQL for the state that a change enters once the attempt it waited for has ended.

/**
 * The state that a change enters when no attempt is open. A delete that was to be held becomes ready if the posting has no
 * job: it ends without a request.
 */
export const targetState = (change: string): string =>
  `case when ${change}.desired = 'absent'
       and not exists (select from mapping m where m.feed = ${change}.feed and m.key = ${change}.key)
     then 'ready' else ${change}.target_state end`;
