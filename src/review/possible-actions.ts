// Lists the exact commands available for an entry, depending on its state.
import type { EntryState } from '../store/change/act-in-review.ts';

/** Completes the words after the program's name to a command that can be run as it is. */
export type WriteCommand = (words: readonly string[]) => string;

export interface PossibleAction {
  readonly command: string;
  /** What the command does. */
  readonly effect: string;
}

/** The parts of an entry that determine the possible actions. */
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
      return [...ways, action(['discard', id], 'leaves it as it is until the posting changes')];
    }
    case 'held':
      return [
        action(['approve', id], 'deletes the job'),
        action(['discard', id], 'keeps the job on the site until the posting comes back'),
      ];
    case 'in_doubt':
      return [
        action(['settle', id, '--exists', 'JOBID'], 'the site made the job, and this is its ID'),
        action(['settle', id, '--missing'], 'the site did not make it: it is sent again'),
      ];
    case 'unreadable':
      return [
        action(
          ['discard', id],
          'the feed counts as complete without it; until it can be read, its job stays, or all deletes are held if its key is unknown',
        ),
      ];
    case 'duplicate':
      return [action(['discard', id], 'the first posting with this key is the right one')];
    case 'discarded':
      return [action(['reopen', id], 'returns it to review in its former state')];
    case 'ready':
    case 'sending':
      return [];
    default:
      return entry.state satisfies never;
  }
}
