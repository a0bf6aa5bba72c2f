// The result of an action on one entry as scripts see it.
import { actionsOf, tell, type WriteAction } from '../../plan/message.ts';
import type { EntryReport } from '../act-on-entries.ts';
import type { OutcomeReport } from '../entry-outcome.ts';

/** @param now what became of it since, if that was awaited */
export const actedJson = (action: string, acted: EntryReport, now: OutcomeReport | undefined, write: WriteAction) => ({
  action,
  entry: acted.entry,
  feed: acted.feed,
  key: acted.key,
  result: acted.result,
  message: tell(acted.message, write),
  actions: actionsOf(acted.message),
  now: now?.outcome ?? null,
  detail: now === undefined ? null : tell(now.message, write),
});
