// Asks for confirmation before a selection of entries is approved, discarded or sent again, and binds the action to what was shown.
import { plural } from '../plan/plural.ts';
import { describeKinds } from '../review/act-on-entries.ts';
import { describeSelected } from '../review/bulk/describe-selected.ts';
import { markOf, previewBulk, whyTooMany } from '../review/bulk/start-bulk.ts';
import type { App } from '../runtime/app.ts';
import { UserError } from '../runtime/exit-status.ts';
import type { EntryQuery } from '../store/review/entry-query.ts';
import type { SelectedCount } from '../store/review/selected-counts.ts';
import { ask } from '../telemetry/print.ts';
import type { WriteCommand } from './command-line.ts';
import { say } from './write-action.ts';

interface Question {
  /** Fewer entries need no confirmation. */
  readonly from: number;
  /** What happens to so many entries of these kinds. */
  readonly effect: (total: number, kinds: string) => string;
  readonly ask: string;
  readonly refused: string;
  /** How to act without being asked. */
  readonly unasked: (total: number, mark: string) => string;
}

const QUESTIONS = {
  approve: {
    from: 1,
    effect: (total) => `This deletes ${plural(total, 'job')} whose deletes are held.`,
    ask: 'Delete them? [y/N] ',
    refused: 'Nothing was approved.',
    unasked: (total) => `To approve exactly so many without being asked: --count ${total}`,
  },
  discard: {
    from: 2,
    effect: (total, kinds) => `This discards ${plural(total, 'entry', 'entries')}: ${kinds}.`,
    ask: 'Discard them? [y/N] ',
    refused: 'Nothing was discarded.',
    unasked: () => 'To discard them without being asked: --yes',
  },
  missing: {
    from: 1,
    effect: (total) =>
      `This sends ${plural(total, 'create')} in doubt again, except those for which a job was found on the site or whose list still decides. ` +
      'Each whose job the site has made after all gets a second job: look for them on the site first.',
    ask: 'Has the site none of these jobs? [y/N] ',
    refused: 'Nothing was sent again.',
    unasked: (_, mark) => `To send exactly these again without being asked: --mark ${mark}`,
  },
} as const satisfies Record<string, Question>;

/** Returns the selected entries, to which the person agreed. Throws a UserError if nobody can be asked, or the answer is no. */
export async function askAboutSelected(
  { db, config }: Pick<App, 'db' | 'config'>,
  action: keyof typeof QUESTIONS,
  query: EntryQuery,
  write: WriteCommand,
): Promise<readonly SelectedCount[]> {
  const question: Question = QUESTIONS[action];
  const { selected, first } = await previewBulk(db, config, action, query);
  if (first !== undefined) throw new UserError(say(first, write));
  const tooMany = whyTooMany(query, selected);
  if (tooMany !== undefined) throw new UserError(tooMany);
  const total = selected.reduce((sum, { n }) => sum + n, 0);
  if (total < question.from) return selected;
  const effect = question.effect(total, describeKinds(countKinds(selected)));
  const shown = [effect, ...describeSelected(selected)].join('\n  ');
  const answer = await ask(`${shown}\n${question.ask}`);
  if (answer === undefined)
    throw new UserError(`${shown}\n${question.refused} ${question.unasked(total, markOf(selected))}`);
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new UserError(question.refused);
  return selected;
}

function countKinds(selected: readonly SelectedCount[]): Readonly<Record<string, number>> {
  const kinds: Record<string, number> = {};
  for (const { kind, n } of selected) kinds[kind] = (kinds[kind] ?? 0) + n;
  return kinds;
}
