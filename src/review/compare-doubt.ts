// A create in doubt for a person to compare: what was sent, which jobs it may have made, and what the site shows of these.
import type { Config } from '../config/config.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Fields } from '../posting/posting.ts';
import { candidatesOf } from '../store/change/doubt.ts';
import { findChange, type OpenChangeRow } from '../store/change/open-change.ts';
import { doubtOf } from '../store/change/resolve-doubt.ts';
import type { Database } from '../store/postgres/database.ts';
import { type CandidateSite, compareCandidates, type DoubtCandidate } from './compare-candidates.ts';
import { changeVersion } from './entry-version.ts';

/** Jobs that are read from the site at once. */
export const MOST_COMPARED = 5;

export interface ShownDoubt {
  readonly change: OpenChangeRow;
  readonly version: string;
  readonly sent: Fields;
  readonly startedAt: Date;
  /** The jobs that it may have made, as far as they are known. */
  readonly candidateIds: readonly SiteJobId[];
  readonly referenceField: string | undefined;
}

/** `undefined`: the entry is not, or no longer, a create in doubt. */
export async function readDoubt(
  db: Database,
  { sites }: Pick<Config, 'sites'>,
  id: number,
): Promise<ShownDoubt | undefined> {
  const change = await findChange(db, id);
  const doubt = await doubtOf(db, id);
  if (change === undefined || doubt === undefined) return undefined;
  return {
    change,
    version: changeVersion(change),
    sent: doubt.attempt.accepted.fields,
    startedAt: doubt.startedAt,
    candidateIds: await candidatesOf(db, id),
    referenceField: sites.get(change.site)?.options.referenceField,
  };
}

/**
 * Compares with the named jobs; if none is named, with those that the create may have made.
 *
 * @param site `undefined`: it is not configured
 */
export async function compareDoubt(
  db: Database,
  { change, candidateIds }: ShownDoubt,
  named: readonly SiteJobId[],
  site: CandidateSite | undefined,
): Promise<DoubtCandidate[]> {
  const ids = (named.length === 0 ? candidateIds : named).slice(0, MOST_COMPARED);
  if (site === undefined) {
    const message = 'its site is not configured';
    return ids.map((siteJobId) => ({ kind: 'unchecked', siteJobId, message }));
  }
  const doubt = await doubtOf(db, change.id);
  return doubt === undefined ? [] : compareCandidates(db, doubt, ids, site, named.length > 0);
}
