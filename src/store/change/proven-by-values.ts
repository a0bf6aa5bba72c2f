// Proves, where no reference is shown and the title is another, that a job is still its posting's: by a value that no other posting of
// the site has.
import { compareJob } from '../../plan/adopt/compare-job.ts';
import { type AdoptRules, featuresOfJob, featuresOfPosting, isTextField } from '../../plan/adopt/job-features.ts';
import type { StatedTypes } from '../../plan/same-meaning.ts';
import type { PostingKey, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import type { Queryable } from '../postgres/database.ts';
import { type SentValue, sharedValues } from './candidate-owners.ts';

/** A posting that has a job, and what the job shows now. */
export interface PostingAndJob {
  readonly key: PostingKey;
  /** What the site accepted. */
  readonly fields: Fields;
  /** In the form to compare. */
  readonly shown: { readonly fields: Fields; readonly types?: StatedTypes | undefined };
}

/**
 * Whether each of the jobs is certainly its posting's, although it shows another title and no reference: it shows the text of the posting
 * whole, no other place and no other identifying value, and no other posting of the site has that text or those values. Addresses alone prove
 * nothing: an employer uses them for other jobs, too. Of a site that shows references (`rules.showsReferences`), no job without one is. Reads
 * all postings of the site, once, if there is a job that may be.
 */
export async function provenByValues(
  db: Queryable,
  site: SiteName,
  rules: AdoptRules,
  pairs: readonly PostingAndJob[],
): Promise<readonly boolean[]> {
  const compared = pairs.map(({ key, fields, shown }) => {
    // Without the bare forms, the beginning of a value is not taken for a value that was cut: it may be another one's whole value.
    const comparison = compareJob(featuresOfPosting(key, fields, rules), featuresOfJob(shown.fields, rules, shown));
    const { identities } = comparison;
    const mayBe = identities.some(isTextField) && comparison.likeness({ shared: new Set() }) === 'match';
    return { comparison, values: mayBe ? sentValuesOf(fields, identities) : [] };
  });
  const all = compared.flatMap(({ values }) => values);
  const shared = all.length === 0 ? new Set<string>() : await sharedValues(db, site, all);
  return compared.map(({ comparison, values }) => {
    if (values.length === 0) return false;
    const theirs = values.filter(({ name, value }) => shared.has(`${name} ${value}`));
    return comparison.likeness({ shared: new Set(theirs.map(({ name }) => dashed(name))) }) === 'match';
  });
}

/** The values of these names, which are dashed, as they are stored. */
export function sentValuesOf(fields: Fields, names: readonly string[] | ReadonlySet<string>): SentValue[] {
  const wanted = new Set(names);
  return Object.entries(fields).flatMap(([name, value]) => (wanted.has(dashed(name)) ? [{ name, value }] : []));
}

const dashed = (name: string): string => name.replaceAll('_', '-');
