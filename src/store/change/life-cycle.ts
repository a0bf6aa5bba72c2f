// The states of a change, and every way from one to another. Tests on Postgres fail on any other way.

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
