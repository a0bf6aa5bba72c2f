// Resolves one batch of creates in doubt, as far as that is safe for many at once: whatever has a possible job on the site is left
// to a person who compares the two.
import type { Config, SiteConfig } from '../../config/config.ts';
import type { SiteName } from '../../posting/identifiers.ts';
import { addressOf } from '../../site/base-address.ts';
import { checkAgain, type DoubtFacts, readDoubtFacts, refuteEntry } from '../../store/change/resolve-doubt.ts';
import type { Queryable } from '../../store/postgres/database.ts';
import type { BulkRow, DoubtAction } from '../../store/review/bulk-actions.ts';
import { findMove } from '../../store/site/known-address.ts';
import { MAY_STILL_ARRIVE } from '../check-verdict.ts';
import type { BatchActed } from './edit-batch.ts';

export function doubtResolver({ sites }: Pick<Config, 'sites'>) {
  /** Resolves the doubts among these entries, which the transaction has locked. */
  return async (
    tx: Queryable,
    { id, actor }: BulkRow,
    ids: readonly number[],
    action: DoubtAction,
  ): Promise<BatchActed> => {
    const facts = new Map((await readDoubtFacts(tx, ids)).map((each) => [each.id, each]));
    const moved = await movedSites(tx, sites, [...facts.values()]);
    const skipped: { entry: number; why: string }[] = [];
    const chosen: DoubtFacts[] = [];
    for (const entry of ids) {
      const doubt = facts.get(entry);
      const why =
        doubt === undefined ? NOT_IN_DOUBT : WHY_NOT[action](doubt, sites.get(doubt.site), moved.has(doubt.site));
      if (why !== undefined) skipped.push({ entry, why });
      else if (doubt !== undefined) chosen.push(doubt);
    }
    const note = { bulk: id };
    const entries = chosen.map((doubt) => doubt.id);
    if (action === 'check') await checkAgain(tx, entries, actor, note);
    else for (const entry of entries) await refuteEntry(tx, entry, actor, note);
    return { acted: chosen.map((doubt) => ({ id: doubt.id, feed: doubt.feed })), remaining: 0, skipped };
  };
}

const NOT_IN_DOUBT = 'it is not in doubt';
const UNKNOWN_SITE = 'its site is not configured';
const MOVED = 'the jobs of its site were made at another address than base_url has now: what that shows proves nothing';
const DECIDE_ALONE = 'a job on the site may be its own: compare the two, and decide it by itself';

/** The sites whose jobs were made at another address than the configured one. */
async function movedSites(
  tx: Queryable,
  sites: Config['sites'],
  doubts: readonly DoubtFacts[],
): Promise<ReadonlySet<SiteName>> {
  const moved = new Set<SiteName>();
  for (const name of new Set(doubts.map(({ site }) => site))) {
    const site = sites.get(name);
    if (site === undefined) continue;
    if ((await findMove(tx, name, addressOf(site.options))) !== undefined) moved.add(name);
  }
  return moved;
}

type WhyNot = (doubt: DoubtFacts, site: SiteConfig | undefined, isMoved: boolean) => string | undefined;

/**
 * | the doubt                                              | missing | check                    |
 * |--------------------------------------------------------|---------|--------------------------|
 * | its site has another address than when it was sent     | no      | yes: once that is clear  |
 * | a search has found a job for it                        | no      | no: no list decides it   |
 * | the list shows jobs that may be its own                | no      | yes                      |
 * | its request may still arrive                           | no      | yes: once it is due      |
 * | the site has a list, which was readable or not yet read | no     | yes                      |
 * | the site has a list, which could not be used           | yes     | yes                      |
 * | the site has no list                                   | yes     | no                       |
 * | its job showed the reference of another posting        | unless the site has a list | no: no list decides it |
 */
const WHY_NOT: Readonly<Record<DoubtAction, WhyNot>> = {
  missing(doubt, site, isMoved) {
    if (site === undefined) return UNKNOWN_SITE;
    if (isMoved) return MOVED;
    if (doubt.found || doubt.possible) return DECIDE_ALONE;
    if (doubt.sinceMs < site.doubts.resolveAfterMs) return MAY_STILL_ARRIVE;
    if (site.options.listPath !== undefined && !doubt.unread)
      return doubt.foreign ? DECIDE_ALONE : 'the list of its site is being read for it, and decides it';
    return undefined;
  },
  check(doubt, site) {
    if (site === undefined) return UNKNOWN_SITE;
    if (doubt.found || doubt.foreign) return DECIDE_ALONE;
    return site.options.listPath === undefined ? 'its site has no list to read (list_path)' : undefined;
  },
};
