// The time of a pull, by which postings expire and conditions on dates are judged. Finds the records that a date makes
// something else although they are unchanged, and notes when those that are read do so next.
import { type HashMask, maskOf, type RecordIndex } from '../compact/record-index.ts';
import { formatOf } from '../feed/format/formats.ts';
import { type ReadingClock, startClock } from '../feed/reading-clock.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { dateConditionsOf } from '../posting/paths/mapping-paths.ts';
import { databaseTime } from '../store/change/site-search.ts';
import type { Queryable, Session } from '../store/postgres/database.ts';
import {
  anyRecordDue,
  DatedMark,
  type DatedRecord,
  loadDatedIndex,
  removeDated,
  storeDated,
} from '../store/pull/record-hashes.ts';
import type { FeedSetup, RecordRules } from './feed-setup.ts';
import type { SeenRecord } from './pull-ledger.ts';
import type { Postponed, ReadRecord } from './read-record.ts';

/** Whether the feed must be read, changed or not, because a record of it is due. */
export async function anyDateDue(db: Queryable, { feed, mapping, clock }: FeedSetup): Promise<boolean> {
  if (clock === undefined || dateConditionsOf(mapping).length === 0) return false;
  return anyRecordDue(db, feed, clock.time.now);
}

/** Dates from here on stand for "never". */
const NEVER = Date.UTC(9000);

/** Rows of so many records are written at once. */
const WRITTEN_RECORDS = 5_000;

/** The records of one pull of a feed with conditions on dates. */
export class DatedRecords {
  readonly #feed: FeedName;
  readonly #index: RecordIndex;
  readonly #mask: HashMask;
  /** By hash in hex. `undefined`: dates decide nothing. */
  #noted = new Map<string, DatedRecord | undefined>();
  /** Records of which the clocks say different things. */
  uncertain = 0;

  private constructor(feed: FeedName, index: RecordIndex, interpretation: Buffer) {
    this.#feed = feed;
    this.#index = index;
    this.#mask = maskOf(interpretation);
  }

  /** `undefined`: the feed has no conditions on dates. */
  static async load(
    session: Session,
    feed: FeedName,
    { mapping, clock, interpretation }: RecordRules,
  ): Promise<DatedRecords | undefined> {
    if (clock === undefined || dateConditionsOf(mapping).length === 0) return undefined;
    return new DatedRecords(feed, await loadDatedIndex(session, feed, clock.time.now), interpretation);
  }

  /** Notes that the feed has a record. Returns whether it must be parsed, although it may be known. */
  seeRecord(hashes: Buffer, at: number): boolean {
    const slot = this.#index.findMasked(hashes, at, this.#mask);
    if (slot < 0) return false;
    this.#index.see(slot, 0);
    return this.#index.mark(slot) === DatedMark.due;
  }

  /** Notes how long what was read of a record is valid. What could not be read stays due. */
  note({ hash }: SeenRecord, read: ReadRecord | Postponed): void {
    if (read.kind === 'postponed' || read.until === undefined) return;
    const isSkipped = read.kind === 'skipped';
    if (isSkipped && read.isUncertain === true) this.uncertain++;
    const byDate = isSkipped ? read.byDate : undefined;
    const name = hash.toString('hex');
    const earlier = this.#noted.get(name)?.dueAt ?? Number.POSITIVE_INFINITY;
    const until = Math.min(read.until, earlier);
    const dueAt = until < NEVER ? until : undefined;
    const since = byDate !== undefined && Number.isFinite(byDate.since) ? byDate.since : undefined;
    const skipped = isSkipped && byDate ? { key: read.key, since } : undefined;
    const isDated = dueAt !== undefined || skipped !== undefined;
    if (!isDated && this.#index.find(hash) < 0) return;
    this.#noted.set(name, isDated ? { recordHash: hash, dueAt, skipped } : undefined);
  }

  /** Writes what was noted: all, or if that is enough for a statement. */
  async write(session: Session, all: boolean): Promise<void> {
    if (this.#noted.size === 0 || (!all && this.#noted.size < WRITTEN_RECORDS)) return;
    const noted = this.#noted;
    this.#noted = new Map();
    const gone = [...noted].flatMap(([name, record]) => (record === undefined ? [Buffer.from(name, 'hex')] : []));
    await storeDated(
      session,
      this.#feed,
      [...noted.values()].filter((record) => record !== undefined),
    );
    await removeDated(session, this.#feed, gone);
  }

  /** Removes the records that a reading to the proven end of the feed did not find. */
  removeUnseen(session: Session): Promise<void> {
    return removeDated(session, this.#feed, this.#index.missing([DatedMark.later, DatedMark.due]));
  }
}

/** Starts by the clock of the database. `undefined` if the time makes no difference for the feed. */
export async function pullClock(
  db: Queryable,
  { source, mapping }: Pick<FeedSetup, 'source' | 'mapping'>,
): Promise<ReadingClock | undefined> {
  const formats = [source.format, ...(source.details === undefined ? [] : [source.details.document.format])];
  const isTimed = formats.some((name) => formatOf(name).dependsOnTime === true) || dateConditionsOf(mapping).length > 0;
  return isTimed ? startClock((await databaseTime(db)).getTime()) : undefined;
}

/** The setup whose records and details are read at the time of the pull. */
export function setupAtTime(setup: FeedSetup, clock: ReadingClock | undefined): FeedSetup {
  if (clock === undefined) return setup;
  const { details } = setup.source;
  if (details === undefined) return { ...setup, clock };
  const document = { ...details.document, clock };
  return { ...setup, clock, source: { ...setup.source, details: { ...details, document } } };
}
