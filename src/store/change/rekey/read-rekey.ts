// Reads what is known of a feed whose keys seem to have changed: why, and which new posting may be which missing one.
import { hash } from 'node:crypto';
import type { Message } from '../../../plan/message.ts';
import type { FeedName, PostingKey } from '../../../posting/identifiers.ts';
import type { Fields } from '../../../posting/posting.ts';
import { isAsked } from '../../backlog/open-counts.ts';
import {
  type Database,
  inSnapshot,
  type Queryable,
  readValue,
  returnsRow,
  type Session,
  type Stored,
  withoutNulls,
} from '../../postgres/database.ts';
import { inBatches } from '../../postgres/stream-rows.ts';
import { editsOfPostings } from '../edit.ts';
import { compareRekey, PAIR_KINDS, type PairKind, REKEY_IS_COMPARED, type RekeyLine } from './compare-rekey.ts';
import { type RekeyPair, withEdits } from './rekey-postings.ts';

export interface RekeyState {
  /** What a person should know; `undefined`: no change of keys is suspected. */
  readonly note: Message | undefined;
  /** Creates that wait for it. */
  readonly waiting: number;
  /** All creates and deletes of the feed wait. */
  readonly all: boolean;
}

export async function readRekey(db: Queryable, feed: FeedName): Promise<RekeyState> {
  const [row] = await db.query<{ note: Message | null; waiting: number; all: boolean }>(
    `select f.rekey_note as note, (select count(*) from change c where c.feed = f.feed and c.state = 'ready'
         and c.operation = 'create' and c.desired = 'present' and not c.gone and not c.unseen and ${isAsked('c', 'f')}) as waiting,
       f.rekey_all as all
     from feed_state f where f.feed = $1 and f.rekey_since is not null`,
    [feed],
  );
  return { note: row?.note ?? undefined, waiting: row?.waiting ?? 0, all: row?.all === true };
}

/** Whether a change of keys is suspected. */
export const isRekeySuspected = (db: Queryable, feed: FeedName): Promise<boolean> =>
  returnsRow(db, 'select from feed_state where feed = $1 and rekey_since is not null', [feed]);

/** All lines of a feed, as they are at one moment. */
export interface ComparedRekey {
  readonly note: Message;
  /**
   * Whether the lines show the postings as they are at this moment. If not, the server is read-only, or postings change faster than
   * they are compared.
   */
  readonly current: boolean;
  readonly counts: Readonly<Record<PairKind, number>>;
  readonly marks: RekeyMarks;
}

/** Other texts if there are other lines. */
export interface RekeyMarks {
  /** The mark of the certain pairs. */
  readonly sure: string;
  /** The mark of all postings, with and without a pair. */
  readonly all: string;
}

const MOST_TRIES = 3;

/**
 * Compares the postings, if they have changed since they were compared, and hands over a session that sees them as of that moment.
 * @param use is not called if no change of keys is suspected
 */
export async function withRekey<Result>(
  db: Database,
  feed: FeedName,
  use: (session: Session, compared: ComparedRekey) => Promise<Result>,
): Promise<Result | undefined> {
  for (let tries = 1; ; tries += 1) {
    await compareRekey(db, feed);
    const end = await inSnapshot(db, async (session) => {
      const compared = await readCompared(session, feed);
      if (compared === undefined) return { result: undefined };
      return compared.current || tries === MOST_TRIES ? { result: await use(session, compared) } : undefined;
    });
    if (end !== undefined) return end.result;
  }
}

async function readCompared(session: Session, feed: FeedName): Promise<ComparedRekey | undefined> {
  const [state] = await session.query<{ note: Message; current: boolean }>(
    `select rekey_note as note, ${REKEY_IS_COMPARED} as current from feed_state f where feed = $1 and rekey_since is not null`,
    [feed],
  );
  if (state === undefined) return undefined;
  const totals = await session.query<{ show: PairKind; n: number; mark: string }>(
    'select show, n, mark::text from rekey_total where feed = $1',
    [feed],
  );
  const texts = PAIR_KINDS.map((kind) => {
    const { n = 0, mark = '0' } = totals.find(({ show }) => show === kind) ?? {};
    return { kind, n, text: `${n} ${mark}` };
  });
  const markOf = (kinds: typeof texts) =>
    hash('sha256', kinds.map(({ text }) => text).join('\n'), 'hex').slice(0, MARK_LENGTH);
  return {
    ...state,
    counts: Object.fromEntries(texts.map(({ kind, n }) => [kind, n])) as Record<PairKind, number>,
    marks: { sure: markOf(texts.filter(({ kind }) => kind === 'sure')), all: markOf(texts) },
  };
}

const MARK_LENGTH = 20;

/** Where a line is among those of its kind. It stays there as long as its posting is of that kind. */
export interface LinePlace {
  readonly rank: number;
  readonly length: number;
  readonly named: string;
}

export interface StoredLine extends RekeyLine {
  /** Another one after each change of the line. */
  readonly version: string;
  readonly place: LinePlace;
}

type LineRow = Stored<Omit<StoredLine, 'verdict' | 'place'>> & LinePlace & { readonly show: PairKind };

const SELECT = `select show, rank, named_length as length, named, key, old_key as "oldKey", site_job_id as "siteJobId", second_job as "secondJobId", title, reasons,
  contents, version from rekey_line where feed = $1`;

const storedLine = ({ show, rank, length, named, ...line }: LineRow): StoredLine => ({
  ...withoutNulls<Omit<StoredLine, 'verdict' | 'place'>>(line),
  verdict: show === 'sure' || show === 'unsure' ? show : 'unmatched',
  place: { rank, length, named },
});

/** The lines of one kind, by certainty and then by the keys of the new postings. @param after only those that follow this place */
export async function readLines(
  session: Queryable,
  feed: FeedName,
  show: PairKind,
  limit: number,
  after: LinePlace = { rank: 0, length: 0, named: '' },
): Promise<StoredLine[]> {
  const rows = await session.query<LineRow>(
    `${SELECT} and show = $2 and (rank, named_length, named) > ($3::smallint, $4::integer, $5::text)
     order by rank, named_length, named limit $6`,
    [feed, show, after.rank, after.length, after.named, limit],
  );
  return rows.map(storedLine);
}

const BATCH = 500;

/**
 * All lines, or those of one kind: the pairs, the most certain first, then the postings without a pair; by the keys of the new postings.
 */
export async function* streamLines(session: Session, feed: FeedName, show?: PairKind): AsyncGenerator<StoredLine[]> {
  const only = show === undefined ? SELECT : `${SELECT} and show = $2`;
  const values = show === undefined ? [feed] : [feed, show];
  const select = `${only} order by rank, named_length, named`;
  for await (const rows of inBatches<LineRow>(session, 'rekey_lines', select, BATCH, values))
    yield rows.map(storedLine);
}

/** `undefined`: the two postings are no pair. */
export const readPairVersion = (
  session: Queryable,
  feed: FeedName,
  { key, oldKey }: RekeyPair,
): Promise<string | undefined> =>
  readValue<string>(session, 'select version from rekey_line where feed = $1 and key = $2 and old_key = $3', [
    feed,
    key,
    oldKey,
  ]);

export interface RekeySides {
  /** As the site last accepted it; `undefined`: not known. */
  readonly before: Fields | undefined;
  /** What the new posting has, with the edits that it takes over. */
  readonly now: Fields | undefined;
}

/** Reads both sides of each pair, in the order of the pairs. */
export async function readRekeySides(
  db: Queryable,
  feed: FeedName,
  pairs: readonly RekeyPair[],
): Promise<RekeySides[]> {
  const rows = await db.query<{ before: Fields | null; now: Fields | null }>(
    `select d.fields as before, coalesce(c.fields, s.fields) as now from unnest($2::text[], $3::text[]) with ordinality w(old_key, key, place)
       left join document d on d.feed = $1 and d.key = w.old_key left join change c on c.feed = $1 and c.key = w.key
       left join document s on s.feed = $1 and s.key = w.key
     order by w.place`,
    [feed, pairs.map(({ oldKey }) => oldKey), pairs.map(({ key }): PostingKey => key)],
  );
  const editsOf = (keys: readonly PostingKey[]) =>
    editsOfPostings(
      db,
      keys.map((key) => ({ feed, key })),
    );
  const former = await editsOf(pairs.map(({ oldKey }) => oldKey));
  const own = await editsOf(pairs.map(({ key }) => key));
  return rows.map(({ before, now }, at) => {
    // Edits of the new posting replace those of the old one.
    const moved = (former[at] ?? []).filter(({ field }) => own[at]?.every((edit) => edit.field !== field) !== false);
    return { before: before ?? undefined, now: now === null ? undefined : withEdits(now, moved) };
  });
}

export interface RekeyedFeed {
  readonly feed: FeedName;
  readonly since: Date;
  /** A person took it out of service, so nothing of it is sent anyway. */
  readonly isRetired: boolean;
  /** All of its creates and deletes wait; otherwise only those of some postings. */
  readonly isAll: boolean;
}

/** The feeds whose keys seem to have changed, the longest wait first. */
export const rekeyedFeeds = (db: Queryable): Promise<RekeyedFeed[]> =>
  db.query<RekeyedFeed>(
    `select feed, rekey_since as since, retired_at is not null as "isRetired", rekey_all as "isAll" from feed_state
     where rekey_since is not null order by rekey_since, feed`,
  );
