// Judges whose job a site shows: that of a create in doubt, perhaps, or certainly another's. All open creates of the site are compared.
import type { JobComparison, Likeness } from '../plan/adopt/compare-job.ts';
import type { AdoptRules } from '../plan/adopt/job-features.ts';
import { CLOCK_SKEW_MS, isTimely, OpenContents, type OpenCreate } from '../plan/adopt/open-contents.ts';
import { type PlaceRules, UNKNOWN_PLACES } from '../plan/adopt/place-likeness.ts';
import { meansTheSame, typeOf } from '../plan/same-meaning.ts';
import { compareValues, fieldOf } from '../plan/same-value.ts';
import { type SiteJob, toCompare } from '../site/exchange.ts';
import {
  openCreates,
  openReferences,
  sentValuesOf,
  sharedKeys,
  sharedValues,
} from '../store/change/candidate-owners.ts';
import type { Doubt } from '../store/change/doubt.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { learntRewrites } from '../store/site/kept-values.ts';

export interface JudgedJob {
  readonly likeness: Likeness;
  /** Another open create that has sent exactly what the job shows, while this one has sent something else. */
  readonly equalTo: Pick<OpenCreate, 'feed' | 'key' | 'entry'> | undefined;
  /** Names of the sent fields that the job shows with another value. */
  readonly differing: ReadonlySet<string>;
}

export interface DoubtJudge {
  readonly rules: AdoptRules;
  judge(shown: SiteJob): Promise<JudgedJob>;
}

/** What the comparison needs to know of the site. */
export interface JudgedSite {
  readonly referenceField: string | undefined;
  /** Default: places count as the same only if they are spelled alike. */
  readonly places?: PlaceRules;
}

export async function judgeOf(
  db: Queryable,
  doubt: Doubt,
  { referenceField, places = UNKNOWN_PLACES }: JudgedSite,
): Promise<DoubtJudge> {
  const { feed, key, site, accepted } = doubt.attempt;
  const rules = { referenceField, ...places, learnt: await learntRewrites(db, site) };
  const own = createOf(doubt);
  const { creates, areCut } = await openCreates(db, site);
  const others = creates.filter((other) => other.feed !== feed || other.key !== key);
  const contents = new OpenContents([own, ...others], rules, { areCut });
  const content = contents.of(own);
  const isReferenceShared = await sharesReference(db, doubt, referenceField);
  const window = doubt.found
    ? undefined
    : { notBefore: new Date(doubt.startedAt.getTime() - CLOCK_SKEW_MS), notAfter: undefined };
  return {
    rules,
    async judge(shown) {
      const job = toCompare(shown);
      const compared = contents.compare(contents.look(job));
      const comparison = contents.compareWith(content, job);
      const values = sentValuesOf(accepted.fields, comparison.identities);
      const theirs = values.length === 0 ? new Set<string>() : await sharedValues(db, site, values);
      const shared = values.filter(({ name, value }) => theirs.has(`${name} ${value}`)).map(({ name }) => name);
      const equal = compared.equalTo(content);
      return {
        likeness: compared.likeness(content, {
          timely: isTimely(window, shown.createdAt),
          isReferenceShared,
          shared: new Set(shared.map((name) => name.replaceAll('_', '-'))),
        }),
        equalTo: equal?.creates[0],
        differing: differingNames(doubt, job, comparison, rules),
      };
    },
  };
}

const createOf = ({ attempt, startedAt, found }: Doubt): OpenCreate => ({
  feed: attempt.feed,
  key: attempt.key,
  entry: 0,
  fields: attempt.accepted.fields,
  contentHash: attempt.accepted.contentHash.toString('hex'),
  startedAt: found ? undefined : startedAt,
  isInDoubt: true,
});

async function sharesReference(db: Queryable, { attempt }: Doubt, field: string | undefined): Promise<boolean> {
  if ((await sharedKeys(db, attempt.site, [attempt])).size > 0) return true;
  const own = field === undefined ? undefined : fieldOf(attempt.accepted.fields, field)?.trim();
  if (field === undefined || !own) return false;
  const sent = await openReferences(db, attempt.site, field);
  return sent.filter(({ reference }) => reference.trim() === own).length > 1;
}

/** The grades under which a field is compared, if not under its own name. */
function gradeName(name: string, { stateField }: PlaceRules): string {
  if (name === 'title') return ' title';
  return name === 'location-city' || name === stateField.replaceAll('_', '-') ? ' place' : name;
}

const SAME = 3;

function differingNames(
  { attempt }: Doubt,
  { fields: shown, types }: SiteJob,
  { grades }: JobComparison,
  rules: AdoptRules,
): ReadonlySet<string> {
  const names = Object.entries(attempt.accepted.fields).flatMap(([name, value]) => {
    const says = fieldOf(shown, name);
    if (says === undefined || compareValues(value, says) !== undefined) return [];
    if (meansTheSame(value, says, typeOf(types, name))) return [];
    return grades.get(gradeName(name.replaceAll('_', '-'), rules)) === SAME ? [] : name;
  });
  return new Set(names);
}
