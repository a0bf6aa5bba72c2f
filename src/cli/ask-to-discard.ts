// Asks for confirmation before a discard that covers several entries of a feed, or entries of several kinds.
import { plural } from '../plan/plural.ts';
import { describeKinds } from '../review/act-on-entries.ts';
import { UserError } from '../runtime/exit-status.ts';
import type { EntryKind } from '../store/backlog/entry-kind.ts';
import { type ActedEntry, type ChosenCount, countDiscardable, type Selection } from '../store/change/act-in-review.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { ask } from '../telemetry/print.ts';
import type { WriteCommand } from './command-line.ts';

/** The entries that the person agreed to discard, or that needed no confirmation, and no others. Empty: any. */
export interface Agreed {
  readonly expectChosen?: readonly ChosenCount[];
}

/** Throws a UserError if nobody can be asked, or the answer is no. */
export async function askToDiscard(
  db: Queryable,
  selection: Selection,
  yes: boolean,
  write: WriteCommand,
): Promise<Agreed> {
  if (yes) return {};
  const chosen = await countDiscardable(db, selection);
  // A pull may add entries to a feed before they are discarded, but none to those given by number.
  if (!coversMuch(chosen)) return selection.feeds.length === 0 ? {} : { expectChosen: chosen };
  const lines = describeChosen(chosen);
  const answer = await ask(`${lines.join('\n')}\nDiscard them? [y/N] `);
  if (answer === undefined) throw new UserError(refusal(lines, selection, write));
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new UserError('Nothing was discarded.');
  return { expectChosen: chosen };
}

/** Whether a feed's name selects several entries, or the selection covers several kinds. */
function coversMuch(chosen: readonly ChosenCount[]): boolean {
  const byName = new Map<string, number>();
  for (const { feed, byName: named, n } of chosen) if (named) byName.set(feed, (byName.get(feed) ?? 0) + n);
  return new Set(chosen.map(({ kind }) => kind)).size > 1 || [...byName.values()].some((n) => n > 1);
}

/** One line per feed with the count of each kind, then what discarding each kind means. */
function describeChosen(chosen: readonly ChosenCount[]): string[] {
  const feeds = [...new Set(chosen.map(({ feed }) => feed))];
  const kinds = new Set(chosen.map(({ kind }) => kind));
  return [
    ...feeds.map((feed) => {
      const counts: Record<string, number> = {};
      for (const entry of chosen) if (entry.feed === feed) counts[entry.kind] = (counts[entry.kind] ?? 0) + entry.n;
      const total = Object.values(counts).reduce((sum, n) => sum + n, 0);
      return `This discards ${plural(total, 'entry', 'entries')} of feed ${feed}: ${describeKinds(counts)}.`;
    }),
    ...MEANINGS.filter(([kind]) => kinds.has(kind)).map(([kind, meaning]) => `  ${kind}: ${meaning}`),
  ];
}

/** An unreadable record could be any posting, even after its entry was discarded (docs/reliability.md, law 3). */
const UNREADABLE =
  'the feed counts as complete without them; until a record can be read, its job stays, and if its key is unknown, all deletes are held';

/** The effect of discarding each kind. */
const MEANINGS: readonly (readonly [EntryKind, string])[] = [
  ['rejected', 'not sent until the posting changes'],
  ['failed', 'not sent until the posting changes'],
  ['held', 'nothing is sent for it; a job whose delete was held stays until its posting comes back'],
  ['unreadable', UNREADABLE],
  ['duplicate', 'the first posting with the key still counts'],
];

function refusal(lines: readonly string[], { ids, feeds }: Selection, write: WriteCommand): string {
  const names = [...ids.map(String), ...feeds];
  return [
    ...lines,
    'Nothing was discarded.',
    `  see them:       ${write(['review', 'list', ...feeds.slice(0, 1)])}`,
    `  one kind only:  ${write(['review', 'discard', ...names, '--kind', 'KIND'])}`,
    `  all of them:    ${write(['review', 'discard', ...names, '--yes'])}`,
  ].join('\n');
}

/** Notices to print after a discard: its effect, and how to undo it. */
export function afterDiscard(acted: readonly ActedEntry[], write: WriteCommand): string[] {
  const [first] = acted;
  if (first === undefined) return [];
  const meaning = acted.some(({ kind }) => kind === 'unreadable') ? [`Unreadable records: ${UNREADABLE}.`] : [];
  const command =
    acted.length === 1 ? write(['review', 'reopen', String(first.id)]) : write(['review', 'list', '--discarded']);
  return [...meaning, acted.length === 1 ? `To undo this: ${command}` : `To see them, and to undo this: ${command}`];
}
