// Resolves many creates in doubt: sends again those that the site has not made, or has the list of the site read again for them.
import { STATE_WORDS } from '../review/entry-outcome.ts';
import type { App } from '../runtime/app.ts';
import { type ExitStatus, UserError } from '../runtime/exit-status.ts';
import { findEntries } from '../store/change/act-in-review.ts';
import type { DoubtAction } from '../store/review/bulk-actions.ts';
import type { EntryQuery } from '../store/review/entry-query.ts';
import { actorName } from './actor.ts';
import { askAboutSelected } from './ask-about-selected.ts';
import { commandWriter } from './command-line.ts';
import { type Narrowing, namedEntries, narrowed, ofFeed } from './narrow-entries.ts';
import { startBulkCommand } from './run-bulk-command.ts';

export interface ResolveManyOptions extends Narrowing {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
  readonly missing?: boolean;
  readonly count?: number;
  readonly mark?: string;
  readonly send: boolean;
}

/** Returns the exit status. */
export async function resolveMany(
  app: App,
  names: readonly string[],
  options: ResolveManyOptions,
  signal: AbortSignal,
): Promise<ExitStatus> {
  const action: DoubtAction = options.missing === true ? 'missing' : 'check';
  const selection = await selectionOf(app, names, options);
  const query = { ...selection, kinds: ['in_doubt'] as const };
  const { json = false, send, count, mark } = options;
  // As many other creates may be in doubt by now, so their number alone does not show that somebody saw them.
  const write = commandWriter(options.config);
  const asks = action === 'missing' && mark === undefined;
  const agreed = asks ? await askAboutSelected(app, action, query, write) : undefined;
  if (count !== undefined && agreed !== undefined) expectCount(agreed, count);
  const request = {
    action,
    actor: actorName(options.as),
    expected: agreed ?? count ?? selection.ids?.length,
    mark,
    detail: { query },
  };
  return startBulkCommand(app, request, { json, send, write, signal });
}

async function selectionOf(app: App, names: readonly string[], options: ResolveManyOptions): Promise<EntryQuery> {
  const within = narrowed(app.config, options);
  if (within !== undefined) return ofFeed(app, within, names);
  if (names.length === 0) throw new UserError('name entries or a feed, or select a group: --group GROUP');
  if (!names.every((name) => /^\d{1,15}$/.test(name))) return ofFeed(app, {}, names);
  const ids = await namedEntries(app, names);
  const other = (await findEntries(app.db, ids)).find(({ state }) => state !== 'in_doubt');
  if (other === undefined) return { ids };
  throw new UserError(`entry ${other.id} is not in doubt, but ${STATE_WORDS[other.state]}. Nothing was done.`);
}

function expectCount(selected: readonly { readonly n: number }[], count: number): void {
  const total = selected.reduce((sum, { n }) => sum + n, 0);
  if (total !== count) throw new UserError(`${total} creates in doubt are selected, not ${count}. Nothing was done.`);
}
