// Explains why an action does not apply to an entry, and which one does.
import type { BulkAction } from '../plan/action.ts';
import { type Message, messageOf } from '../plan/message.ts';
import type { SiteName } from '../posting/identifiers.ts';
import type { EntryState, KeptEntry } from '../store/change/act-in-review.ts';
import { possibleActions } from './possible-actions.ts';

/** Until the posting is back or its job is deleted, which some feeds never do. */
export const MISSING = 'the feed no longer has it, so nothing is sent for it';

/** Changes of a feed are sent only to the site that it is configured for. */
export const ofOtherSite = (site: SiteName, configured: SiteName): string =>
  `it is of site ${site}, and the feed is configured for site ${configured} now, so nothing is sent for it`;

/** Deletes are checked against what is configured now, as no pull may have applied it yet. */
export const keptNow = ({ feed, why }: KeptEntry): string =>
  why === 'policy'
    ? `the policy of feed ${feed} is to delete nothing now, so its job stays`
    : `feed ${feed} is configured otherwise than in its last pull (key, skip, expiry or the way it is read), so its posting may be in the feed: pull it first`;

/** An entry that could be discarded or reopened was skipped for this reason only. */
const OTHER_KIND = 'its kind is not the one given with --kind';

/** One sentence without a full stop, to follow the entry. */
export function whyNot(action: BulkAction, entry: EntryState | undefined): Message {
  if (entry === undefined) return 'it is already resolved';
  const [first, second] = possibleActions({ ...entry, desired: undefined });
  if (entry.inQuestion && action !== 'reopen')
    return messageOf('the keys of its feed seem to have changed, and its job may belong to a new posting', [
      { words: 'compare them first', action: first },
    ]);
  if (action === 'reopen' && entry.state !== 'discarded')
    return `it is not discarded, but ${entry.state.replace('_', ' ')}`;
  switch (entry.state) {
    case 'ready':
      return 'it is waiting to be sent';
    case 'sending':
      return 'it is being sent right now';
    case 'discarded':
      if (action === 'reopen') return OTHER_KIND;
      return action === 'discard' ? 'it is already discarded' : messageOf('it is discarded', [{ action: first }]);
    case 'in_doubt':
      return messageOf('the site may have made the job: check there', [
        { words: 'if it has the job', action: first },
        { words: 'if not', action: second },
      ]);
    case 'held':
      if (action === 'discard') return OTHER_KIND;
      return messageOf('it is held', [{ action: first }]);
    case 'rejected':
    case 'failed':
      if (action === 'discard') return OTHER_KIND;
      if (action === 'approve') return `it is ${entry.state}, not held`;
      if (entry.missing) return MISSING;
      return messageOf('it breaks a rule of the site, so sending it again would not help', [{ action: first }]);
    case 'unreadable':
      if (action === 'discard') return OTHER_KIND;
      return 'the record could not be read, so there is nothing to send: fix it at the source, or discard it';
    case 'duplicate':
      if (action === 'discard') return OTHER_KIND;
      return 'the record repeats a key, so there is nothing to send: fix it at the source, or discard it';
    default:
      return entry.state satisfies never;
  }
}
