// Decides which entries have waited too long for a person.
import type { Config } from '../config/config.ts';
import type { SiteName } from '../posting/identifiers.ts';
import type { ChangeState } from '../store/change/life-cycle.ts';
import type { EntryKind } from '../store/review/review-entries.ts';

/** Holds and doubts escalate: while they wait, jobs stay open or may exist twice. */
export function escalates(
  entry: { readonly kind: EntryKind | ChangeState; readonly site: SiteName | undefined; readonly ageMs: number },
  config: Pick<Config, 'sites'>,
): boolean {
  if (entry.kind !== 'held' && entry.kind !== 'in_doubt') return false;
  const site = entry.site === undefined ? undefined : config.sites.get(entry.site);
  return site !== undefined && entry.ageMs > site.doubts.escalateAfterMs;
}
