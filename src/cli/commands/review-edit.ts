// `jobmirror review edit`: sets fields of one posting, or of all rejected or failed ones that are selected, and sends them.

import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import type { z } from 'zod';
import { editReviewEntry, setPostingFields } from '../../operations/decisions.ts';
import { OperationRefused, type SingleOperation } from '../../operations/operation.ts';
import { reword } from '../../plan/message.ts';
import { feedName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { readValueTable } from '../../review/csv.ts';
import type { App } from '../../runtime/app.ts';
import { ExitStatus, UserError, worstStatus } from '../../runtime/stop-signal.ts';
import type { BulkEdit } from '../../store/review/bulk-actions.ts';
import {
  ACTOR,
  actorName,
  commandWriter,
  IF_VERSION_NEEDS_ONE_ENTRY,
  isEntryNumber,
  SEEN_HELP,
  wholeNumber,
} from '../adapter/command-line.ts';
import { printing, runSingle, withCommon } from '../adapter/operation-command.ts';
import { withApp } from '../adapter/with-app.ts';
import {
  ALSO_NEW_HELP,
  type DecisionOptions,
  type EntryFilter,
  filterOf,
  namedQueries,
  ofFeed,
  PRINTED_DECISIONS,
  startBulkCommand,
  withFilterOptions,
} from '../bulk-command.ts';
import { sendAndTell } from '../send-and-tell.ts';

interface EditOptions extends DecisionOptions, EditValues {
  readonly alsoNew?: boolean;
  readonly anyway?: boolean;
  readonly allFeeds?: boolean;
  readonly send: boolean;
}

export function reviewEditCommand(): Command {
  const command = printing(withFilterOptions(new Command('edit')), ...PRINTED_DECISIONS)
    .description(
      'set fields of one posting, by the number of its entry or by its feed and key, or of all rejected or failed ones that are selected; an edit applies until the feed changes that field',
    )
    .argument(
      '[id or feed...]',
      'numbers of entries; a feed and the key of a posting, also of one whose job is on the site; with --group or another selection, a feed',
    )
    .option('--set <field=value...>', 'a site field and its text; an empty text removes the field', addField)
    .option(
      '--set-map <field=file>',
      'a site field and a CSV file with two columns, its old and its new text',
      tableOption,
    )
    .option('--count <n>', 'only if exactly this many entries are selected', wholeNumber)
    .option('--also-new', ALSO_NEW_HELP)
    .option(...ANYWAY_OPTIONS)
    .option(...ALL_FEEDS)
    .option('--seen <seen>', SEEN_HELP)
    .option(
      '--if-version <version>',
      'only if the entry is still as review show printed it with this version, or the posting as why --json did',
    )
    .option('--no-send', 'leave the sending to a running worker or to the next sync')
    .option(...ACTOR);
  const json = 'print one JSON object; with a selection one per feed, and one for the action';
  return withCommon(command, json).action(async (names: string[], options: EditOptions) => {
    const filter = filterOf(options);
    const isMany = filter !== undefined || (names.length > 1 && names.every(isEntryNumber));
    if (!isMany) return editOne(names, options);
    return withApp(options, async (app, signal) => {
      const selected = filter === undefined ? await ofEntries(app, names) : ofFeed(filter, names);
      process.exitCode = await editSelected(app, selected, options, signal);
    });
  });
}

/** Several entries by their numbers. */
async function ofEntries(app: App, names: readonly string[]): Promise<EntryFilter> {
  const [name = '', key, more] = names;
  if (more === undefined && app.config.feeds.has(feedName(name))) {
    throw new UserError(
      `${name} may be an entry or the feed of posting ${key}: name one entry at a time, or edit the posting on its page`,
    );
  }
  return { ids: (await namedQueries(app, names)).flatMap(({ ids = [] }) => ids) };
}

function editOne([name, key, more]: readonly string[], options: EditOptions): Promise<void> {
  const isEntry = key === undefined && name !== undefined && isEntryNumber(name);
  if (!isEntry && (key === undefined || more !== undefined)) {
    throw new UserError(
      'name one entry by its number, see: review list; or one posting by its feed and key; or select a group: --group GROUP',
    );
  }
  const { set, setMap, count, alsoNew, config, json = false } = options;
  if (setMap !== undefined || count !== undefined || alsoNew === true || set === undefined) {
    throw new UserError(
      set === undefined && setMap === undefined
        ? 'say what to set: --set FIELD=VALUE'
        : '--set-map, --count and --also-new need a selection, such as --group GROUP',
    );
  }
  if (options.allFeeds === true) throw new UserError('--all-feeds needs a selection, such as --group GROUP');
  const edit = {
    fields: Object.fromEntries(set),
    seen: options.seen,
    version: options.ifVersion,
    anyway: options.anyway,
  };
  const told: Told = {
    async follow(acted, app) {
      const act = { action: 'edit', entries: [acted], feeds: [], acted: [{ id: acted.entry, feed: acted.feed }] };
      const isReady = acted.still_rejected !== true;
      const send = options.send && isReady;
      const status = await sendAndTell(app, act, { json, send, write: commandWriter(config) });
      process.exitCode = worstStatus([status, isReady ? ExitStatus.done : ExitStatus.review]);
    },
  };
  return isEntry
    ? runSingle(withOptionHint(editReviewEntry), { id: Number(name), ...edit }, told, options)
    : runSingle(withOptionHint(setPostingFields), { feed: String(name), key: String(key), ...edit }, told, options);
}

type Told = Parameters<typeof runSingle<typeof editReviewEntry.input, typeof editReviewEntry.output>>[2];

/** All entries of a group or another selection, in batches. */
async function editSelected(
  app: App,
  filter: EntryFilter,
  options: EditOptions,
  signal: AbortSignal,
): Promise<ExitStatus> {
  const { count, seen, alsoNew, anyway, allFeeds, as, json = false, send, config } = options;
  if (options.ifVersion !== undefined) throw new UserError(IF_VERSION_NEEDS_ONE_ENTRY);
  const edit = await editOf(options);
  if (edit === undefined) throw new UserError('say what to set: --set FIELD=VALUE, or --set-map FIELD=FILE');
  const bound = { expected: count ?? filter.ids?.length, seen };
  const request = { action: 'edit', filter, edit, anyway, all_feeds: allFeeds, also_new: alsoNew, ...bound } as const;
  const told = { json, send, write: commandWriter(config), signal, actor: actorName(as) };
  return startBulkCommand(app, request, told).catch(hinted);
}

// Options of commands that edit entries: a field and its text, or a field and a table of texts; and what to add after a refusal.

export const ANYWAY_OPTIONS = [
  '--anyway',
  'edit even if postings would still be rejected; otherwise nothing is done then',
] as const;
export const ALL_FEEDS = [
  '--all-feeds',
  'of all feeds; otherwise nothing is done if the entries are of several',
] as const;

export interface EditValues {
  readonly set?: ReadonlyMap<string, string>;
  readonly setMap?: TableOption;
}

interface TableOption {
  readonly field: string;
  readonly file: string;
}

/** `undefined`: neither option is given. */
export async function editOf({ set, setMap }: EditValues): Promise<BulkEdit | undefined> {
  if (set === undefined && setMap === undefined) return undefined;
  const map = setMap === undefined ? {} : { map: { field: setMap.field, values: await valuesOf(setMap) } };
  return { ...(set === undefined ? {} : { set: Object.fromEntries(set) }), ...map };
}

export function tableOption(text: string): TableOption {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) throw new InvalidArgumentError('It must be FIELD=FILE.');
  return { field: text.slice(0, at).trim(), file: text.slice(at + 1) };
}

async function valuesOf({ file }: TableOption): Promise<Fields> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new UserError(`the table ${file} can't be read: ${(error as Error).message}`);
  }
  const table = readValueTable(text);
  if (table.kind === 'unusable') throw new UserError(`the table ${file} can't be used: ${table.message}`);
  return table.values;
}

export function addField(text: string, before: ReadonlyMap<string, string> | undefined): ReadonlyMap<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be FIELD=VALUE.');
  const name = text.slice(0, at).trim();
  if (before?.has(name)) throw new InvalidArgumentError(`${name} is set twice.`);
  return new Map(before).set(name, text.slice(at + 1));
}

/** An operation that says in its refusal which option would allow it. */
export const withOptionHint = <Input extends z.ZodType, Output extends z.ZodType>(
  operation: SingleOperation<Input, Output>,
): SingleOperation<Input, Output> => ({
  ...operation,
  run: (input, asked) => operation.run(input, asked).catch(hinted),
});

function hinted(error: unknown): never {
  if (!(error instanceof OperationRefused)) throw error;
  const { kind, reason, now, subject } = error;
  if (now.feeds === undefined) throw error;
  const hint = 'To edit those of one feed, name only these or the feed; to edit those of all feeds, add --all-feeds.';
  throw new OperationRefused(
    kind,
    reword(reason, (text) => `${text}\n${hint}`),
    now,
    subject === undefined ? {} : { subject },
  );
}
