// Shows on a terminal which held deletes of a feed would be approved, and asks. Where nobody can be asked, only tells how to bind it.
import { textOf } from '../plan/message.ts';
import { plural } from '../plan/plural.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { excerpt } from '../posting/xml-characters.ts';
import { UserError } from '../runtime/exit-status.ts';
import { countHeld, type HeldCount } from '../store/change/act-in-review.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { heldReasons, readHeldDeletes } from '../store/review/held-deletes.ts';
import { ask, printNotice } from '../telemetry/print.ts';
import type { WriteCommand } from './command-line.ts';

/** The deletes that the person agreed to, and no others. Empty: nobody was asked. */
export interface AgreedDeletes {
  readonly expectDeletes?: readonly HeldCount[];
}

/** Throws a UserError if the answer is no. */
export async function askToApprove(
  db: Queryable,
  feeds: readonly FeedName[],
  write: WriteCommand,
): Promise<AgreedDeletes> {
  const held = await countHeld(db, feeds);
  if (held.length === 0) return {};
  const lines: string[] = [];
  for (const each of held) lines.push(...(await describeHeld(db, each)));
  const answer = await ask(`${lines.join('\n')}\nDelete them? [y/N] `);
  if (answer === undefined) {
    for (const { feed, n } of held) {
      const bound = write(['review', 'approve', feed, '--count', String(n)]);
      printNotice(
        `warning: this approves whatever is held for feed ${feed} now. To approve only what you saw: ${bound}`,
      );
    }
    return {};
  }
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new UserError('Nothing was approved.');
  return { expectDeletes: held };
}

async function describeHeld(db: Queryable, { feed, n, examples }: HeldCount): Promise<string[]> {
  const reasons = await heldReasons(db, feed);
  const deletes = await readHeldDeletes(db, examples);
  return [
    `This deletes ${plural(n, 'job')} of feed ${feed} whose ${n === 1 ? 'delete is' : 'deletes are'} held:`,
    ...reasons.map(({ count, reason }) => `  ${count}: ${textOf(reason)}`),
    ...deletes.map(({ key, title }) => `    ${excerpt(key, 60)}${title === null ? '' : `  ${excerpt(title, 60)}`}`),
    ...(n > deletes.length ? [`    … and ${n - deletes.length} more`] : []),
  ];
}
