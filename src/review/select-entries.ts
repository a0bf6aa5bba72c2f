// Resolves entry numbers and feed names to what selects these entries, or reports those that do not exist.
import { type Config, namedFeeds } from '../config/config.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { findEntries, knownFeeds } from '../store/change/act-in-review.ts';
import type { Queryable } from '../store/postgres/database.ts';
import type { NamedQuery } from './act-on-entries.ts';

export type Selected =
  | { readonly kind: 'selected'; readonly queries: readonly NamedQuery[] }
  /** Do nothing at all; `message` names everything unknown. */
  | { readonly kind: 'unknown'; readonly message: string };

const NUMBER = /^\d{1,15}$/;

/**
 * A name of digits only is an entry number. Feeds that are no longer configured are known as long as the database has
 * them.
 */
export async function selectEntries(db: Queryable, config: Config, names: readonly string[]): Promise<Selected> {
  const ids = [...new Set(names.filter((name) => NUMBER.test(name)).map(Number))];
  const feeds = [...new Set(names.filter((name) => !NUMBER.test(name)))] as FeedName[];
  const found = new Set((await findEntries(db, ids)).map((entry) => entry.id));
  const known = new Set([...namedFeeds(config), ...(feeds.length > 0 ? await knownFeeds(db) : [])]);
  const problems = [
    ...ids.filter((id) => !found.has(id)).map((id) => `there is no open review entry ${id}`),
    ...feeds
      .filter((feed) => !known.has(feed))
      .map((feed) => `there is no feed ${feed}; feeds: ${[...known].join(', ')}`),
  ];
  if (problems.length > 0) return { kind: 'unknown', message: `${problems.join('; ')}. Nothing was done.` };
  return { kind: 'selected', queries: [...(ids.length === 0 ? [] : [{ ids }]), ...feeds.map((feed) => ({ feed }))] };
}
