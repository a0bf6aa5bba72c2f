// Options and arguments of review commands that select entries: by group, site, text and age, by feed, or by number.
import type { Command } from 'commander';
import type { z } from 'zod';
import { filterMembers, type filterSchema } from '../../operations/review.ts';
import type { NamedQuery } from '../../review/act-on-entries.ts';
import { selectEntries } from '../../review/select-entries.ts';
import type { App } from '../../runtime/app.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { addOptions, type GivenOptions, givenMembers } from '../adapter/operation-command.ts';

/** What a selection is as the input of an operation. */
export type EntryFilter = z.output<typeof filterSchema>;

const { feed: _feed, ...NARROWING } = filterMembers;

/** How the members of a filter are called on the command line. */
export const FILTER_FORM = {
  flags: {
    group: 'group <group>',
    site: 'site <site>',
    q: 'text <text>',
    older_than: 'older-than <duration>',
    newer_than: 'newer-than <duration>',
    kind: 'kind <kind>',
  },
  help: {
    feed: 'only of this feed',
    group: 'only entries of this group, see: review groups',
    site: 'only of this site',
    q: 'only entries with words that begin with those of the text, in key, title, value or message',
    older_than: 'only entries that have waited so long, such as 12h or 3d',
    newer_than: 'only entries that have waited less, such as 30min',
  },
} as const;

/** Adds the options that narrow a selection. */
export const narrowing = (command: Command): Command => addOptions(command, NARROWING, FILTER_FORM);

/** What the options select; `undefined` without any. */
export function narrowed(options: GivenOptions): EntryFilter | undefined {
  const given = givenMembers(NARROWING, FILTER_FORM, options);
  // A variable of a script may be empty; that must not select everything.
  if (typeof given.q === 'string' && given.q.trim() === '') throw new UserError('--text must name a word');
  return Object.keys(given).length === 0 ? undefined : (given as EntryFilter);
}

/** Narrows further to the feed that is named besides the options, if any. */
export function ofFeed(filter: EntryFilter, names: readonly string[]): EntryFilter {
  const [feed, other] = names;
  if (feed === undefined) return filter;
  if (other !== undefined || /^\d+$/.test(feed)) {
    throw new UserError('with --group or another selection, name at most one feed, and no entries');
  }
  return { ...filter, feed };
}

/** Entries by number and feeds by name. @throws {UserError} with all that are unknown: an entry may have been resolved since it was listed */
export async function namedQueries({ db, config }: App, names: readonly string[]): Promise<readonly NamedQuery[]> {
  const selected = await selectEntries(db, config, names);
  if (selected.kind === 'unknown') throw new UserError(selected.message);
  return selected.queries;
}
