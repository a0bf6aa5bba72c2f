// Reads the lines of an import before it is written, so that their jobs can be checked with the site.
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import { ownerOfReference } from '../change/candidate-owners.ts';
import { RowCopier } from '../postgres/copy-rows.ts';
import type { Session } from '../postgres/database.ts';

/** A line whose job is in no mapping yet. */
export interface AskedLine {
  readonly line: number;
  readonly feed: FeedName;
  readonly site: SiteName;
  readonly key: PostingKey;
  readonly siteJobId: SiteJobId;
}

/** A line with what the site's list shows of its job. */
export interface ListedLine extends AskedLine {
  readonly listed: boolean;
  /** `undefined` if the list does not show it. */
  readonly reference: string | undefined;
}

export interface JobReference {
  readonly siteJobId: SiteJobId;
  readonly reference: string | undefined;
}

const READ_AT_ONCE = 1_000;

/** The lines of one import, in a temporary table of this session. */
export class ImportedLines {
  readonly #session: Session;
  /** Lines that are refused already. */
  readonly #faulty: readonly number[];

  constructor(session: Session, faulty: readonly number[]) {
    this.#session = session;
    this.#faulty = faulty;
  }

  /** How many jobs to check, by site, with the first line of each. */
  async sites(): Promise<readonly { readonly site: SiteName; readonly jobs: number; readonly first: number }[]> {
    return this.#session.query(
      `select site, count(*) as jobs, min(line) as first from imported i
       where line <> all($1::int[]) and ${UNKNOWN} group by site order by site`,
      [this.#faulty],
    );
  }

  /** Empties the stored list before another site's is read. */
  async openList(): Promise<void> {
    await this.#session.query('create temporary table if not exists listed (site_job_id text, reference text)');
    await this.#session.query('truncate listed');
  }

  async keepListed(jobs: readonly JobReference[]): Promise<void> {
    const copier = new RowCopier(this.#session, 'listed', { site_job_id: 'text', reference: 'text' });
    for (let at = 0; at < jobs.length; at += READ_AT_ONCE) {
      const some = jobs.slice(at, at + READ_AT_ONCE);
      await copier.copy(some.map(({ siteJobId, reference }) => [siteJobId, reference ?? null]));
    }
  }

  /** The lines of a site, compared with the stored list. */
  async *lines(site: SiteName): AsyncGenerator<ListedLine> {
    await this.#session.query('create temporary table if not exists listed (site_job_id text, reference text)');
    await this.#session.query('analyze listed');
    for (let last = 0; ; ) {
      const rows = await this.#session.query<AskedLine & { listed: boolean; reference: string | null }>(
        `select i.line, i.feed, i.site, i.key, i.site_job_id as "siteJobId", l.site_job_id is not null as listed, l.reference
         from (select * from imported i where site = $1 and line > $2 and line <> all($3::int[]) and ${UNKNOWN}
               order by line limit ${READ_AT_ONCE}) i
         left join listed l on l.site_job_id = i.site_job_id order by i.line`,
        [site, last, this.#faulty],
      );
      for (const row of rows) yield { ...row, reference: row.reference ?? undefined };
      if (rows.length < READ_AT_ONCE) return;
      last = (rows.at(-1) as AskedLine).line;
    }
  }

  /** The reference that was sent, or will be sent, for the posting; `undefined` if unknown. */
  async referenceOf({ feed, key }: AskedLine, referenceField: string): Promise<string | undefined> {
    const [row] = await this.#session.query<{ reference: string | null }>(
      `select coalesce((select fields->>$3 from change where feed = $1 and key = $2 and desired = 'present'),
         (select fields->>$3 from document where feed = $1 and key = $2)) as reference`,
      [feed, key, referenceField],
    );
    return row?.reference ?? undefined;
  }

  /** Another posting, in the file or on the site, with exactly this reference. */
  async otherOwner(asked: AskedLine, referenceField: string, reference: string): Promise<string | undefined> {
    const { feed, key, site } = asked;
    const [row] = await this.#session.query<{ owner: string }>(
      `select 'posting ' || key || ' of feed ' || feed as owner from (
         select feed, key from imported where site = $1 and feed = $2 and key = $4
         union all select feed, key from mapping where feed = $2 and key = $4) p where key <> $3 limit 1`,
      [site, feed, key, reference],
    );
    if (row !== undefined) return row.owner;
    return ownerOfReference(this.#session, { feed, key, site }, referenceField, reference);
  }
}

/** Existing mappings need no check. */
const UNKNOWN = `not exists (select from mapping m where m.feed = i.feed and m.key = i.key)`;
