// Tells whether details of a feed are to be requested again or planned, even if nothing has changed in the list.
import type { Queryable } from '../../store/postgres/database.ts';
import { anyDue } from '../../store/pull/stored-details.ts';
import type { FeedSetup } from '../feed-setup.ts';

export async function anyDetailDue(db: Queryable, { feed, source }: FeedSetup): Promise<boolean> {
  return source.details !== undefined && (await anyDue(db, feed, source.details.refreshMs));
}
