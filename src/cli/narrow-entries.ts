// Options that narrow the entries of a review command: by group, site, text and age.
import type { Command } from 'commander';
import type { Config } from '../config/config.ts';
import type { SiteName } from '../posting/identifiers.ts';
import { selectEntries } from '../review/select-entries.ts';
import type { App } from '../runtime/app.ts';
import { UserError } from '../runtime/exit-status.ts';
import type { EntryQuery } from '../store/review/entry-query.ts';
import { knownFeed } from './feed-name.ts';
import { groupId, searchedText, spanMs } from './option-values.ts';

export interface Narrowing {
  readonly group?: string;
  readonly site?: string;
  readonly text?: string;
  readonly olderThan?: number;
  readonly newerThan?: number;
}

/** Adds the options. */
export const narrowing = (command: Command): Command =>
  withoutGroup(command.option('--group <group>', 'only entries of this group, see: review groups', groupId));

/** Adds the options except `--group`. */
export const withoutGroup = (command: Command): Command =>
  command
    .option('--site <site>', 'only of this site')
    .option(
      '--text <text>',
      'only entries with words that begin with those of the text, in key, title, value or message',
      searchedText,
    )
    .option('--older-than <duration>', 'only entries that have waited so long, such as 12h or 3d', spanMs)
    .option('--newer-than <duration>', 'only entries that have waited less, such as 30min', spanMs);

/** What the options select; `undefined` without any. */
export function narrowed(
  config: Pick<Config, 'sites'>,
  { group, site, text, olderThan, newerThan }: Narrowing,
): EntryQuery | undefined {
  if ([group, site, text, olderThan, newerThan].every((each) => each === undefined)) return undefined;
  return {
    groups: group === undefined ? undefined : [group],
    site: site === undefined ? undefined : knownSite(config, site),
    text,
    olderThanMs: olderThan,
    newerThanMs: newerThan,
  };
}

function knownSite(config: Pick<Config, 'sites'>, name: string): SiteName {
  const known: readonly string[] = [...config.sites.keys()];
  if (known.includes(name)) return name as SiteName;
  throw new UserError(`there is no site ${name}; sites: ${known.join(', ') || 'none'}`);
}

/** Narrows further to the feed that is named besides the options, if any. */
export async function ofFeed({ db, config }: App, query: EntryQuery, names: readonly string[]): Promise<EntryQuery> {
  const [name, other] = names;
  if (name === undefined) return query;
  if (other !== undefined || /^\d+$/.test(name)) {
    throw new UserError('with --group or another selection, name at most one feed, and no entries');
  }
  return { ...query, feed: await knownFeed(db, config, name) };
}

/**
 * Several entries by their numbers, each once.
 * @throws {UserError} if there is no such entry, as it may have been resolved since it was listed
 */
export async function namedEntries({ db, config }: App, names: readonly string[]): Promise<readonly number[]> {
  const selected = await selectEntries(db, config, names);
  if (selected.kind === 'unknown') throw new UserError(selected.message);
  return selected.selection.ids;
}
