// Holds what is verified of a site in temporary tables: the jobs of its list, the jobs to ask for one by one, and the differences
// to set again. There may be hundreds of thousands of each.
import type { AcceptedFields } from '../../plan/compare-shown.ts';
import type { FeedName, PostingKey, PostingRef, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import type { DriftedJob } from '../change/mark-drifted.ts';
import { RowCopier, temporaryTable, toJsonb } from '../postgres/copy-rows.ts';
import {
  type Database,
  readMap,
  readNumber,
  returnsRow,
  type Session,
  type Stored,
  withoutNulls,
} from '../postgres/database.ts';
import { numberOfTitled } from '../site/kept-values.ts';
import { namesOfSite } from '../site/known-address.ts';

/** A job of the site's list. */
export interface ListedReference {
  readonly siteJobId: SiteJobId;
  /** In the form that may be stored. */
  readonly reference: string | undefined;
}

/** A posting and its job. */
export interface MappedJob extends PostingRef {
  readonly siteJobId: SiteJobId;
}

/** A mapped job with what the site last accepted; `undefined`: unknown, as for an imported mapping. */
export interface AcceptedJob extends MappedJob {
  readonly accepted: AcceptedFields | undefined;
}

/** A job to ask the site for. */
export interface JobToAsk extends MappedJob {
  /** Fields that the list shows with other values; `undefined`: the list does not show the job, or was not read. */
  readonly differing: readonly string[] | undefined;
}

/** A mapped job at one moment. */
export interface VerifiedJob extends AcceptedJob {
  readonly contentHash: Buffer;
  /** The number of the last request for the posting; 0: none is recorded. */
  readonly lastRequest: number;
  /** A request is in flight, or what the site made of an earlier one is not known. */
  readonly isOpen: boolean;
  /** The state of the posting's change; `undefined`: it has none. */
  readonly state: string | undefined;
}

/** Another job that shows the reference of a posting. */
export interface ForeignJob extends MappedJob {
  /** The posting's own job; `undefined`: it has none. */
  readonly ownJobId: SiteJobId | undefined;
  /** It was deleted for the posting, which has none since. */
  readonly isDeleted: boolean;
}

/** The jobs to verify. `sample`: `most` of each feed, at random; `all`: those after this posting, at most `most`. */
export type JobSelection =
  | { readonly kind: 'all'; readonly after: PostingKey | undefined; readonly most?: number }
  | { readonly kind: 'sample'; readonly most: number };

const READ_AT_ONCE = 500;

const NUMBER = numberOfTitled('site_job_id');

const LISTED_COLUMNS = { id: 'text', reference: 'text' } as const;
const JOB_COLUMNS = { feed: 'text', key: 'text', id: 'text', differing: 'jsonb' } as const;

const TABLES = `
  ${temporaryTable('verify_listed', LISTED_COLUMNS)};
  ${temporaryTable('verify_job', JOB_COLUMNS)};
  create temporary table verify_drift (n int generated always as identity, feed text, key text, id text, content_hash bytea,
    fields jsonb, last_request bigint, finding text)`;

/** A mapping with what the site accepted of it, null if that is not known. */
interface AcceptedRow extends MappedJob {
  readonly fields: Fields | null;
  readonly shown: Buffer | null;
}

/** The verification of some feeds of one site, on a connection of its own; `close` leaves nothing behind. */
export class Verification {
  readonly session: Session;
  readonly #site: SiteName;
  readonly #feeds: readonly FeedName[];
  readonly #listed: RowCopier;
  readonly #jobs: RowCopier;

  private constructor(session: Session, site: SiteName, feeds: readonly FeedName[]) {
    this.session = session;
    this.#site = site;
    this.#feeds = feeds;
    this.#listed = new RowCopier(session, 'verify_listed', LISTED_COLUMNS);
    this.#jobs = new RowCopier(session, 'verify_job', JOB_COLUMNS);
  }

  static async open(db: Database, site: SiteName, feeds: readonly FeedName[]): Promise<Verification> {
    const session = await db.session();
    try {
      await session.query(TABLES);
    } catch (error) {
      await session.end();
      throw error;
    }
    return new Verification(session, site, feeds);
  }

  close(): Promise<void> {
    return this.session.end();
  }

  /** How many jobs each feed has. */
  async countJobs(): Promise<ReadonlyMap<FeedName, number>> {
    return readMap<FeedName, number>(
      this.session,
      'select feed, count(*) as n from mapping where site = $1 and feed = any($2::text[]) group by feed',
      [this.#site, this.#feeds],
    );
  }

  async addListed(jobs: readonly ListedReference[]): Promise<void> {
    await this.#listed.copy(jobs.map(({ siteJobId: id, reference }) => [id, reference ?? null]));
  }

  /** The jobs that belong to postings of the feeds, by the given ID; a posting may have its job under an ID with the title. */
  async acceptedOf(ids: readonly SiteJobId[]): Promise<ReadonlyMap<SiteJobId, AcceptedJob>> {
    const rows = await this.session.query<AcceptedRow & { readonly listed: SiteJobId }>(
      `select m.listed, m.feed, m.key, m.site_job_id as "siteJobId", d.fields, d.shown
       from (select ${NUMBER} as listed, feed, key, site_job_id from mapping where site = $1 and ${NUMBER} = any($3::text[])
         union all select site_job_id, feed, key, site_job_id from mapping where site = $1 and site_job_id = any($3::text[])) m
       left join document d on d.feed = m.feed and d.key = m.key where m.feed = any($2::text[])`,
      [this.#site, this.#feeds, ids],
    );
    return new Map(rows.map(({ listed, ...row }) => [listed, acceptedFrom(row)]));
  }

  /** Adds jobs that the list shows differently. */
  async addDiffering(jobs: readonly (MappedJob & { readonly differing: readonly string[] })[]): Promise<void> {
    await this.#jobs.copy(jobs.map(({ feed, key, siteJobId: id, differing }) => [feed, key, id, toJsonb(differing)]));
  }

  /** Adds the jobs that the list does not show, except those that were made after the reading began. */
  async addUnlisted(since: Date): Promise<void> {
    await this.session.query('create index on verify_listed (id); analyze verify_listed');
    await this.session.query(
      `insert into verify_job (feed, key, id) select m.feed, m.key, m.site_job_id from mapping m
       where m.site = $1 and m.feed = any($2::text[]) and m.mapped_at < $3
         and not exists (select from verify_listed l where l.id = m.site_job_id)
         and not exists (select from verify_listed l where l.id = ${numberOfTitled('m.site_job_id')})`,
      [this.#site, this.#feeds, since],
    );
  }

  /** Adds jobs to ask for without a list. */
  async addSelected(selection: JobSelection): Promise<void> {
    if (selection.kind === 'all') {
      await this.session.query(
        `insert into verify_job (feed, key, id) select feed, key, site_job_id from mapping
         where site = $1 and feed = any($2::text[]) and ($3::text is null or key > $3) order by feed, key limit $4`,
        [this.#site, this.#feeds, selection.after ?? null, selection.most ?? null],
      );
      return;
    }
    for (const feed of this.#feeds) {
      await this.session.query(
        `insert into verify_job (feed, key, id) select feed, key, site_job_id from mapping
         where site = $1 and feed = $2 order by random() limit $3`,
        [this.#site, feed, selection.most],
      );
    }
  }

  /** Ends adding. Returns how many jobs are to be asked for. */
  async orderJobs(): Promise<number> {
    await this.session.query(
      'create temporary table verify_ask as select row_number() over (order by feed, key) as n, * from verify_job',
    );
    await this.session.query('create unique index on verify_ask (n); analyze verify_ask');
    return readNumber(this.session, 'select count(*) as n from verify_ask');
  }

  /** In the order of feeds and keys. */
  jobsToAsk(): AsyncGenerator<JobToAsk> {
    return this.#numbered('verify_ask', `feed, key, id as "siteJobId", differing`);
  }

  /** The rows of a table by their numbers. Keeps no transaction open: the site takes its time to answer. */
  async *#numbered<Row extends object>(table: string, columns: string): AsyncGenerator<Row> {
    for (let last = 0; ; last += READ_AT_ONCE) {
      const rows = await this.session.query<Stored<Row>>(
        `select ${columns} from ${table} where n > $1 order by n limit ${READ_AT_ONCE}`,
        [last],
      );
      yield* rows.map(withoutNulls<Row>);
      if (rows.length < READ_AT_ONCE) return;
    }
  }

  /** The job now; `undefined`: the posting has no job any more, or another one. */
  async jobNow({ feed, key, siteJobId: id }: MappedJob): Promise<VerifiedJob | undefined> {
    const [row] = await this.session.query<Stored<Omit<VerifiedJob, 'accepted'>> & AcceptedRow>(
      `select m.feed, m.key, m.site_job_id as "siteJobId", m.content_hash as "contentHash", d.fields, d.shown, c.state,
         coalesce((select max(q.id) from request q where q.feed = m.feed and q.key = m.key), 0) as "lastRequest",
         c.attempt_token is not null or u.feed is not null as "isOpen"
       from mapping m left join document d on d.feed = m.feed and d.key = m.key
       left join change c on c.feed = m.feed and c.key = m.key
       left join uncertain_write u on u.feed = m.feed and u.key = m.key and (u.fields is not null or u.until > now())
       where m.feed = $1 and m.key = $2 and m.site = $3 and m.site_job_id = $4`,
      [feed, key, this.#site, id],
    );
    return row && { ...acceptedFrom(row), state: row.state ?? undefined };
  }

  /**
   * Listed jobs that nobody owns and that show the reference of one posting, as it was sent or as the posting's own job shows it; or that
   * were deleted and still show the reference that they had: a site that was restored shows them again.
   * Leaves out jobs that may be those of creates in flight or in doubt, jobs about to be deleted, and those of which a person said
   * that they are not the posting's.
   */
  async foreignJobs(referenceField: string): Promise<AsyncGenerator<ForeignJob>> {
    await this.session.query(
      `create temporary table verify_foreign as
       with ours as (
         select m.feed, m.key, trim(d.fields->>$3) as reference
         from mapping m join document d on d.feed = m.feed and d.key = m.key where m.site = $1 and m.feed = any($2::text[])
         union
         select m.feed, m.key, trim(l.reference) from mapping m join verify_listed l on l.id = m.site_job_id
         where m.site = $1 and m.feed = any($2::text[])
         union
         select m.feed, m.key, trim(l.reference) from mapping m join verify_listed l on l.id = ${numberOfTitled('m.site_job_id')}
         where m.site = $1 and m.feed = any($2::text[])
         union
         select c.feed, c.key, trim(c.fields->>$3) from change c
         where c.site = $1 and c.feed = any($2::text[]) and c.desired = 'present'),
       telling as (
         select reference, min(feed) as feed, min(key) as key from ours where reference <> ''
         group by reference having count(*) = 1),
       shown as (
         select t.feed, t.key, l.id, false as deleted from verify_listed l join telling t on t.reference = trim(l.reference)
         union
         select q.feed, q.key, l.id, true from verify_listed l
         join request q on q.site_job_id = l.id and q.operation = 'delete' and q.outcome in ('accepted', 'gone') and q.feed = any($2::text[])
         join former_document f on f.feed = q.feed and f.key = q.key and f.pull = q.pull and f.whole and trim(f.fields->>$3) = trim(l.reference)
         where not exists (select from telling t where t.reference = trim(l.reference))
           and not exists (select from change c where c.feed = q.feed and c.key = q.key and c.desired = 'present'))
       select row_number() over (order by t.feed, t.key, t.id) as n, t.feed, t.key, t.id, own.site_job_id as own, t.deleted
       from shown t
       left join mapping own on own.feed = t.feed and own.key = t.key
       where not exists (select from mapping m where m.site = any($4::text[]) and m.site_job_id = t.id)
         and not exists (select from mapping m where m.site = any($4::text[]) and ${numberOfTitled('m.site_job_id')} = t.id)
         and not exists (select from orphan_site_job s where s.site = any($4::text[]) and s.site_job_id = t.id)
         and not exists (select from change c where c.feed = t.feed and c.key = t.key and c.attempt_token is not null)
         and not exists (select from refuted_job x
           where x.feed = t.feed and x.key = t.key and x.site = any($4::text[]) and x.site_job_id = t.id)`,
      [this.#site, this.#feeds, referenceField, await namesOfSite(this.session, this.#site)],
    );
    return this.#numbered<ForeignJob>(
      'verify_foreign',
      'feed, key, id as "siteJobId", own as "ownJobId", deleted as "isDeleted"',
    );
  }

  async isOwned(id: SiteJobId): Promise<boolean> {
    const names = await namesOfSite(this.session, this.#site);
    return returnsRow(this.session, 'select from mapping where site = any($1::text[]) and site_job_id = $2 limit 1', [
      names,
      id,
    ]);
  }

  /** Keeps a difference to be set again later. */
  async keepDrift({ feed, key, siteJobId: id, contentHash, lastRequest, names, finding }: DriftedJob): Promise<void> {
    await this.session.query(
      `insert into verify_drift (feed, key, id, content_hash, fields, last_request, finding)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [feed, key, id, contentHash, toJsonb(names), lastRequest, finding],
    );
  }

  /** The posting may have another job: one that is gone must not be made again. */
  async dropGone({ feed, key }: MappedJob): Promise<void> {
    await this.session.query(`delete from verify_drift where feed = $1 and key = $2 and finding = 'gone'`, [feed, key]);
  }

  /** How many jobs that are gone are kept to be set again. */
  async countGone(feed: FeedName): Promise<number> {
    return readNumber(this.session, `select count(*) as n from verify_drift where feed = $1 and finding = 'gone'`, [
      feed,
    ]);
  }

  /** The differences of one feed with numbers above `after`, a portion of them; empty: there are no more. */
  async driftAfter(
    feed: FeedName,
    after: number,
    most: number,
  ): Promise<{ readonly jobs: DriftedJob[]; readonly last: number }> {
    const rows = await this.session.query<DriftedJob & { readonly n: number }>(
      `select n, feed, key, id as "siteJobId", content_hash as "contentHash", last_request as "lastRequest", fields as names, finding
       from verify_drift where feed = $1 and n > $2 order by n limit $3`,
      [feed, after, most],
    );
    return { jobs: rows.map(({ n: _, ...job }) => job), last: rows.at(-1)?.n ?? after };
  }
}

const acceptedFrom = <Row extends AcceptedRow>({ fields, shown, ...row }: Row) => ({
  ...row,
  accepted: fields === null ? undefined : { fields, forms: shown ?? undefined },
});
