// The state that a change enters once the attempt it waited for has ended (the rule `enteredTarget`, src/plan/after-attempt.ts), and the
// reason that is stored with a change.
import type { Reason } from '../../plan/desired-change.ts';
import { toJsonb } from '../postgres/jsonb.ts';

export const targetState = (change: string): string =>
  `case when ${change}.desired = 'absent'
       and not exists (select from mapping m where m.feed = ${change}.feed and m.key = ${change}.key)
     then 'ready' else ${change}.target_state end`;

/**
 * The operation of a change whose attempt ends without the site having accepted it: another posting may have taken its job meanwhile. Creates
 * wait for what creates wait for, such as a search of the site, which is made for creates only.
 */
export const operationWithoutJob = (change: string): string =>
  `case when ${change}.desired = 'present'
       and not exists (select from mapping m where m.feed = ${change}.feed and m.key = ${change}.key)
     then 'create' else ${change}.operation end`;

/** Why a change is held or rejected once its attempt has ended; while a create is in doubt, that is kept beside the reason of the doubt. */
export const targetReason = (change: string): string =>
  `case when ${change}.target_state in ('held', 'rejected') then coalesce(${change}.reason->'target', ${change}.reason)
     else ${change}.reason end`;

/** The reason of a doubt that begins, with why the version that waits for it is held or rejected. @param reason of the doubt, as jsonb */
export const doubtReason = (change: string, reason: string): string =>
  `${reason} || case when ${change}.target_state in ('held', 'rejected') and ${change}.reason is not null
     then jsonb_build_object('target', ${targetReason(change)}) else '{}' end`;

/** The reason of a doubt whose newest version gets another target state. @param reason why it is held or rejected; null: neither */
export const retargetedReason = (change: string, reason: string): string =>
  `nullif(coalesce(${change}.reason, '{}') - 'target'
     || case when ${reason} is null then '{}' else jsonb_build_object('target', ${reason}) end, '{}')`;

export function changeReason(kind: string, message: string): string {
  const reason: Reason = { kind, message, problems: [{ message }] };
  return toJsonb(reason);
}
