// Resolves a create in doubt as a person decides, after checking on the site that the decision is possible.
import { observe } from '../plan/observe-values.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import { type SiteJob, toCompare } from '../site/exchange.ts';
import type { Doubt } from '../store/change/doubt.ts';
import { type DoubtResolved, resolveDoubt } from '../store/change/resolve-doubt.ts';
import type { Database } from '../store/postgres/database.ts';
import { noteRewrites } from '../store/site/kept-values.ts';
import {
  type CheckedSite,
  type CheckOptions,
  checkVerdict,
  type PersonsVerdict,
  type VerdictRefused,
} from './check-verdict.ts';
import { isUnseen, STALE, tokenOfChange } from './seen.ts';

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
      return STALE;
    case 'owned':
      return `that job belongs to ${resolved.owner}: a site job can have only one posting`;
    default:
      return resolved satisfies never;
  }
}

/** A job that a person confirmed shows how the site rewrites values, so nobody need be asked again. */
async function learnFrom(db: Database, doubt: Doubt, shown: SiteJob | undefined): Promise<void> {
  if (shown === undefined) return;
  const observed = observe(doubt.attempt.accepted.fields, toCompare(shown).fields, shown.fields);
  await noteRewrites(
    db,
    doubt.attempt.site,
    observed.map((one) => ({ ...one, seen: 1 })),
    true,
  );
}
