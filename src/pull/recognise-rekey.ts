// Recognises that the keys of a feed seem to have changed; then its creates and deletes wait for a person.
import { createOnlyOf } from '../plan/create-only-fields.ts';
import type { Message } from '../plan/message.ts';
import { describeRekey, seemsRekeyed } from '../plan/rekey.ts';
import {
  collectRekey,
  compareAgain,
  endRekey,
  readRekeyScope,
  suspectRekey,
} from '../store/change/rekey/collect-rekey.ts';
import type { ComparedFields } from '../store/change/rekey/digests.ts';
import type { PullTransaction } from '../store/pull/pull-transaction.ts';
import type { FeedSetup } from './feed-setup.ts';

export const comparedFields = ({ referenceField, mapping }: FeedSetup): ComparedFields => ({
  referenceField,
  stateField: mapping.stateField.name,
  createOnly: createOnlyOf(mapping),
});

/**
 * Compares the missing postings of this pull with the new ones. The caller has collected the missing ones (`collectMissing`,
 * `collectExpiredGone`).
 *
 * | pull       | suspected before | now                         | then                                       |
 * | ---------- | ---------------- | --------------------------- | ------------------------------------------ |
 * | any        | any              | suspected                   | suspected, with the postings of this pull  |
 * | complete   | yes              | not, but some pair is left  | suspected, with the postings of this pull  |
 * | complete   | yes              | no pair is left             | not suspected                              |
 * | incomplete | yes              | not                         | suspected, with the postings found before  |
 * | any        | no               | not                         | not suspected                              |
 *
 * @returns what a person should know; `undefined`: no change of keys is suspected.
 */
export async function recogniseRekey(
  setup: FeedSetup,
  pullTx: PullTransaction,
  complete: boolean,
): Promise<Message | undefined> {
  const scope = await readRekeyScope(pullTx);
  const most = Math.min(scope.missing, scope.added);
  // Comparing contents costs more than counting postings.
  if (
    !scope.suspected &&
    !seemsRekeyed(setup.rekeyGuard, { equal: most, alike: most, settable: most, live: scope.live })
  )
    return undefined;
  const found = {
    ...(await collectRekey(pullTx, comparedFields(setup))),
    live: scope.live,
  };
  const isNow = seemsRekeyed(setup.rekeyGuard, found);
  if (isNow || (scope.suspected && complete && found.equal + found.alike > 0)) {
    const note = describeRekey(setup.feed, found, complete);
    await suspectRekey(pullTx, note, complete);
    return note;
  }
  if (!scope.suspected) return undefined;
  if (!complete) {
    await compareAgain(pullTx);
    return scope.note;
  }
  await endRekey(pullTx.session, setup.feed);
  return undefined;
}
