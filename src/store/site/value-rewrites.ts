// Stores how a site rewrites the values that it receives: one row per field and kind of rewriting, few of them.
import type { LearntRewrite, LearntRewrites, Observation, RewriteKind } from '../../plan/observe-values.ts';
import type { SiteName } from '../../posting/identifiers.ts';
import type { Queryable } from '../postgres/database.ts';

/** Limits of rewritings per field and of fields per site; further ones are not learnt. */
const MOST_PER_FIELD = 8;
const MOST_FIELDS = 200;
/** Longest addition to a value that is stored. */
const MOST_DETAIL = 100;

export async function learntRewrites(db: Queryable, site: SiteName): Promise<LearntRewrites> {
  const rows = await db.query<{ field: string; kind: RewriteKind; detail: string; seen: number; taught: boolean }>(
    'select field, kind, detail, seen, taught from value_rewrite where site = $1 order by field, kind, detail',
    [site],
  );
  const learnt = new Map<string, LearntRewrite[]>();
  for (const { field, taught, ...plain } of rows) {
    const rewrite: LearntRewrite = taught ? { ...plain, taught } : plain;
    const known = learnt.get(field);
    if (known === undefined) learnt.set(field, [rewrite]);
    else known.push(rewrite);
  }
  return learnt;
}

/**
 * Records rewritings with how often they were observed, at least. Recording the same again changes nothing.
 * @param taught whether a person has confirmed that the site shows the value that was sent.
 */
export async function noteRewrites(
  db: Queryable,
  site: SiteName,
  observed: readonly (Observation & { readonly seen: number })[],
  taught = false,
): Promise<void> {
  const kept = observed
    .filter(({ field, detail }) => field.length <= MOST_DETAIL && detail.length <= MOST_DETAIL)
    .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  if (kept.length === 0) return;
  await db.query(
    `insert into value_rewrite as v (site, field, kind, detail, seen, taught)
     select $1, o.field, o.kind, o.detail, o.seen, $6::boolean
     from unnest($2::text[], $3::text[], $4::text[], $5::int[]) o(field, kind, detail, seen)
     where exists (select from value_rewrite w
                   where w.site = $1 and w.field = o.field and w.kind = o.kind and w.detail = o.detail)
       or ((select count(*) from value_rewrite w where w.site = $1 and w.field = o.field) < ${MOST_PER_FIELD}
         and (select count(distinct w.field) from value_rewrite w where w.site = $1 and w.field <> o.field) < ${MOST_FIELDS})
       or $6::boolean
     on conflict (site, field, kind, detail) do update set seen = greatest(v.seen, excluded.seen),
       taught = v.taught or excluded.taught
     where v.seen < excluded.seen or excluded.taught and not v.taught`,
    [
      site,
      kept.map(({ field }) => field),
      kept.map(({ kind }) => kind),
      kept.map(({ detail }) => detail),
      kept.map(({ seen }) => seen),
      taught,
    ],
  );
}

/** Another site under the same name rewrites differently. */
export async function forgetRewrites(db: Queryable, site: SiteName): Promise<void> {
  await db.query('delete from value_rewrite where site = $1', [site]);
}

/** One order everywhere, so that two processes do not block each other. */
const nameOf = ({ field, kind, detail }: Observation): string => `${field} ${kind} ${detail}`;
