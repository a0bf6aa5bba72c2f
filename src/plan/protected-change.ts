// Decides what becomes of the open change of a posting whose record is unreadable: the posting is still in its feed.

/** An open change that the pull did not see. */
export interface UnreadableChange {
  readonly desired: 'present' | 'absent';
  /** The request in flight or in doubt. */
  readonly attempt: 'create' | 'update' | 'delete' | undefined;
  /** An update or delete of unknown outcome left it uncertain what the job shows, or whether it exists. */
  readonly uncertain: boolean;
  /** The fields that the site last accepted are known. */
  readonly contentKnown: boolean;
}

/**
 * - `kept`: the same version, which counts towards no pull.
 * - `dropped`: no change; the job stays.
 * - `as_sent`: the version that was sent.
 * - `restored`: an update to what the site last accepted.
 * - `held`: the delete, which a person must approve.
 */
export type ProtectedChange = 'kept' | 'dropped' | 'as_sent' | 'restored' | 'held';

/**
 * | desired | request in flight or in doubt | uncertain | content | becomes    |
 * | ------- | ----------------------------- | --------- | ------- | ---------- |
 * | present | any                           | any       | any     | `kept`     |
 * | absent  | create, update                | any       | any     | `as_sent`  |
 * | absent  | none                          | no        | any     | `dropped`  |
 * | absent  | none                          | yes       | known   | `restored` |
 * | absent  | none                          | yes       | unknown | `held`     |
 * | absent  | delete                        | any       | known   | `restored` |
 * | absent  | delete                        | any       | unknown | `held`     |
 *
 * The content of an adopted job is unknown: it could not be created again if its delete succeeds.
 * The database applies this to all unreadable records of a pull at once.
 */
export function protectedChange({ desired, attempt, uncertain, contentKnown }: UnreadableChange): ProtectedChange {
  if (desired === 'present') return 'kept';
  if (attempt === 'create' || attempt === 'update') return 'as_sent';
  if (attempt === undefined && !uncertain) return 'dropped';
  return contentKnown ? 'restored' : 'held';
}
