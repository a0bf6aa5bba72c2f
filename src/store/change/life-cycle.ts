// The states of a change, and every way from one to another. Tests on Postgres fail on any other way.
import type { Reason } from '../../plan/desired-change.ts';
import { toJsonb } from '../postgres/copy-rows.ts';

/**
 * A change exists while the site does not have what the feed wants for a posting.
 *
 *              plan                       claim                    accepted, adopted
 *   (none) ───────────► ready ──────────────────────► sending ───────────────────────► (none)
 *     │                 ▲ │ ▲ ▲                       │ │ │ │
 *     │                 │ │ │ └── transient failure ──┘ │ │ └── unknown outcome of a create ──► in_doubt
 *     │     approve     │ │ └──── lease expired ────────┘ │                                      │
 *     ├──► held ────────┤ └── guard ──► held              └── refused ──► rejected, failed       │
 *     │                 │                                                                        │
 *     └──► rejected ────┤ edit, retry, newer version        not made: back to the target state ──┘
 *          failed ──────┘                                   made: removed, or ready for an update
 *
 *   held, rejected, failed ── discard ──► discarded ── reopen ──► the state before
 *
 * A change in flight or in doubt keeps its state while newer versions replace what is desired; `target_state` is where it goes when its
 * attempt ends. A change is removed once the site has what is desired, or nothing is desired any more.
 */
export const TRANSITIONS = {
  none: ['ready', 'held', 'rejected'],
  ready: ['sending', 'in_doubt', 'held', 'rejected', 'failed', 'none'],
  sending: ['ready', 'in_doubt', 'held', 'rejected', 'failed', 'none'],
  in_doubt: ['ready', 'held', 'rejected', 'failed', 'none'],
  held: ['ready', 'rejected', 'discarded', 'none'],
  rejected: ['ready', 'held', 'discarded', 'none'],
  failed: ['ready', 'held', 'rejected', 'discarded', 'none'],
  discarded: ['ready', 'held', 'rejected', 'failed', 'none'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type ChangeState = Exclude<keyof typeof TRANSITIONS, 'none'>;

export const CHANGE_STATES = Object.keys(TRANSITIONS).filter((state) => state !== 'none') as [
  ChangeState,
  ...ChangeState[],
];

// The state that a change enters once the attempt it waited for has ended, and the reason that is stored with a change.

/**
 * The target state, but `ready` for a delete of a posting without a job: one that was to be held needs nobody, as it ends without a
 * request. In the statement that moves the change, as its job may just have been recorded.
 */
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

/** Sets the columns of a change whose attempt has ended. */
export const ENDS_ATTEMPT = 'attempt_token = null, attempt_operation = null, attempt_started = null';

/** The same unless the condition is true: one in doubt keeps its attempt. */
export const keepsAttempt = (change: string, condition: string): string =>
  ['attempt_token', 'attempt_operation', 'attempt_started']
    .map((column) => `${column} = case when ${condition} then ${change}.${column} end`)
    .join(', ');

export function changeReason(kind: string, message: string): string {
  const reason: Reason = { kind, message, problems: [{ message }] };
  return toJsonb(reason);
}
