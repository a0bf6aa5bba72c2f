// Checks a feed name given to a command.
import { type Config, namedFeeds } from '../../config/config.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { knownFeeds } from '../../store/change/act-in-review.ts';
import type { Queryable } from '../../store/postgres/database.ts';

/** A feed of the configuration, or one still in the database. Otherwise throws a UserError that lists the known feeds. */
export async function knownFeed(db: Queryable, config: Config, name: string): Promise<FeedName> {
  const known = new Set<string>([...namedFeeds(config), ...(await knownFeeds(db))]);
  if (known.has(name)) return name as FeedName;
  throw new UserError(`there is no feed ${name}; feeds: ${[...known].join(', ') || 'none'}`);
}
