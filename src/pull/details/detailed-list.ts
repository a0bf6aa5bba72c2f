// Reads the list of a feed with details, and looks up or requests the details, with no transaction open: that may take hours.
import type { RecordBatch } from '../../feed/batch/record-batch.ts';
import type { FeedReading, RecordSink } from '../../feed/feed-reading.ts';
import type { OpenedFeed } from '../../feed/read-feed.ts';
import { type RateLimiter, rateLimiterFor } from '../../flow/rate-limiter.ts';
import { hasPlaces } from '../../posting/places.ts';
import { NO_EDITS } from '../../store/change/override.ts';
import type { Queryable } from '../../store/postgres/database.ts';
import { loadRecordIndex, loadSkippedIndex } from '../../store/pull/record-hashes.ts';
import { anyDue } from '../../store/pull/stored-details.ts';
import { crossStep } from '../../telemetry/steps.ts';
import { DatedRecords } from '../dated-records.ts';
import type { FeedSetup, PullContext } from '../feed-setup.ts';
import { PullLedger } from '../pull-ledger.ts';
import { inStreamingFeedSlot } from '../pull-slots.ts';
import { compileRecordReader, type RecordReader } from '../read-record.ts';
import { RecordIntake } from '../record-intake.ts';
import { AnsweredRecords } from './answered-records.ts';
import { DetailReader, type DetailsContext, GROUP_LIMITS } from './detail-reader.ts';
import type { ListRecord } from './record-spool.ts';

export class DetailedList implements RecordSink {
  readonly intake: RecordIntake;
  readonly reader: DetailReader;
  /** The records to be planned, once {@link requestDetails} has resolved. */
  readonly answered = new AnsweredRecords();
  readonly dated: DatedRecords | undefined;
  /** By which it was read. */
  readonly clock: FeedSetup['clock'];
  readonly #records: RecordReader;

  private constructor(
    intake: RecordIntake,
    reader: DetailReader,
    records: RecordReader,
    { dated, clock }: Pick<DetailedList, 'dated' | 'clock'>,
  ) {
    this.clock = clock;
    this.intake = intake;
    this.reader = reader;
    this.#records = records;
    this.dated = dated;
  }

  /**
   * Notes which records are known. What people and workers change afterwards is looked up when the pull plans: until then no
   * other pull runs, so a known record stays that of its posting's mapping or change, unless the posting loses its job.
   */
  static async open(
    setup: FeedSetup,
    context: Omit<DetailsContext, 'limiter'> & Partial<Pick<DetailsContext, 'limiter'>>,
    samplesKnown?: boolean,
  ): Promise<DetailedList> {
    const { feed, interpretation, isPaged, mapping, expireAfterDays: days } = setup;
    const records = compileRecordReader(setup, NO_EDITS);
    const { limiter = rateLimiterFor(Number.POSITIVE_INFINITY) } = context;
    const reader = await DetailReader.open(feed, setup, setup.source, { ...context, limiter });
    const session = await context.db.lend();
    try {
      const index = await loadRecordIndex(session, feed, days);
      const skipped = await loadSkippedIndex(session, feed, days !== undefined && !hasPlaces(mapping));
      const dated = await DatedRecords.load(session, feed, setup);
      session.giveBack();
      const options = { isPaged, hasPlaces: hasPlaces(mapping), skipped, isDated: dated !== undefined };
      const ledger = new PullLedger(index, interpretation, options);
      const intake = new RecordIntake(setup, ledger, records.recoverKey, samplesKnown);
      return new DetailedList(intake, reader, records, { dated, clock: setup.clock });
    } catch (error) {
      await session.end().catch(() => undefined);
      throw error;
    }
  }

  take(batch: RecordBatch): void {
    this.intake.take(batch, (hashes, at) => {
      const isDue = this.dated?.seeRecord(hashes, at) === true;
      return this.reader.seeRecord(hashes, at) || isDue;
    });
  }

  drain(): Promise<void> | undefined {
    const { waiting } = this.intake;
    // Details are requested once the list was read, which a slow detail could make move or end.
    return waiting.isFull ? this.reader.spool.add(waiting.takeBatch()) : undefined;
  }

  /** Looks up or requests the details of the list, once it was read. */
  async requestDetails(): Promise<void> {
    const { spool } = this.reader;
    await spool.add(this.intake.waiting.takeBatch());
    const readList = this.#records.compileList(this.reader.name);
    let done = 0;
    for await (const group of spool.groups(GROUP_LIMITS)) {
      this.reader.report(done);
      done += group.length;
      await this.#answer(group, readList);
    }
    await spool.close();
  }

  async close(): Promise<void> {
    await this.reader.close();
    await this.answered.close();
  }

  async #answer(group: readonly ListRecord[], readList: ReturnType<RecordReader['compileList']>): Promise<void> {
    const listed = group.map((record) => ({ record, listed: readList(record.bytes) }));
    const keyed = listed.flatMap(({ record, listed: read }) => (read.kind === 'listed' ? [{ ...read, record }] : []));
    const outcomes = (await this.reader.outcomesOf(keyed)).values();
    await this.answered.add(
      listed.map(({ record, listed: { kind } }) => {
        if (kind === 'listed') return { record, outcome: outcomes.next().value };
        this.reader.needsNone(record);
        return { record, outcome: undefined };
      }),
    );
  }
}

// Reads the list of a feed with details and requests the details, before the list is planned.
interface ListContext extends PullContext {
  /** The rate limiter of the list. */
  readonly limiter?: RateLimiter;
  /** See `DetailsContext`. */
  readonly mayStore: boolean;
  readonly refusal?: string;
  /** The number of the pull, for the log; a plan has none. */
  readonly pull?: number;
  /** See `RecordIntake`. */
  readonly samplesKnown?: boolean;
}

/** Calls `work` once the list was read, and its details were looked up or requested. Until then no transaction is open. */
export async function withDetailedList<T>(
  setup: FeedSetup,
  { pull, samplesKnown, ...context }: ListContext,
  opened: Pick<OpenedFeed, 'read'>,
  work: (list: DetailedList, reading: Extract<FeedReading, { kind: 'read' | 'failed' }>) => Promise<T>,
): Promise<T> {
  const { log, signal, onProgress } = context;
  const list = await DetailedList.open(setup, context, samplesKnown);
  try {
    const reading = await inStreamingFeedSlot(signal, (wait) => opened.read(list, { onProgress, wait }));
    signal.throwIfAborted();
    crossStep('records-read');
    if (reading.kind === 'read') {
      await list.requestDetails();
      if (pull !== undefined) log.info({ feed: setup.feed, pull, ...list.reader.counts }, 'details read');
      crossStep('details-read');
    }
    return await work(list, reading);
  } finally {
    await list.close();
  }
}

// Tells whether details of a feed are to be requested again or planned, even if nothing has changed in the list.
export async function anyDetailDue(db: Queryable, { feed, source }: FeedSetup): Promise<boolean> {
  return source.details !== undefined && (await anyDue(db, feed, source.details.refreshMs));
}
