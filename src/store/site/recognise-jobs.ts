// Recognises unowned site jobs as those of creates that are about to be sent: such a create waits for a person.

import { rewritings } from '../../plan/observe-values.ts';
import { fieldOf } from '../../plan/same-value.ts';
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { putInDoubt, type Recognised } from '../change/put-in-doubt.ts';
import { isTitled } from '../mapping/titled-id.ts';
import type { Queryable } from '../postgres/database.ts';
import { formsOf, partsOf, type Rewriting, SECRET_FORM, secretForm, titleForm } from './reference-forms.ts';
import { learntRewrites } from './value-rewrites.ts';

/** A create that may be sent, with the values by which its job is recognised. */
export interface SearchedCreate {
  readonly key: string;
  readonly reference: string | null;
  readonly title: string | null;
}

const READ_AT_ONCE = 2_000;

/**
 * Puts ready creates in doubt if an unmapped job on the site shows their reference. The caller holds the feed's
 * lock. @returns how many.
 */
export async function doubtCreatesWithJobs(
  tx: Queryable,
  feed: FeedName,
  site: SiteName,
  referenceField: string,
): Promise<number> {
  const [found] = await tx.query<{ secret: boolean | null }>(
    `select bool_or(reference like '${SECRET_FORM}%') as secret from site_reference where site = $1`,
    [site],
  );
  const hasSecret = found?.secret ?? undefined;
  if (hasSecret === undefined) return 0;
  const search = { feed, site, hasSecret, rewrittenAs: await rewriting(tx, site, referenceField) };
  let doubted = 0;
  // References are compared first, so that their jobs are not taken for those of other postings by title.
  for (const recognise of [byReference, byTitle]) {
    for (let last = ''; ; ) {
      const creates = await tx.query<SearchedCreate>(
        `select key, fields->>$3 as reference, fields->>'title' as title from change
         where feed = $1 and key > $2 and state = 'ready' and operation = 'create' and desired = 'present'
         order by key limit ${READ_AT_ONCE}`,
        [feed, last, referenceField],
      );
      doubted += (await putInDoubt(tx, feed, await recognise(tx, search, creates))).size;
      if (creates.length < READ_AT_ONCE) break;
      last = (creates.at(-1) as SearchedCreate).key;
    }
  }
  return doubted;
}

/**
 * The same for these creates, which may have become ready in any way: by an edit, a retry, a reopened entry.
 * @returns the keys of those that wait.
 */
export async function doubtAmong(
  tx: Queryable,
  feed: FeedName,
  site: SiteName,
  referenceField: string,
  creates: readonly SearchedCreate[],
): Promise<ReadonlySet<string>> {
  const search = { feed, site, hasSecret: true, rewrittenAs: await rewriting(tx, site, referenceField) };
  const doubted = await putInDoubt(tx, feed, await byReference(tx, search, creates));
  const others = creates.filter(({ key }) => !doubted.has(key));
  const alike = await putInDoubt(tx, feed, await byTitle(tx, search, others));
  return new Set([...doubted, ...alike]);
}

interface Search {
  readonly feed: FeedName;
  readonly site: SiteName;
  /** Whether a found reference may contain a token. */
  readonly hasSecret: boolean;
  /** How the site is known to rewrite a reference. */
  readonly rewrittenAs: Rewriting;
}

async function rewriting(tx: Queryable, site: SiteName, referenceField: string): Promise<Rewriting> {
  const learnt = await learntRewrites(tx, site);
  return (reference) => rewritings(learnt, referenceField, reference);
}

const UNOWNED = `(r.contradicts or not exists (select from mapping m where m.site = r.site and m.site_job_id = r.site_job_id)
         and not ${isTitled('r.site', 'r.site_job_id')})
       and not exists (select from mapping m where m.feed = $2 and m.key = a.key)
       and not exists (select from refuted_job x
         where x.feed = $2 and x.key = a.key and x.site = r.site and x.site_job_id = r.site_job_id)
       and (r.by_search or not exists (select from feed_state f where f.feed = $2 and f.site_declared))`;

/** Recognises jobs by their references, in any common form. */
async function byReference(
  tx: Queryable,
  { feed, site, hasSecret, rewrittenAs }: Search,
  creates: readonly SearchedCreate[],
): Promise<Recognised[]> {
  const asked = creates.flatMap(({ key, reference }) => {
    const forms = formsOf(reference ?? key, rewrittenAs);
    return [...forms, ...(hasSecret ? forms.map(secretForm) : [])].map((form) => ({ key, form }));
  });
  const found = await tx.query<{ key: string; id: string }>(
    `select distinct on (a.key) a.key, r.site_job_id as id
     from unnest($3::text[], $4::text[]) a(key, form) join site_reference r on r.site = $1 and r.reference = a.form
     where ${UNOWNED} order by a.key, length(r.reference) desc, r.site_job_id`,
    [site, feed, asked.map(({ key }) => key), asked.map(({ form }) => form)],
  );
  return found.map((each) => ({ ...each, kind: 'found_on_site' }));
}

/**
 * Recognises jobs by their titles if the list shows no references, or one reference is part of the other: sites truncate
 * references, add to them, or keep only their digits. A partial reference alone proves nothing: consecutive numbers overlap.
 */
async function byTitle(
  tx: Queryable,
  { feed, site, rewrittenAs }: Search,
  creates: readonly SearchedCreate[],
): Promise<Recognised[]> {
  const asked = creates.flatMap(({ key, reference, title }) => {
    const clue = titleForm(title);
    if (clue === null) return [];
    return partsOf(reference ?? key, rewrittenAs).map((form) => ({ key, clue, form }));
  });
  const found = await tx.query<{ key: string; id: string }>(
    `select distinct on (a.key) a.key, r.site_job_id as id
     from unnest($3::text[], $4::text[], $5::text[]) a(key, title, form)
       join site_reference r on r.site = $1 and r.title = a.title
     where r.reference not like '${SECRET_FORM}%' and (r.reference = '' or (strpos(r.reference, a.form) > 0 or strpos(a.form, r.reference) > 0)
         and 3 * least(length(r.reference), length(a.form)) >= greatest(length(r.reference), length(a.form)))
       and not exists (select from change o where o.feed = $2 and o.state = 'in_doubt' and o.found_job_id = r.site_job_id
                       and o.key <> a.key and o.reason->>'kind' = 'found_on_site')
       and ${UNOWNED}
     order by a.key, length(r.reference) desc, r.site_job_id`,
    [site, feed, asked.map(({ key }) => key), asked.map(({ clue }) => clue), asked.map(({ form }) => form)],
  );
  return found.map((each) => ({ ...each, kind: 'resembles_on_site' }));
}

/**
 * A person said that the site has no job of this posting: jobs recognised by its reference are not proposed again.
 * @param only the jobs that the person was asked about; absent: all
 */
export async function refuteFound(
  tx: Queryable,
  { feed, key, site }: { readonly feed: FeedName; readonly key: PostingKey; readonly site: SiteName },
  fields: Fields,
  only?: readonly SiteJobId[],
): Promise<void> {
  const [known] = await tx.query<{ field: string }>(
    'select field from site_reference where site = $1 and field is not null limit 1',
    [site],
  );
  if (known === undefined) return;
  const forms = formsOf(fieldOf(fields, known.field) ?? key, await rewriting(tx, site, known.field));
  await tx.query(
    `insert into refuted_job (site, site_job_id, feed, key)
     select site, site_job_id, $2, $3 from site_reference where site = $1 and reference = any($4::text[])
       and ($5::text[] is null or site_job_id = any($5))
     on conflict do nothing`,
    [site, feed, key, [...forms, ...forms.map(secretForm)], only ?? null],
  );
}
