// Says why an act does not apply to an entry, and what does.
import type { EntryState } from '../store/change/act-in-review.ts';
import type { WriteCommand } from './possible-actions.ts';

export type BulkAction = 'retry' | 'approve' | 'discard' | 'reopen';

/** Whatever can be discarded, or reopened, is left for one reason only. */
const OTHER_KIND = 'it is of another kind than --kind says';

/** One sentence without a full stop, to stand behind the entry. */
export function whyNot(action: BulkAction, entry: EntryState | undefined, write: WriteCommand): string {
  if (entry === undefined) return 'it is resolved already';
  const id = String(entry.id);
  if (action === 'reopen' && entry.state !== 'discarded')
    return `it is not discarded, but ${entry.state.replace('_', ' ')}`;
  switch (entry.state) {
    case 'ready':
      return 'it is waiting to be sent';
    case 'sending':
      return 'it is being sent right now';
    case 'discarded':
      if (action === 'reopen') return OTHER_KIND;
      return action === 'discard' ? 'it is discarded already' : `it is discarded: ${write(['review', 'reopen', id])}`;
    case 'in_doubt':
      return (
        'the site may have made the job: look for it there, then ' +
        `${write(['review', 'settle', id, '--exists', 'JOBID'])}, or ${write(['review', 'settle', id, '--missing'])}`
      );
    case 'held':
      if (action === 'discard') return OTHER_KIND;
      return `it is held: ${write(['review', 'approve', id])}`;
    case 'rejected':
    case 'failed':
      if (action === 'discard') return OTHER_KIND;
      if (action === 'approve') return `it is ${entry.state}, not held`;
      return `it breaks a rule of the site, so sending it again would not help: ${write(['review', 'edit', id, '--set', 'FIELD=VALUE'])}`;
    case 'unreadable':
      if (action === 'discard') return OTHER_KIND;
      return 'it is a record that could not be read, so there is nothing to send: fix it at the source, or discard it';
    case 'duplicate':
      if (action === 'discard') return OTHER_KIND;
      return 'it is a record that repeats a key, so there is nothing to send: fix it at the source, or discard it';
    default:
      return entry.state satisfies never;
  }
}
