// An action on many entries as the API answers it.
import { bulkJson } from '../../review/read-model/bulk.ts';
import type { App } from '../../runtime/app.ts';
import { findBulk, skippedOfBulk } from '../../store/review/bulk-actions.ts';
import { notFound } from './known.ts';

/** @throws {ProblemError} 404 if there is none with this number */
export async function bulkOf({ db }: App, id: number) {
  const bulk = await findBulk(db, id);
  if (bulk === undefined) throw notFound(`there is no action ${id} on many entries`);
  return bulkJson(bulk, await skippedOfBulk(db, id));
}
