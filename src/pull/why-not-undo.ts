// Decides from the database whether a pull can be undone, and explains why not.
import { type Message, messageOf } from '../plan/message.ts';
import { plural } from '../plan/plural.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { findUndoOf, type PullRow } from '../store/pull/pull-row.ts';
import type { FeedSetup } from './feed-setup.ts';

/** Why a pull cannot be undone; `undefined` if it can. @param keptDays how long former documents are kept */
export async function whyNotUndo(
  db: Queryable,
  pull: PullRow,
  { site }: Pick<FeedSetup, 'site'>,
  keptDays: number,
): Promise<Message | undefined> {
  const { id, feed } = pull;
  if (pull.site !== site) {
    return `pull ${id} of feed ${feed} was mirrored into site ${pull.site}, and the feed is configured for site ${site} now`;
  }
  if (pull.committedAt === undefined) {
    const why = pull.status === 'running' ? 'is still reading its feed' : 'failed';
    return messageOf(`pull ${id} of feed ${feed} ${why} and has changed nothing, so there is nothing to undo`, [
      { words: 'see the pulls of the feed', action: { kind: 'list_pulls', feed } },
    ]);
  }
  const last = await newestUndo(db, id);
  if (last !== undefined) return alreadyUndone(pull, last);
  if (!pull.undoable) {
    return (
      `pull ${id} of feed ${feed} is too old: what the site had before is kept for ${plural(keptDays, 'day')} ` +
      '(retention: undo_days), and only since this version'
    );
  }
  return undefined;
}

/** The undo of the pull, the undo of that one, and so on: the number of the last, and how many there are. */
async function newestUndo(db: Queryable, pull: number): Promise<{ undo: number; depth: number } | undefined> {
  let found: { undo: number; depth: number } | undefined;
  for (let id: number | undefined = await findUndoOf(db, pull); id !== undefined; id = await findUndoOf(db, id)) {
    found = { undo: id, depth: (found?.depth ?? 0) + 1 };
  }
  return found;
}

function alreadyUndone(
  { id, feed }: PullRow,
  { undo, depth }: { readonly undo: number; readonly depth: number },
): Message {
  const isUndone = depth % 2 === 1;
  return messageOf(
    isUndone
      ? `pull ${id} of feed ${feed} was undone by ${undo} already; what of it is still to be sent is sent by the next sync, start or work`
      : `the undo of pull ${id} of feed ${feed} was undone by ${undo}`,
    [{ words: isUndone ? 'to take that back' : 'to undo it again', action: { kind: 'undo_pull', pull: undo } }],
  );
}
