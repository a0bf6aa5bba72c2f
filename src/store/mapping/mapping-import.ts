// Imports mappings from a file: checks all of them against the database, then writes all or none.

import type { FeedName, PostingRef, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import { auditAction } from '../access/audit.ts';
import { ownerOfReference } from '../change/candidate-owners.ts';
import { adoptImported, LOCK_IMPORTED, refusedJobs } from '../change/imported-jobs.ts';
import { type HeldLock, lockOutcomesShared } from '../locks/advisory-locks.ts';
import { lockFeed } from '../locks/feed-locks.ts';
import { RowCopier, temporaryTable } from '../postgres/copy-rows.ts';
import { type Database, readColumn, readNumber, readValue, type Session } from '../postgres/database.ts';
import { chunksOf } from '../postgres/stream-rows.ts';
import { unreadHashSql } from '../pull/record-hashes.ts';
import { confirmSiteAt } from '../site/known-address.ts';
import type { MappingRow } from './find-jobs.ts';

/** One line of the file: a mapping, or its problem. */
export type ImportLine =
  | ({
      readonly kind: 'mapping';
      /** From 1. */
      readonly line: number;
    } & Omit<MappingRow, 'since'> &
      Partial<Pick<MappingRow, 'since'>>)
  | ({ readonly kind: 'problem' } & LineProblem);

export interface LineProblem {
  readonly line: number;
  readonly message: string;
}

export type ImportEnd =
  /** `known`: lines whose mapping existed already. */
  | { readonly kind: 'imported'; readonly added: number; readonly known: number }
  /** Nothing was written. The first problems; `more`: there are further ones. */
  | { readonly kind: 'refused'; readonly problems: readonly LineProblem[]; readonly more: boolean }
  /** Nothing was written: a pull of this feed is running. */
  | { readonly kind: 'busy'; readonly feed: FeedName };

const MAX_PROBLEMS = 100;
const COPIED_AT_ONCE = 1_000;
const IMPORTED_COLUMNS = {
  line: 'integer',
  feed: 'text',
  site: 'text',
  key: 'text',
  site_job_id: 'text',
  site_job_url: 'text',
  mapped_at: 'text',
} as const;

/** Checks the jobs of valid lines with the sites before anything is written. Returns the problems. */
export type AskSites = (lines: ImportedLines) => Promise<readonly LineProblem[]>;

/**
 * Imports all lines in one transaction, while none of their feeds is pulled.
 * @param ask `undefined` if a person vouches for the jobs.
 * @param leaving feeds whose policy changes no job.
 * @param addresses where the sites are asked.
 */
export async function importMappings(
  db: Database,
  lines: AsyncIterable<ImportLine>,
  actor: string,
  ask: AskSites | undefined,
  leaving: readonly FeedName[] = [],
  addresses: ReadonlyMap<SiteName, string> = new Map(),
): Promise<ImportEnd> {
  const session = await db.session();
  const locks: HeldLock[] = [];
  try {
    await session.query(temporaryTable('imported', IMPORTED_COLUMNS));
    const faulty = await copyLines(session, lines);
    await session.query('analyze imported');
    const feeds = await readColumn<FeedName>(session, 'select distinct feed from imported order by feed');
    for (const feed of feeds) {
      const lock = await lockFeed(db, feed);
      if (lock === undefined) return { kind: 'busy', feed };
      locks.push(lock);
    }
    // The sites take their time to answer; meanwhile only pulls of these feeds are locked out.
    const unasked = ask === undefined ? [] : await readConflicts(session);
    const lineNumbers = unasked.map(({ line }) => line);
    const asked = ask === undefined ? [] : await ask(new ImportedLines(session, lineNumbers));
    await session.query('begin');
    await lockOutcomesShared(session, feeds);
    await session.query(LOCK_IMPORTED);
    const conflicts = await readConflicts(session);
    const moved = ask === undefined ? [] : await findMoved(session, addresses);
    const problems = [...faulty, ...asked, ...moved, ...conflicts, ...changed(unasked, conflicts)].sort(
      (a, b) => a.line - b.line,
    );
    if (problems.length > 0) {
      return { kind: 'refused', problems: problems.slice(0, MAX_PROBLEMS), more: problems.length > MAX_PROBLEMS };
    }
    const end = await writeMappings(session, actor, ask === undefined, leaving);
    await session.query('commit');
    return end;
  } finally {
    await session.end();
    for (const lock of locks) await lock.release();
  }
}

/** Copies the valid lines to the temporary table. Returns problems of the others, no more than are reported. */
async function copyLines(session: Session, lines: AsyncIterable<ImportLine>): Promise<LineProblem[]> {
  const problems: LineProblem[] = [];
  let rows: (string | number | null)[][] = [];
  const copier = new RowCopier(session, 'imported', IMPORTED_COLUMNS);
  const flush = async () => {
    await copier.copy(rows);
    rows = [];
  };
  for await (const entry of lines) {
    if (entry.kind === 'problem') {
      if (problems.length <= MAX_PROBLEMS) problems.push({ line: entry.line, message: entry.message });
      continue;
    }
    rows.push([
      entry.line,
      entry.feed,
      entry.site,
      entry.key,
      entry.siteJobId,
      entry.url ?? null,
      entry.since?.toISOString() ?? null,
    ]);
    if (rows.length >= COPIED_AT_ONCE) await flush();
  }
  await flush();
  return problems;
}

/** Problems that have ended while the sites were asked, perhaps with the jobs of their lines: no site was asked about these. */
function changed(before: readonly LineProblem[], now: readonly LineProblem[]): LineProblem[] {
  const lines = new Set(now.map(({ line }) => line));
  return before
    .filter(({ line }) => !lines.has(line))
    .map(({ line, message }) => ({ line, message: `${message}; this has just changed, so import the file again` }));
}

/** The sites that have moved since they were asked, each with its first line. */
async function findMoved(session: Session, addresses: ReadonlyMap<SiteName, string>): Promise<LineProblem[]> {
  const sites = await session.query<{ site: SiteName; line: number }>(
    'select site, min(line) as line from imported group by site order by site',
  );
  const problems: LineProblem[] = [];
  for (const { site, line } of sites) {
    const address = addresses.get(site);
    if (address !== undefined && !(await confirmSiteAt(session, site, address)))
      problems.push({
        line,
        message: `the jobs of site ${site} are no longer at ${address}, where it was asked about them`,
      });
  }
  return problems;
}

/** Problems of the lines. */
function readConflicts(session: Session): Promise<LineProblem[]> {
  return session.query<LineProblem>(
    `with repeats as (
       select line, 'posting ' || key || ' of job ' || site_job_id || ' already appears in line ' || first as message
       from (select line, key, site_job_id, min(line) over (partition by feed, key, site_job_id) as first from imported) i
       where line > first),
     lines as (select * from imported i where not exists (select from repeats r where r.line = i.line))
     select distinct line, message from (
       select line, message from repeats
     union all
       select line, 'posting ' || key || ' already appears in line ' || first as message
       from (select line, key, min(line) over (partition by feed, key) as first from lines) i where line > first
     union all
       select line, 'job ' || site_job_id || ' already appears in line ' || first
       from (select line, site_job_id, min(line) over (partition by site, site_job_id) as first from lines) i
       where line > first
     union all
       select line, 'mapped_at is in the future: ' || mapped_at from lines where mapped_at::timestamptz > now() + interval '1 day'
     union all
       select min(line), message from (${refusedJobs('lines', true)}) refused group by message
     ) problem order by line, message limit $1`,
    [MAX_PROBLEMS + 1],
  );
}

/**
 * Writes the mappings with hashes that match nothing, so the next pull sends all fields: the content of the jobs is unknown.
 */
async function writeMappings(
  session: Session,
  actor: string,
  unchecked: boolean,
  leaving: readonly FeedName[],
): Promise<ImportEnd> {
  const added = await session.query<{ feed: FeedName; n: number }>(
    `with added as (
       insert into mapping (feed, key, site, site_job_id, site_job_url, record_hash, content_hash, adopted, mapped_at)
       select feed, key, site, site_job_id, site_job_url, ${unreadHashSql('imported')},
         decode(repeat('00', 16), 'hex'), true, coalesce(mapped_at::timestamptz, now())
       from imported order by feed, key on conflict (feed, key) do nothing returning feed)
     select feed, count(*) as n from added group by feed`,
  );
  await adoptImported(session, leaving);
  for (const { feed, n } of added) {
    const detail = { added: n, ...(unchecked ? { unchecked } : {}) };
    await auditAction(session, { actor, action: 'import mappings', feed, detail });
  }
  const all = await readNumber(session, 'select count(*) as n from imported');
  const total = added.reduce((sum, row) => sum + row.n, 0);
  return { kind: 'imported', added: total, known: all - total };
}

/** A line whose job is in no mapping yet. */
export interface LineWithoutMapping extends PostingRef {
  readonly line: number;
  readonly site: SiteName;
  readonly siteJobId: SiteJobId;
}

/** A line with what the site's list shows of its job. */
export interface ListedLine extends LineWithoutMapping {
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
    for (const some of chunksOf(jobs, READ_AT_ONCE))
      await copier.copy(some.map(({ siteJobId, reference }) => [siteJobId, reference ?? null]));
  }

  /** The lines of a site, compared with the stored list. */
  async *lines(site: SiteName): AsyncGenerator<ListedLine> {
    await this.#session.query('create temporary table if not exists listed (site_job_id text, reference text)');
    await this.#session.query('analyze listed');
    for (let last = 0; ; ) {
      const rows = await this.#session.query<LineWithoutMapping & { listed: boolean; reference: string | null }>(
        `select i.line, i.feed, i.site, i.key, i.site_job_id as "siteJobId", l.site_job_id is not null as listed, l.reference
         from (select * from imported i where site = $1 and line > $2 and line <> all($3::int[]) and ${UNKNOWN}
               order by line limit ${READ_AT_ONCE}) i
         left join listed l on l.site_job_id = i.site_job_id order by i.line`,
        [site, last, this.#faulty],
      );
      for (const row of rows) yield { ...row, reference: row.reference ?? undefined };
      if (rows.length < READ_AT_ONCE) return;
      last = (rows.at(-1) as LineWithoutMapping).line;
    }
  }

  /** The reference that was sent, or will be sent, for the posting; `undefined` if unknown. */
  async referenceOf({ feed, key }: LineWithoutMapping, referenceField: string): Promise<string | undefined> {
    return readValue<string>(
      this.#session,
      `select coalesce((select fields->>$3 from change where feed = $1 and key = $2 and desired = 'present'),
         (select fields->>$3 from document where feed = $1 and key = $2)) as reference`,
      [feed, key, referenceField],
    );
  }

  /** Another posting, in the file or on the site, with exactly this reference. */
  async otherOwner(asked: LineWithoutMapping, referenceField: string, reference: string): Promise<string | undefined> {
    const { feed, key, site } = asked;
    const owner = await readValue<string>(
      this.#session,
      `select 'posting ' || key || ' of feed ' || feed as owner from (
         select feed, key from imported where site = $1 and feed = $2 and key = $4
         union all select feed, key from mapping where feed = $2 and key = $4) p where key <> $3 limit 1`,
      [site, feed, key, reference],
    );
    return owner ?? ownerOfReference(this.#session, { feed, key, site }, referenceField, reference);
  }
}

/** Existing mappings need no check. */
const UNKNOWN = `not exists (select from mapping m where m.feed = i.feed and m.key = i.key)`;
