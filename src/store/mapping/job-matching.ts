// Holds the jobs of a site and the postings of a feed in temporary tables while it is found out which belong together: there may
// be hundreds of thousands of each, and comparing all with all would take days.
import { compareJob, LEAST_SCORE } from '../../plan/match/compare-job.ts';
import {
  type AdoptRules,
  type BlockingKey,
  blockingKeysOfJob,
  blockingKeysOfMapped,
  blockingKeysOfPosting,
  featuresOfJob,
  featuresOfPosting,
  type JobFeatures,
  type PostingFeatures,
} from '../../plan/match/job-features.ts';
import {
  type Certainty,
  type JobCandidate,
  type JudgedPosting,
  judgeCandidates,
  type ReadingFacts,
} from '../../plan/match/whose-job.ts';
import type { StatedTypes } from '../../plan/same-meaning.ts';
import type { FeedName, PostingKey, PostingRef, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import type { UnmappedPosting } from '../backlog/unmapped-postings.ts';
import { type Cell, RowCopier, temporaryTable } from '../postgres/copy-rows.ts';
import { columnsOf, type Database, returnsRow, type Session, type Stored, withoutNulls } from '../postgres/database.ts';
import { inBatches } from '../postgres/stream-rows.ts';
import { numberOfTitled } from '../site/kept-values.ts';
import { namesOfSite } from '../site/known-address.ts';

/** A posting that only competes for jobs: it has its job, or belongs to another feed. */
interface Rival extends PostingRef {
  readonly fields: Fields;
  readonly isMapped?: boolean;
}

/** A job of the site's list, with what it shows in the form that may be stored. */
interface MatchedJob {
  readonly siteJobId: SiteJobId;
  readonly url?: string | undefined;
  readonly fields: Fields;
  /** When the job was created, by the site's clock, if the site says so. */
  readonly createdAt?: Date | undefined;
  readonly types?: StatedTypes | undefined;
  /** Absent: its fields hold no token. */
  readonly revealFields?: unknown;
}

/** How far the postings and jobs are compared. */
interface Comparing {
  readonly signal: AbortSignal;
  readonly onPairs: (done: number) => void;
}

/** A posting with all that resemble it. */
interface PostingCandidates {
  readonly posting: number;
  readonly judged: JudgedPosting;
  /** Best first. */
  readonly candidates: JobCandidate[];
}

/** What was found for a posting, as its proposal needs it. */
export interface FoundMatch {
  readonly key: PostingKey;
  readonly fields: Fields;
  readonly recordHash: Buffer;
  readonly verdict: Certainty;
  readonly reasons: readonly string[];
  /** The best one first. */
  readonly candidates: readonly FoundCandidate[];
}

/** A job that resembles a posting, as the site's list shows it. Its fields are in the form that may be stored. */
export interface FoundCandidate {
  readonly siteJobId: SiteJobId;
  readonly url: string | null;
  readonly score: number;
  readonly reasons: readonly string[];
  readonly fields: Fields;
}

/** A verdict as it is shown. */
export interface MatchLine {
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId | undefined;
  readonly score: number;
  readonly verdict: Certainty;
  readonly reasons: readonly string[];
  /** Further jobs that resemble the posting, best first, not all. */
  readonly others: readonly string[];
  readonly title: string | undefined;
}

export interface MatchCounts {
  readonly sure: number;
  readonly unsure: number;
  readonly unmatched: number;
  /** Jobs that nobody owns and no posting resembles. */
  readonly jobs: number;
}

/** A job of the list that no posting has, and that may be ours. */
type Stray = Pick<MatchedJob, 'siteJobId' | 'url' | 'fields' | 'createdAt'>;
export interface StrayJob extends Stray {
  /** It was made between the backup that the database was restored from and the restore. */
  readonly isSinceBackup: boolean;
}

/** A certain match, with what its mapping needs. */
export interface SureMatch {
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
  readonly url: string | undefined;
  /** The posting's fields. */
  readonly sent: Fields;
  /** The job's fields, in the form that may be stored. */
  readonly fields: Fields;
  readonly types: StatedTypes | undefined;
}

/** A block with more pairs is left out; its postings count as crowded. Beginnings and shared values are only hints. */
const MOST_PAIRS = {
  reference: 2_500,
  title: 2_500,
  text: 900,
  value: 400,
  beginning: 400,
  start: 400,
  parts: 400,
  place: 2_500,
} as const;
const FETCHED_AT_ONCE = 1_000;
const COMPARED_AT_ONCE = 2_000;
/** Features of this many are kept; each takes a few kilobytes. */
const MOST_CACHED = 5_000;
/** Texts of a fetched row may be long. */
const FETCHED_JOBS = 250;
const FETCHED_MATCHES = 100;

const POSTING_COLUMNS = {
  n: 'integer',
  feed: 'text',
  key: 'text',
  fields: 'json',
  record_hash: 'bytea',
  rival: 'boolean',
  blocker: 'text',
  features: 'text',
  reference_crowded: 'boolean',
  content_crowded: 'boolean',
} as const;
const JOB_COLUMNS = {
  n: 'integer',
  id: 'text',
  url: 'text',
  fields: 'json',
  created_at: 'text',
  types: 'text',
  secret: 'boolean',
  owner: 'text',
  features: 'text',
  owned: 'boolean',
  deleted: 'boolean',
  foreign_owner: 'boolean',
} as const;
const BLOCK_COLUMNS = { of_posting: 'boolean', kind: 'text', hash: 'bigint', n: 'integer' } as const;
const SCORE_COLUMNS = {
  posting: 'integer',
  job: 'integer',
  score: 'integer',
  reasons: 'text',
  reference: 'boolean',
  content: 'boolean',
  by_reference: 'boolean',
} as const;
const VERDICT_COLUMNS = {
  posting: 'integer',
  job_id: 'text',
  score: 'integer',
  verdict: 'text',
  reasons: 'text',
  others: 'text',
} as const;

const TABLES = {
  adopt_posting: POSTING_COLUMNS,
  adopt_job: JOB_COLUMNS,
  adopt_block: BLOCK_COLUMNS,
  adopt_score: SCORE_COLUMNS,
  adopt_verdict: VERDICT_COLUMNS,
} as const;

const SUREST_FIRST = `order by case v.verdict when 'sure' then 0 when 'unsure' then 1 else 2 end, v.posting`;
/** Further candidates that are named with a verdict. */
const MOST_OTHERS = 5;
const THOUSANDTHS = 1_000;
/** How far the clock of a site may be behind the database's. */
const CLOCKS_DIFFER = '1 hour';

/** A posting to match, with one job that resembles it, if there is one. */
type CandidateRow = Stored<JudgedPosting> & { readonly n: number } & (JobCandidate | { readonly siteJobId: null });

/** The matching of one site and one feed, on a connection of its own; `close` leaves nothing behind. */
export class JobMatching {
  readonly session: Session;
  readonly #postings: RowCopier;
  readonly #jobs: RowCopier;
  readonly #blocks: RowCopier;
  readonly #scores: RowCopier;
  readonly #verdicts: RowCopier;
  #postingCount = 0;
  #jobCount = 0;
  #indexed = false;

  private constructor(session: Session) {
    const copierOf = (table: keyof typeof TABLES) => new RowCopier(session, table, TABLES[table]);
    this.session = session;
    this.#postings = copierOf('adopt_posting');
    this.#jobs = copierOf('adopt_job');
    this.#blocks = copierOf('adopt_block');
    this.#scores = copierOf('adopt_score');
    this.#verdicts = copierOf('adopt_verdict');
  }

  static async open(db: Database): Promise<JobMatching> {
    const session = await db.session();
    try {
      for (const [table, columns] of Object.entries(TABLES)) await session.query(temporaryTable(table, columns));
    } catch (error) {
      await session.end();
      throw error;
    }
    return new JobMatching(session);
  }

  close(): Promise<void> {
    return this.session.end();
  }

  /** Adds postings of a feed that are to be matched. */
  addPostings(feed: FeedName, postings: readonly UnmappedPosting[], rules: AdoptRules): Promise<void> {
    return this.#add(
      postings.map(({ key, fields, recordHash, inDoubt }) => {
        const features = featuresOfPosting(key, fields, rules);
        const blocker =
          inDoubt === undefined ? null : `a create of the posting is in flight or in doubt: entry ${inDoubt}`;
        return {
          features,
          blocks: blockingKeysOfPosting(features),
          row: [feed, key, fields, recordHash, false, blocker],
        };
      }),
    );
  }

  /** Adds further postings of the site; those that were added before stay as they are. */
  async addRivals(rivals: readonly Rival[], rules: AdoptRules): Promise<void> {
    await this.#add(
      (await this.#withoutKnown(rivals)).map(({ feed, key, fields, isMapped = false }) => {
        const features = featuresOfPosting(key, fields, rules);
        const blocks = isMapped ? blockingKeysOfMapped(features) : blockingKeysOfPosting(features);
        // What it has is compared with no job that a posting gets.
        return { features, blocks, row: [feed, key, {}, null, true, null] };
      }),
    );
  }

  async #add(
    postings: readonly {
      readonly features: PostingFeatures;
      readonly blocks: readonly BlockingKey[];
      readonly row: readonly Cell[];
    }[],
  ): Promise<void> {
    const first = this.#postingCount;
    this.#postingCount += postings.length;
    await this.#postings.copy(
      postings.map(({ features, row }, at) => [first + at, ...row, JSON.stringify(features), false, false]),
    );
    await this.#blocks.copy(
      postings.flatMap(({ blocks }, at) => blocks.map(({ kind, hash }) => [true, kind, hash, first + at])),
    );
  }

  async addJobs(jobs: readonly MatchedJob[], rules: AdoptRules): Promise<void> {
    const first = this.#jobCount;
    this.#jobCount += jobs.length;
    const features = jobs.map(({ fields, types }) => featuresOfJob(fields, rules, { types }));
    await this.#jobs.copy(
      jobs.map(({ siteJobId: id, url, fields, createdAt, types, revealFields }, at) => [
        first + at,
        id,
        url ?? null,
        fields,
        createdAt?.toISOString() ?? null,
        types === undefined ? null : JSON.stringify(types),
        revealFields !== undefined,
        features[at]?.owner ?? null,
        JSON.stringify(features[at]),
        false,
        false,
        false,
      ]),
    );
    await this.#blocks.copy(
      features.flatMap((each, at) => blockingKeysOfJob(each).map(({ kind, hash }) => [false, kind, hash, first + at])),
    );
  }

  /** Forgets the jobs, before any posting is added. */
  async forgetJobs(): Promise<void> {
    this.#jobCount = 0;
    await this.session.query('truncate adopt_job, adopt_block');
  }

  async #withoutKnown(postings: readonly Rival[]): Promise<Rival[]> {
    if (!this.#indexed) {
      await this.session.query('create index on adopt_posting (key); analyze adopt_posting');
      this.#indexed = true;
    }
    const rows = await this.session.query<{ at: number }>(
      `select (a.at - 1)::int as at from unnest($1::text[], $2::text[]) with ordinality a(feed, key, at)
       where not exists (select from adopt_posting p where p.key = a.key and p.feed = a.feed) order by a.at`,
      columnsOf<PostingRef>(postings, 'feed', 'key'),
    );
    return rows.map(({ at }) => postings[at] as Rival);
  }

  /**
   * Finds a verdict for each posting that is to be matched. Call it once the list and all postings were read: a create sent meanwhile then
   * has its mapping, or its posting competes.
   * @param since when the reading of the list began: a job that was deleted after that may still be in it.
   */
  async match(site: SiteName, since: Date, facts: ReadingFacts, comparing: Comparing): Promise<void> {
    await this.#noteOwned(site, since);
    await this.#findPairs(site);
    await this.#compare(comparing);
    await this.#judge(facts);
  }

  async #noteOwned(site: SiteName, since: Date): Promise<void> {
    const { session } = this;
    const names = await namesOfSite(session, site);
    await session.query('analyze adopt_job');
    await session.query(
      `update adopt_job j set owned = true
       where exists (select from mapping m where m.site = any($1::text[]) and m.site_job_id = j.id)
         or exists (select from orphan_site_job s where s.site = any($1::text[]) and s.site_job_id = j.id)
         or j.id in (select q.site_job_id from request q where q.at >= $2 and q.operation = 'delete' and q.site_job_id is not null)`,
      [names, since],
    );
    await session.query(
      `update adopt_job j set owned = true where not owned
         and j.id in (select ${numberOfTitled('m.site_job_id')} from mapping m where m.site = any($1::text[]))`,
      [names],
    );
    // A copy of the list may be older than it says. The site may also have given the ID to another job since.
    await session.query(
      `update adopt_job j set deleted = true
       where j.id in (select q.site_job_id from request q where q.at >= $1::timestamptz - interval '1 day' and q.operation = 'delete'
         and q.outcome in ('accepted', 'gone'))`,
      [since],
    );
    // If the list shows jobs of several users, or of another user than our own jobs, only those of the user of our own jobs are
    // certainly ours to change.
    await session.query(
      `update adopt_job j set foreign_owner = true
       where ((select count(distinct coalesce(owner, '')) from adopt_job) > 1
           or owner is not null and exists (select from mapping where site = any($1::text[])))
         and coalesce(owner, '') not in
           (select distinct coalesce(o.owner, '') from adopt_job o join mapping m on m.site = any($1::text[]) and m.site_job_id = o.id)`,
      [names],
    );
  }

  /** Finds the pairs to compare. */
  async #findPairs(site: SiteName): Promise<void> {
    const { session } = this;
    await session.query('create index on adopt_block (kind, hash, of_posting)');
    await session.query('create index on adopt_posting (n)');
    await session.query('create index on adopt_job (n)');
    for (const table of ['adopt_block', 'adopt_posting', 'adopt_job']) await session.query(`analyze ${table}`);
    const limits = Object.entries(MOST_PAIRS)
      .map(([kind, most]) => `when '${kind}' then ${most}`)
      .join(' ');
    await session.query(
      `create temporary table adopt_size as
       select kind, hash, postings::bigint * jobs > case kind ${limits} end as crowded from (
         select kind, hash, count(*) filter (where of_posting) as postings, count(*) filter (where not of_posting) as jobs
         from adopt_block group by kind, hash) s where postings > 0 and jobs > 0`,
    );
    await session.query('analyze adopt_size');
    await session.query(
      `update adopt_posting p set reference_crowded = c.reference, content_crowded = c.content
       from (select b.n, bool_or(s.kind = 'reference') as reference, bool_or(s.kind in ('title', 'text')) as content
             from adopt_size s join adopt_block b on b.kind = s.kind and b.hash = s.hash and b.of_posting
             where s.crowded and s.kind in ('reference', 'title', 'text') group by b.n) c
       where p.n = c.n`,
    );
    await session.query(
      `create temporary table adopt_pair as
       select p.n as posting, j.n as job, min(s.hash) as hash
       from adopt_size s join adopt_block b on b.kind = s.kind and b.hash = s.hash and b.of_posting
         join adopt_block c on c.kind = s.kind and c.hash = s.hash and not c.of_posting
         join adopt_posting p on p.n = b.n join adopt_job j on j.n = c.n
       where not s.crowded and not (p.rival and j.owned) and (not j.owned or s.kind = 'reference')
         and not exists (select from refuted_job x
           where x.feed = p.feed and x.key = p.key and x.site = $1 and x.site_job_id = j.id)
       group by p.n, j.n`,
      [site],
    );
    await session.query('analyze adopt_pair');
  }

  /** Compares the pairs, those of one block together. */
  async #compare({ signal, onPairs }: Comparing): Promise<void> {
    const postings = new FeatureCache<PostingFeatures>(this.session, 'adopt_posting');
    const jobs = new FeatureCache<JobFeatures>(this.session, 'adopt_job');
    const select = 'select posting, job from adopt_pair order by hash, posting, job';
    let done = 0;
    for await (const rows of this.#rows<{ posting: number; job: number }>('adopt_pairs', select, COMPARED_AT_ONCE)) {
      signal.throwIfAborted();
      const ofPosting = await postings.of(rows.map(({ posting }) => posting));
      const ofJob = await jobs.of(rows.map(({ job }) => job));
      const scores = rows.flatMap(({ posting, job }) => {
        const compared = compareJob(ofPosting(posting), ofJob(job));
        const { score, reasons, sharesReference, sharesContent, byReference } = compared;
        if (!sharesReference && score < LEAST_SCORE) return [];
        const shown = [Math.round(score * THOUSANDTHS), JSON.stringify(reasons)];
        return [[posting, job, ...shown, sharesReference, sharesContent, byReference]];
      });
      await this.#scores.copy(scores);
      done += rows.length;
      onPairs(done);
    }
  }

  /** Batches of rows, in one transaction; in between, the session can run other statements. */
  async *#rows<Row extends object>(
    cursor: string,
    select: string,
    size: number,
    values?: readonly unknown[],
  ): AsyncGenerator<Row[]> {
    await this.session.query('begin');
    yield* inBatches<Row>(this.session, cursor, select, size, values);
    await this.session.query('commit');
  }

  async #judge(facts: ReadingFacts): Promise<void> {
    await this.session.query('analyze adopt_score');
    const select = `select p.n, p.blocker, p.reference_crowded as "isReferenceCrowded", p.content_crowded as "isContentCrowded",
        j.id as "siteJobId", s.score / ${THOUSANDTHS}::float8 as score, s.reasons::json as reasons, s.reference as "sharesReference",
        s.content as "sharesContent", s.by_reference as "byReference", s."jobsOfReference", s."postingsOfReference", s."jobsOfContent",
        s."postingsOfContent", j.owned as "isOwned", j.deleted as "wasDeleted", j.foreign_owner as "mayBeOthers", j.secret as "isSecret"
      from adopt_posting p left join (
        select *, count(*) filter (where reference) over of_posting as "jobsOfReference",
          count(*) filter (where reference) over of_job as "postingsOfReference",
          count(*) filter (where content) over of_posting as "jobsOfContent",
          count(*) filter (where content) over of_job as "postingsOfContent"
        from adopt_score window of_posting as (partition by posting), of_job as (partition by job)) s on s.posting = p.n
      left join adopt_job j on j.n = s.job
      where not p.rival order by p.n, s.score desc, j.n`;
    let open: PostingCandidates | undefined;
    for await (const rows of this.#rows<CandidateRow>('adopt_candidates', select, FETCHED_AT_ONCE)) {
      const ended: PostingCandidates[] = [];
      for (const { n, blocker, isReferenceCrowded, isContentCrowded, ...candidate } of rows) {
        if (open === undefined || open.posting !== n) {
          if (open !== undefined) ended.push(open);
          const judged = { blocker: blocker ?? undefined, isReferenceCrowded, isContentCrowded };
          open = { posting: n, judged, candidates: [] };
        }
        if (candidate.siteJobId !== null) open.candidates.push(candidate);
      }
      await this.#addVerdicts(ended, facts);
    }
    if (open !== undefined) await this.#addVerdicts([open], facts);
    // A job that is certain for two postings is certain for neither.
    await this.session.query(
      'create index on adopt_verdict (posting); create index on adopt_job (id); analyze adopt_verdict',
    );
    await this.session.query(
      `update adopt_verdict v set verdict = 'unsure', reasons = (v.reasons::jsonb || '["several postings fit the job"]')::text
       where verdict = 'sure' and job_id in
         (select job_id from adopt_verdict where verdict = 'sure' group by job_id having count(*) > 1)`,
    );
  }

  async #addVerdicts(postings: readonly PostingCandidates[], facts: ReadingFacts): Promise<void> {
    await this.#verdicts.copy(
      postings.map(({ posting, judged, candidates }) => {
        const verdict = judgeCandidates(judged, candidates, facts);
        const reasons = JSON.stringify(verdict.reasons);
        if (verdict.kind === 'unmatched') return [posting, null, 0, verdict.kind, reasons, '[]'];
        const { best, others, kind } = verdict;
        const named = others.slice(0, MOST_OTHERS).map(({ siteJobId }) => siteJobId);
        return [posting, best.siteJobId, Math.round(best.score * THOUSANDTHS), kind, reasons, JSON.stringify(named)];
      }),
    );
  }

  async hasJob(id: SiteJobId): Promise<boolean> {
    return returnsRow(this.session, 'select from adopt_job where id = $1 limit 1', [id]);
  }

  /** Whether it cannot be told that a job of the list is ours. */
  async mayBeOthers(id: SiteJobId): Promise<boolean> {
    const rows = await this.session.query<{ open: boolean }>(
      'select not owned and not deleted and not foreign_owner and not secret as open from adopt_job where id = $1 limit 1',
      [id],
    );
    return rows[0]?.open !== true;
  }

  async count(): Promise<MatchCounts> {
    const [row] = await this.session.query<MatchCounts>(
      `select count(*) filter (where verdict = 'sure') as sure, count(*) filter (where verdict = 'unsure') as unsure,
         count(*) filter (where verdict = 'unmatched') as unmatched,
         (select count(*) from adopt_job j where not owned
           and not exists (select from adopt_verdict w where w.job_id = j.id)) as jobs
       from adopt_verdict`,
    );
    return row as MatchCounts;
  }

  /** All verdicts: certain ones first, each kind in the order of the feed. @param kind only these. */
  async *lines(kind?: Certainty): AsyncGenerator<MatchLine> {
    const select = `select p.key, v.job_id as "siteJobId", v.score / ${THOUSANDTHS}::float8 as score, v.verdict, v.reasons::json as reasons,
        v.others::json as others, j.fields->>'title' as title
      from adopt_verdict v join adopt_posting p on p.n = v.posting left join adopt_job j on j.id = v.job_id
      ${kind === undefined ? '' : `where v.verdict = '${kind}'`}
      ${SUREST_FIRST}`;
    for await (const rows of this.#rows<Stored<MatchLine>>('adopt_lines', select, FETCHED_AT_ONCE))
      yield* rows.map(withoutNulls<MatchLine>);
  }

  /** What was found for each posting that has no job by now, in the order of {@link lines}. The caller has begun a transaction. */
  async *found(): AsyncGenerator<FoundMatch[]> {
    await this.session.query('create index on adopt_score (posting, job)');
    const select = `select p.key, v.verdict, v.reasons::json as reasons, p.fields, p.record_hash as "recordHash",
        (select coalesce(json_agg(json_build_object('siteJobId', j.id, 'url', j.url, 'score', s.score / ${THOUSANDTHS}::float8,
             'reasons', s.reasons::json, 'fields', j.fields) order by j.id = v.job_id desc, s.score desc, j.n), '[]')
         from adopt_job j join adopt_score s on s.posting = v.posting and s.job = j.n
         where j.id = v.job_id or j.id in (select json_array_elements_text(v.others::json))) as candidates
      from adopt_verdict v join adopt_posting p on p.n = v.posting
      where not exists (select from mapping m where m.feed = p.feed and m.key = p.key) ${SUREST_FIRST}`;
    yield* inBatches<FoundMatch>(this.session, 'adopt_found', select, FETCHED_MATCHES);
  }

  /**
   * Jobs that nobody owns and that show no posting's reference, in the order of the list. Of a restored database, those that are older
   * than its backup are left out: it would know them if they were ours.
   */
  async *strays(feed: FeedName): AsyncGenerator<StrayJob> {
    const [restored] = await this.session.query<{ backup: Date | null; restored: Date }>(
      `select (select greatest((select max(q.at) from request q where q.at < f.restored_at),
         (select max(p.started_at) from pull p where p.started_at < f.restored_at)) - interval '${CLOCKS_DIFFER}') as backup,
         f.restored_at + interval '${CLOCKS_DIFFER}' as restored
       from feed_state f where f.feed = $1 and f.restored_at is not null`,
      [feed],
    );
    const select = `select id as "siteJobId", url, fields, created_at::timestamptz as "createdAt" from adopt_job j
      where not owned and not deleted and not foreign_owner and not secret
        and coalesce(created_at, 'infinity')::timestamptz >= $1
        and not exists (select from adopt_verdict v where v.job_id = j.id)
        and not exists (select from adopt_score s where s.job = j.n and s.reference)
      order by n`;
    const values = [restored?.backup?.toISOString() ?? '-infinity'];
    for await (const rows of this.#rows<Stored<Stray>>('adopt_strays', select, FETCHED_JOBS, values)) {
      for (const stray of rows.map(withoutNulls<Stray>)) {
        const { createdAt } = stray;
        yield {
          ...stray,
          isSinceBackup: restored !== undefined && createdAt !== undefined && createdAt <= restored.restored,
        };
      }
    }
  }

  /** The certain matches with numbers above `after`, in the order of the postings' numbers; empty: there are no more. */
  async sureAfter(after: number): Promise<{ readonly matches: SureMatch[]; readonly last: number }> {
    const rows = await this.session.query<Stored<SureMatch> & { readonly posting: number }>(
      `select v.posting, p.key, p.fields as sent, j.id as "siteJobId", j.url, j.fields, j.types::json as types
       from adopt_verdict v join adopt_posting p on p.n = v.posting join adopt_job j on j.id = v.job_id
       where v.verdict = 'sure' and v.posting > $1 order by v.posting limit ${FETCHED_JOBS}`,
      [after],
    );
    const matches = rows.map(({ posting: _, ...match }) => withoutNulls<SureMatch>(match));
    return { matches, last: rows.at(-1)?.posting ?? after };
  }
}

/** Features that were read last: pairs of one block need the same ones. */
class FeatureCache<Of> {
  readonly #session: Session;
  readonly #table: string;
  readonly #known = new Map<number, Of>();

  constructor(session: Session, table: 'adopt_posting' | 'adopt_job') {
    this.#session = session;
    this.#table = table;
  }

  /** Reads what is missing of these. */
  async of(numbers: readonly number[]): Promise<(number: number) => Of> {
    if (this.#known.size > MOST_CACHED) this.#known.clear();
    const missing = [...new Set(numbers)].filter((number) => !this.#known.has(number));
    if (missing.length > 0) {
      const rows = await this.#session.query<{ n: number; features: string }>(
        `select n, features from ${this.#table} where n = any($1::int[])`,
        [missing],
      );
      for (const { n, features } of rows) this.#known.set(n, JSON.parse(features));
    }
    return (number) => this.#known.get(number) as Of;
  }
}
