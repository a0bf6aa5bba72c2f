// Turns the state of an entry into the exact commands that a person can give for it.
import type { EntryState } from '../store/change/act-in-review.ts';

/** Writes the words after the program's name as a command that can be given as it stands. */
export type WriteCommand = (words: readonly string[]) => string;

export interface PossibleAction {
  readonly command: string;
  /** What it does, for people. */
  readonly effect: string;
}

/** The state of an entry, as far as what can be done about it depends on it. */
export interface ActionableEntry {
  readonly id: number;
  readonly state: EntryState['state'];
  readonly desired: 'present' | 'absent' | undefined;
  readonly invalid: boolean;
}

export function possibleActions(entry: ActionableEntry, write: WriteCommand): PossibleAction[] {
  const id = String(entry.id);
  const action = (words: readonly string[], effect: string) => ({ command: write(['review', ...words]), effect });
  const edit = action(['edit', id, '--set', 'FIELD=VALUE'], 'sets a field until the source changes it, and sends it');
  const retry = action(['retry', id], 'sends it again as it is');
  switch (entry.state) {
    case 'rejected':
    case 'failed': {
      const ways = entry.invalid ? [edit] : entry.desired === 'present' ? [edit, retry] : [retry];
      return [...ways, action(['discard', id], 'lets it rest until the posting changes')];
    }
    case 'held':
      return [
        action(['approve', id], 'deletes the job'),
        action(['discard', id], 'keeps the job on the site until the posting comes back'),
      ];
    case 'in_doubt':
      return [
        action(['settle', id, '--exists', 'JOBID'], 'the site has made the job, and this is its ID'),
        action(['settle', id, '--missing'], 'the site has not made it: it is sent again'),
      ];
    case 'unreadable':
      return [
        action(
          ['discard', id],
          'the feed counts as complete without it; until it can be read its job stays, and without a key all deletes are held',
        ),
      ];
    case 'duplicate':
      return [action(['discard', id], 'the first posting with this key is the right one')];
    case 'discarded':
      return [action(['reopen', id], 'puts it back into review as what it was')];
    case 'ready':
    case 'sending':
      return [];
    default:
      return entry.state satisfies never;
  }
}
