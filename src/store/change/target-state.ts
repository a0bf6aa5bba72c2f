// SQL for the state that a change enters once the attempt it waited for has ended: the rule `enteredTarget` of the plan.

export const targetState = (change: string): string =>
  `case when ${change}.desired = 'absent'
       and not exists (select from mapping m where m.feed = ${change}.feed and m.key = ${change}.key)
     then 'ready' else ${change}.target_state end`;
