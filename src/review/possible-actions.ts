// Lists the actions available for an entry, depending on its state.
import type { BulkAction, EntryAction } from '../plan/action.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { EntryState } from '../store/change/act-in-review.ts';
import type { OpenChangeRow } from '../store/change/open-change.ts';
import { changeVersion } from './entry-version.ts';

/** The parts of an entry that determine the possible actions. */
export interface ActionableEntry {
  readonly id: number;
  readonly feed: FeedName;
  readonly state: EntryState['state'];
  readonly desired: 'present' | 'absent' | undefined;
  readonly invalid: boolean;
  /** Its posting is missing from the feed, so nothing is sent for it. */
  readonly missing?: boolean;
  /** A delete that waits until somebody has answered whether the keys of its feed have changed. */
  readonly inQuestion?: boolean;
  /** What the person is shown, if they are shown the entry. */
  readonly version?: string | undefined;
}

export const actionsOfChange = (change: OpenChangeRow): EntryAction[] =>
  possibleActions({ ...change, version: changeVersion(change) });

export function possibleActions({
  id: entry,
  feed,
  state,
  desired,
  invalid,
  missing = false,
  inQuestion = false,
  version,
}: ActionableEntry): EntryAction[] {
  if (inQuestion) return [compareKeys(entry, feed)];
  const seen = version === undefined ? {} : { version };
  const action = (kind: BulkAction, effect: string): EntryAction => ({
    kind,
    entry,
    parameters: kind === 'approve' ? seen : {},
    effect,
  });
  switch (state) {
    case 'rejected':
    case 'failed': {
      const retry = action('retry', 'sends it again as it is');
      const ways = missing ? [] : invalid ? [edit(entry)] : desired === 'present' ? [edit(entry), retry] : [retry];
      return [...ways, action('discard', 'leaves it as it is until the posting changes')];
    }
    case 'held':
      return [
        action('approve', 'deletes the job'),
        action('discard', 'keeps the job on the site until the posting comes back'),
      ];
    case 'in_doubt':
      return settleActions(entry, seen);
    case 'unreadable':
      return [
        action(
          'discard',
          'the feed counts as complete without it; until it can be read, its job stays, or all deletes are held if its key is unknown',
        ),
      ];
    case 'duplicate':
      return [action('discard', 'the first posting with this key is the right one')];
    case 'discarded':
      return [action('reopen', 'returns it to review in its former state')];
    case 'ready':
    case 'sending':
      return [];
    default:
      return state satisfies never;
  }
}

const compareKeys = (entry: number, feed: FeedName): EntryAction => ({
  kind: 'compare_keys',
  entry,
  parameters: { feed },
  effect:
    'shows which new posting it may be: the keys of the feed seem to have changed, and its job is kept until that is answered',
});

const edit = (entry: number): EntryAction => ({
  kind: 'edit',
  entry,
  parameters: { field: null, value: null },
  effect: 'sets a field until the source changes it, and sends it',
});

const settleActions = (entry: number, seen: { readonly version?: string }): EntryAction[] => [
  {
    kind: 'settle',
    entry,
    parameters: { verdict: 'exists', site_job_id: null, ...seen },
    effect: 'the site made the job, and this is its ID',
  },
  {
    kind: 'settle',
    entry,
    parameters: { verdict: 'missing', ...seen },
    effect: 'the site did not make it: it is sent again',
  },
];
