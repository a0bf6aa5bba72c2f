// Resolves creates in doubt as a person decides: one, after checking on the site that the decision is possible; or many, as far as that
// is safe for many at once: whatever has a possible job on the site is left to a person who compares the two.
import type { Config, SiteConfig } from '../config/config.ts';
import { observe } from '../plan/observe-values.ts';
import type { FeedName, PostingKey, SiteName } from '../posting/identifiers.ts';
import { type SiteJob, withRevealedFields } from '../site/exchange.ts';
import { addressOf } from '../site/http/job-address.ts';
import type { ActedEntry, AuditNote } from '../store/change/act-in-review.ts';
import type { Doubt } from '../store/change/doubt.ts';
import {
  checkAgain,
  type DoubtFacts,
  type DoubtResolved,
  readDoubtFacts,
  refuteEntry,
  resolveDoubt,
} from '../store/change/resolve-doubt.ts';
import type { Database, Queryable } from '../store/postgres/database.ts';
import type { DoubtAction } from '../store/review/bulk-actions.ts';
import { noteRewrites } from '../store/site/kept-values.ts';
import { findMove } from '../store/site/known-address.ts';
import {
  type CheckedSite,
  type CheckOptions,
  checkVerdict,
  MAY_STILL_ARRIVE,
  mayStillArrive,
  type PersonsVerdict,
  type VerdictRefused,
} from './health/check-verdict.ts';
import { CHANGED_SINCE_SHOWN, isUnseen, tokenOfChange } from './seen.ts';

export type ResolveReport =
  | {
      readonly kind: 'recorded';
      readonly feed: FeedName;
      readonly key: PostingKey;
      /** What could not be checked. */
      readonly warning: string | undefined;
    }
  | VerdictRefused;

export interface ResolveOptions extends CheckOptions {
  readonly actor: string;
  readonly site: (CheckedSite & { readonly resolveAfterMs: number }) | undefined;
}

export async function resolveEntry(
  db: Database,
  entry: number,
  verdict: PersonsVerdict,
  options: ResolveOptions,
): Promise<ResolveReport> {
  const checked = await checkVerdict(db, entry, verdict, options);
  if (checked.kind === 'refused') return checked;
  const { doubt, shown, warning } = checked;
  const { actor, seen } = options;
  const resolved = await resolveDoubt(db, entry, doubt.attempt.token, checked.verdict, {
    actor,
    isSeen: (change) => !isUnseen(seen, tokenOfChange(change)),
  });
  const message = whyUnresolved(resolved);
  if (message !== undefined) return { kind: 'refused', message, ...(resolved.kind === 'altered' && { stale: true }) };
  await learnFrom(db, doubt, shown);
  const { feed, key } = doubt.attempt;
  return { kind: 'recorded', feed, key, warning };
}

/** Why a decision that was possible was not recorded; `undefined`: it was. */
export function whyUnresolved(resolved: DoubtResolved): string | undefined {
  switch (resolved.kind) {
    case 'recorded':
      return undefined;
    case 'not_in_doubt':
      return 'it is no longer in doubt';
    case 'altered':
      return CHANGED_SINCE_SHOWN;
    case 'owned':
      return `that job belongs to ${resolved.owner}: a site job can have only one posting`;
    default:
      return resolved satisfies never;
  }
}

/** A job that a person confirmed shows how the site rewrites values, so nobody need be asked again. */
async function learnFrom(db: Database, doubt: Doubt, shown: SiteJob | undefined): Promise<void> {
  if (shown === undefined) return;
  const observed = observe(doubt.attempt.accepted.fields, withRevealedFields(shown).fields, shown.fields);
  await noteRewrites(
    db,
    doubt.attempt.site,
    observed.map((one) => ({ ...one, seen: 1 })),
    true,
  );
}

/** Resolves the doubts among these entries, which the transaction has locked. */
export async function resolveEntries(
  tx: Queryable,
  { sites }: Pick<Config, 'sites'>,
  action: DoubtAction,
  ids: readonly number[],
  { actor, note }: { readonly actor: string; readonly note: AuditNote },
): Promise<{
  readonly acted: readonly ActedEntry[];
  readonly left: readonly { readonly entry: number; readonly why: string }[];
}> {
  const facts = new Map((await readDoubtFacts(tx, ids)).map((each) => [each.id, each]));
  const moved = await movedSites(tx, sites, [...facts.values()]);
  const left: { entry: number; why: string }[] = [];
  const chosen: DoubtFacts[] = [];
  for (const entry of ids) {
    const doubt = facts.get(entry);
    const why =
      doubt === undefined ? NOT_IN_DOUBT : WHY_NOT[action](doubt, sites.get(doubt.site), moved.has(doubt.site));
    if (why !== undefined) left.push({ entry, why });
    else if (doubt !== undefined) chosen.push(doubt);
  }
  const entries = chosen.map((doubt) => doubt.id);
  if (action === 'check') await checkAgain(tx, entries, actor, note);
  else for (const entry of entries) await refuteEntry(tx, entry, actor, note);
  return { acted: chosen.map((doubt) => ({ id: doubt.id, feed: doubt.feed })), left };
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
    if (mayStillArrive(doubt.sinceMs, site.doubts.resolveAfterMs)) return MAY_STILL_ARRIVE;
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
