// Recognises unowned site jobs as those of creates that are about to be sent, by the judgement of `mappings adopt`: what may be the job
// of a create makes it wait for a person.
import { compareJob, LEAST_SCORE } from '../../plan/match/compare-job.ts';
import {
  type AdoptRules,
  blockingKeysOfPosting,
  featuresOfJob,
  featuresOfPosting,
  type JobFeatures,
  type PostingFeatures,
} from '../../plan/match/job-features.ts';
import { UNKNOWN_PLACES } from '../../plan/match/likeness.ts';
import { INCOMPLETE_FEED, type JobCandidate, judgeCandidates } from '../../plan/match/whose-job.ts';
import { rewritings } from '../../plan/observe-values.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { columnsOf, type Queryable } from '../postgres/database.ts';
import { isTitled, learntRewrites } from '../site/kept-values.ts';
import { formsOf, partsOf, SECRET_FORM, secretForm, titleBlock } from '../site/unowned-jobs.ts';
import { putInDoubt, type RecognisedCreate, unsettleFound } from './doubt.ts';

/** How the jobs of a site are compared with postings. What the site makes of values is read from the database. */
export type SiteRules = Omit<AdoptRules, 'learnt'>;

/** A create that may be sent, with what it would send. */
export interface SearchedCreate {
  readonly key: string;
  readonly fields: Fields;
}

const READ_AT_ONCE = 200;
/**
 * So many jobs of a block are compared with a posting. If the site shows more with its title and place, its text, or nothing but its place
 * that could be compared, a person decides; all other blocks are only hints.
 */
const MOST_OF_BLOCK = 1_000;
const DECISIVE: readonly string[] = ['title', 'text', 'place'];
const MOST_OF_HINT = 100;
/** Candidates of a posting that are kept; the best ones are named to a person. */
const MOST_CANDIDATES = 20;
/** Features of this many jobs are kept; each takes about a kilobyte. */
const MOST_CACHED = 5_000;

/**
 * Puts ready creates in doubt for which the site shows a job that may be theirs. The caller holds the feed's lock.
 * @param pull only those that this pull has planned; all others are compared when they are claimed. @returns how many.
 */
export async function doubtCreatesWithJobs(
  tx: Queryable,
  feed: FeedName,
  site: SiteName,
  rules: SiteRules,
  pull?: number,
): Promise<number> {
  const search = await openSearch(tx, feed, site, rules);
  if (search === undefined) return 0;
  for (let last = ''; ; ) {
    const creates = await tx.query<{ key: string; fields: Fields }>(
      `select key, fields from change
       where feed = $1 and key > $2 and state = 'ready' and operation = 'create' and desired = 'present'
         and ($3::bigint is null or pull = $3)
       order by key limit ${READ_AT_ONCE}`,
      [feed, last, pull ?? null],
    );
    await search.compare(creates);
    if (creates.length < READ_AT_ONCE) break;
    last = (creates.at(-1) as SearchedCreate).key;
  }
  return (await search.conclude()).size;
}

/**
 * The same for these creates, which may have become ready in any way: by an edit, a retry, a reopened entry.
 * @returns the keys of those that wait.
 */
export async function doubtAmong(
  tx: Queryable,
  feed: FeedName,
  site: SiteName,
  rules: SiteRules,
  creates: readonly SearchedCreate[],
): Promise<ReadonlySet<string>> {
  const search = await openSearch(tx, feed, site, rules);
  if (search === undefined) return new Set();
  await search.compare(creates);
  return search.conclude();
}

/** `undefined`: the site has no job that nobody owns, as far as the database knows. */
async function openSearch(
  tx: Queryable,
  feed: FeedName,
  site: SiteName,
  rules: SiteRules,
): Promise<Search | undefined> {
  const [found] = await tx.query<{ field: string | null; secret: boolean; declared: boolean; incomplete: boolean }>(
    `select r.field, exists (select from site_reference s where s.site = $1 and s.secret) as secret,
       exists (select from feed_state f where f.feed = $2 and f.site_declared) as declared,
       coalesce((select not p.complete from pull p where p.feed = $2 and p.status <> 'running' order by p.id desc limit 1), false) as incomplete
     from site_reference r where r.site = $1 limit 1`,
    [site, feed],
  );
  if (found === undefined) return undefined;
  return new Search(tx, feed, site, {
    // The field in which the references of the jobs were read.
    rules: { ...rules, referenceField: found.field ?? undefined, learnt: await learntRewrites(tx, site) },
    hasSecret: found.secret,
    isDeclared: found.declared,
    isIncomplete: found.incomplete,
  });
}

interface SearchFacts {
  readonly rules: AdoptRules;
  /** Whether a found reference may contain a token. */
  readonly hasSecret: boolean;
  /** A person said that the site has no job of the feed: only a reference of the posting is a reason to ask. */
  readonly isDeclared: boolean;
  /** The feed was not read to its end, so a job may be that of a posting which is not known yet. */
  readonly isIncomplete: boolean;
}

/** A job that was compared with a posting. The counts follow once all postings were compared. */
type Compared = Omit<
  JobCandidate,
  keyof typeof NOT_STORED | 'jobsOfReference' | 'postingsOfReference' | 'jobsOfContent' | 'postingsOfContent'
>;

/** Jobs that were deleted or have an owner are not stored. */
const NOT_STORED = { isOwned: false, wasDeleted: false };

/** A posting with the jobs that may be its own, best first. */
interface Likely {
  readonly key: string;
  readonly candidates: readonly Compared[];
  /** The site shows more jobs like it than were compared. */
  readonly isCrowded: boolean;
}

/** A stored job with what is compared of it. */
interface StoredJob {
  readonly id: string;
  readonly features: JobFeatures;
  readonly isSecret: boolean;
  readonly mayBeOthers: boolean;
}

/** SQL condition: nobody owns the job `r` and no person said that it is not the posting `a.key` of feed $2, or none of it. */
const UNOWNED = `not exists (select from mapping m where m.site = r.site and m.site_job_id = r.site_job_id and not r.contradicts)
         and (r.contradicts or not ${isTitled('r.site', 'r.site_job_id')})`;
const UNREFUTED = `not exists (select from refuted_job x where x.feed = $2 and x.key = a.key and x.site = r.site
         and (x.site_job_id = r.site_job_id or x.site_job_id = '' and r.found_at <= x.at))
       and not exists (select from mapping m where m.feed = $2 and m.key = a.key)
       and (r.by_search or not exists (select from feed_state f where f.feed = $2 and f.site_declared))`;

/** Compares the creates of a feed with the stored jobs of its site. */
class Search {
  readonly #tx: Queryable;
  readonly #feed: FeedName;
  readonly #site: SiteName;
  readonly #facts: SearchFacts;
  readonly #likely: Likely[] = [];
  readonly #jobs = new Map<string, StoredJob>();

  constructor(tx: Queryable, feed: FeedName, site: SiteName, facts: SearchFacts) {
    this.#tx = tx;
    this.#feed = feed;
    this.#site = site;
    this.#facts = facts;
  }

  /** Keeps those of the creates that the site may have jobs of. */
  async compare(creates: readonly SearchedCreate[]): Promise<void> {
    const { rules, isDeclared } = this.#facts;
    const postings = creates.map(({ key, fields }) => ({ key, features: featuresOfPosting(key, fields, rules) }));
    const byReference = await this.#findByReference(postings);
    const byPart = await this.#findByPart(postings);
    const byContent = isDeclared ? { ids: new Map(), crowded: new Set() } : await this.#findByContent(postings);
    for (const { key, features } of postings) {
      const referenced = new Set([...(byReference.get(key) ?? []), ...(byPart.get(key) ?? [])]);
      const ids = [...new Set([...referenced, ...(byContent.ids.get(key) ?? [])])];
      if (ids.length === 0) continue;
      const isCrowded = byContent.crowded.has(key);
      const compared = (await this.#stored(ids)).flatMap((job) => {
        const comparison = compareJob(features, job.features);
        // A form of the posting's reference, or its title and a part of it, is reason enough.
        const score = referenced.has(job.id) ? Math.max(comparison.score, LEAST_SCORE) : comparison.score;
        return score >= LEAST_SCORE || isCrowded ? [{ job, comparison, score }] : [];
      });
      if (compared.length === 0) continue;
      compared.sort((one, other) => other.score - one.score || (one.job.id < other.job.id ? -1 : 1));
      const candidates = compared.slice(0, MOST_CANDIDATES).map(({ job, comparison, score }) => ({
        siteJobId: job.id,
        score,
        reasons: comparison.reasons,
        sharesReference: comparison.sharesReference,
        sharesContent: comparison.sharesContent,
        byReference: comparison.byReference,
        isSecret: job.isSecret,
        mayBeOthers: job.mayBeOthers,
      }));
      this.#likely.push({ key, candidates, isCrowded: isCrowded || compared.length > MOST_CANDIDATES });
    }
  }

  /** Puts the creates in doubt for which a job is left. Returns their keys. */
  async conclude(): Promise<ReadonlySet<string>> {
    if (this.#likely.length === 0) return new Set();
    const sharing = this.#countSharing();
    const claims = await this.#claimsOfOthers();
    const taken = new Map<string, string>();
    // What is certain comes first, so that no job is asked about for two postings if it is certainly one's.
    for (const likely of this.#likely) {
      const verdict = this.#judge(likely, likely.candidates, sharing, claims);
      if (verdict.kind === 'sure') taken.set(verdict.best.siteJobId, likely.key);
    }
    const unsettled: string[] = [];
    const recognised = this.#likely.flatMap((likely): RecognisedCreate[] => {
      const left = likely.candidates.filter((one) => {
        const owner = taken.get(one.siteJobId);
        if (owner !== undefined) return owner === likely.key;
        const claim = claims.get(one.siteJobId);
        if (claim === undefined) return true;
        const isShared = one.sharesReference || one.sharesContent;
        if (isShared) unsettled.push(one.siteJobId);
        return isShared;
      });
      if (left.length === 0) return [];
      const { kind, best, reasons } = this.#judge(likely, left, sharing, claims);
      return [
        {
          key: likely.key,
          id: best.siteJobId,
          kind: kind === 'sure' ? 'found_on_site' : 'resembles_on_site',
          by: best.byReference || best.sharesReference ? 'reference' : 'content',
          score: best.score,
          reasons: likely.isCrowded ? [...reasons, 'the site shows more jobs like it'] : reasons,
          candidates: [best.siteJobId, ...left.map(({ siteJobId }) => siteJobId).filter((id) => id !== best.siteJobId)],
          isCrowded: likely.isCrowded,
        },
      ];
    });
    // It is certain for neither if several postings fit the job.
    await unsettleFound(this.#tx, this.#site, unsettled);
    return putInDoubt(this.#tx, this.#feed, recognised);
  }

  readonly #rewrittenAs = (reference: string): readonly string[] => {
    const { learnt, referenceField } = this.#facts.rules;
    return referenceField === undefined ? [] : rewritings(learnt, referenceField, reference);
  };

  #judge(
    { isCrowded }: Likely,
    candidates: readonly Compared[],
    { ofReference, ofContent }: Sharing,
    claims: ReadonlyMap<string, Claim>,
  ) {
    const jobsOfReference = candidates.filter((one) => one.sharesReference).length;
    const jobsOfContent = candidates.filter((one) => one.sharesContent).length;
    const judged = candidates.map(
      (one): JobCandidate => ({
        ...one,
        ...NOT_STORED,
        // Those that do not reach it are asked about because there are too many.
        score: Math.max(one.score, LEAST_SCORE),
        jobsOfReference,
        jobsOfContent,
        postingsOfReference: (ofReference.get(one.siteJobId) ?? 0) + (claims.get(one.siteJobId)?.references ?? 0),
        postingsOfContent: (ofContent.get(one.siteJobId) ?? 0) + (claims.get(one.siteJobId)?.contents ?? 0),
      }),
    );
    const posting = { blocker: undefined, isReferenceCrowded: false, isContentCrowded: isCrowded };
    const noContent = this.#facts.isIncomplete ? INCOMPLETE_FEED : undefined;
    const verdict = judgeCandidates(posting, judged, { noContent });
    if (verdict.kind !== 'unmatched') return verdict;
    const best = judged[0] as JobCandidate;
    return { kind: 'unsure' as const, best, reasons: best.reasons };
  }

  /** How many of the postings share the reference or content of each job. */
  #countSharing(): Sharing {
    const ofReference = new Map<string, number>();
    const ofContent = new Map<string, number>();
    const add = (counts: Map<string, number>, id: string) => counts.set(id, (counts.get(id) ?? 0) + 1);
    for (const { candidates } of this.#likely)
      for (const { siteJobId: id, sharesReference, sharesContent } of candidates) {
        if (sharesReference) add(ofReference, id);
        if (sharesContent) add(ofContent, id);
      }
    return { ofReference, ofContent };
  }

  /** Jobs that are certainly those of other creates, which wait for a person. */
  async #claimsOfOthers(): Promise<ReadonlyMap<string, Claim>> {
    const ids = new Set(this.#likely.flatMap(({ candidates }) => candidates.map(({ siteJobId }) => siteJobId)));
    const rows = await this.#tx.query<{ id: string } & Claim>(
      `select o.found_job_id as id, count(*) filter (where o.reason->>'by' = 'reference')::int as "references",
         count(*) filter (where o.reason->>'by' = 'content')::int as contents
       from change o where o.site = $1 and o.state = 'in_doubt' and o.found_job_id = any($2::text[])
         and o.reason->>'kind' = 'found_on_site'
         and not exists (select from unnest($4::text[]) a(key) where o.feed = $3 and o.key = a.key)
       group by o.found_job_id`,
      [this.#site, [...ids], this.#feed, this.#likely.map(({ key }) => key)],
    );
    return new Map(rows.map(({ id, ...claim }) => [id, claim]));
  }

  /** The jobs that show a posting's reference in any common form, by the posting's key. */
  async #findByReference(postings: readonly Posting[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const { hasSecret } = this.#facts;
    const asked = postings.flatMap(({ key, features: { reference } }) => {
      const forms = formsOf(reference, this.#rewrittenAs);
      return [...forms, ...(hasSecret ? forms.map(secretForm) : [])].map((form) => ({ key, form }));
    });
    const rows = await this.#tx.query<{ key: string; ids: string[] }>(
      `select a.key, array_agg(r.site_job_id) as ids
       from unnest($3::text[], $4::text[]) a(key, form) join site_reference r on r.site = $1 and r.reference = a.form
       where ${UNOWNED} and ${UNREFUTED} group by a.key`,
      [this.#site, this.#feed, asked.map(({ key }) => key), asked.map(({ form }) => form)],
    );
    return new Map(rows.map(({ key, ids }) => [key, new Set(ids)]));
  }

  /**
   * The jobs with a posting's title whose reference is a part of the posting's, or the other way round: sites truncate references, add to
   * them, or keep only their digits. A part alone proves nothing: consecutive numbers overlap.
   */
  async #findByPart(postings: readonly Posting[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const asked = postings.flatMap(({ key, features: { reference, titles } }) =>
      titles.flatMap((title) =>
        partsOf(reference, this.#rewrittenAs).map((form) => ({ key, hash: titleBlock(title), form })),
      ),
    );
    const rows = await this.#tx.query<{ key: string; ids: string[] }>(
      `select a.key, array_agg(r.site_job_id) as ids
       from unnest($3::text[], $4::bigint[], $5::text[]) a(key, hash, form)
         join site_reference r on r.blocks @> array[a.hash] and r.site = $1
       where r.reference <> '' and r.reference not like '${SECRET_FORM}%'
         and (strpos(r.reference, a.form) > 0 or strpos(a.form, r.reference) > 0)
         and 3 * least(length(r.reference), length(a.form)) >= greatest(length(r.reference), length(a.form))
         and ${UNOWNED} and ${UNREFUTED} group by a.key`,
      [this.#site, this.#feed, ...columnsOf(asked, 'key', 'hash', 'form')],
    );
    return new Map(rows.map(({ key, ids }) => [key, new Set(ids)]));
  }

  /** The jobs that agree with a posting in a title and place, a text or another block, by the posting's key. */
  async #findByContent(postings: readonly Posting[]): Promise<FoundByContent> {
    const asked = postings.flatMap(({ key, features }) =>
      blockingKeysOfPosting(features).flatMap(({ kind, hash }) => (kind === 'reference' ? [] : { key, kind, hash })),
    );
    const rows = await this.#tx.query<{ key: string; kind: string; ids: string[] }>(
      `select a.key, a.kind, array_agg(r.site_job_id) as ids
       from unnest($3::text[], $4::text[], $5::bigint[]) a(key, kind, hash) cross join lateral (
         select r.site_job_id, r.site, r.by_search, r.found_at from site_reference r
         where r.blocks @> array[a.hash] and r.site = $1 and ${UNOWNED}
           and ${UNREFUTED} limit case when a.kind = any($6::text[]) then ${MOST_OF_BLOCK} else ${MOST_OF_HINT} end + 1) r
       group by a.key, a.kind, a.hash`,
      [this.#site, this.#feed, ...columnsOf(asked, 'key', 'kind', 'hash'), DECISIVE],
    );
    const ids = new Map<string, Set<string>>();
    const crowded = new Set<string>();
    for (const { key, kind, ids: found } of rows) {
      const isHint = !DECISIVE.includes(kind);
      if (isHint && found.length > MOST_OF_HINT) continue;
      if (!isHint && found.length > MOST_OF_BLOCK) crowded.add(key);
      const all = ids.get(key) ?? new Set<string>();
      for (const id of found) all.add(id);
      ids.set(key, all);
    }
    return { ids, crowded };
  }

  async #stored(ids: readonly string[]): Promise<readonly StoredJob[]> {
    if (this.#jobs.size > MOST_CACHED) this.#jobs.clear();
    const missing = ids.filter((id) => !this.#jobs.has(id));
    if (missing.length > 0) {
      const rows = await this.#tx.query<{
        id: string;
        shown: string | null;
        features: string | null;
        secret: boolean;
        others: boolean;
      }>(
        `select site_job_id as id, shown, features, secret, foreign_owner as others from site_reference
         where site = $1 and site_job_id = any($2::text[])`,
        [this.#site, missing],
      );
      for (const { id, shown, features, secret, others } of rows)
        this.#jobs.set(id, {
          id,
          features: features === null ? nothingBut(shown) : JSON.parse(features),
          isSecret: secret,
          mayBeOthers: others,
        });
    }
    return ids.flatMap((id) => this.#jobs.get(id) ?? []);
  }
}

type Posting = { readonly key: string; readonly features: PostingFeatures };

interface FoundByContent {
  readonly ids: ReadonlyMap<string, ReadonlySet<string>>;
  /** Postings that the site shows more jobs like than were read. */
  readonly crowded: ReadonlySet<string>;
}

interface Sharing {
  readonly ofReference: ReadonlyMap<string, number>;
  readonly ofContent: ReadonlyMap<string, number>;
}

/** How many other creates a job is certainly the job of, by how that is known. */
interface Claim {
  readonly references: number;
  readonly contents: number;
}

/** A job of which only the reference was stored. */
const nothingBut = (reference: string | null): JobFeatures =>
  featuresOfJob(reference === null ? {} : { reference }, {
    referenceField: 'reference',
    ...UNKNOWN_PLACES,
    learnt: new Map(),
  });
