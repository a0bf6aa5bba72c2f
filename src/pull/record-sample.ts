// Takes a bounded sample of the records that stream in, to find likely mistakes of the mapping.
import type { RecordBatch } from '../feed/batch/record-batch.ts';
import { readFeed } from '../feed/read-feed.ts';
import { type ReadingClock, startClock } from '../feed/reading-clock.ts';
import { compileConditions } from '../posting/conditions.ts';
import { RecordDates } from '../posting/dates.ts';
import { mappingMistakes } from '../posting/paths/mapping-mistakes.ts';
import { PathCensus } from '../posting/paths/path-census.ts';
import { PlaceholderCensus } from '../posting/placeholders.ts';
import type { ReadPosting, RecordTree } from '../posting/posting.ts';
import type { FeedSetup, RecordRules } from './feed-setup.ts';
import { compileParser } from './read-record.ts';

/** The first so many records are taken; after that, one of a batch, and ever fewer batches. */
const FIRST_RECORDS = 100;
const RECORDS_PER_STEP = 50;

export class RecordSample {
  readonly #rules: RecordRules;
  readonly #parse: ReturnType<typeof compileParser>;
  readonly #census: PathCensus;
  readonly #placeholders: PlaceholderCensus;
  readonly #isSkipped: ReturnType<typeof compileConditions> | undefined;
  readonly #clock: ReadingClock;
  readonly #onRecord: ((record: RecordTree) => void) | undefined;
  #batches = 0;
  #every = 1;
  #taken = 0;

  /** @param onRecord called with each record that is taken and not skipped */
  constructor(rules: RecordRules, onRecord?: (record: RecordTree) => void) {
    this.#rules = rules;
    this.#onRecord = onRecord;
    this.#parse = compileParser(rules);
    this.#census = new PathCensus(rules.mapping);
    this.#placeholders = new PlaceholderCensus(rules.mapping);
    this.#clock = rules.clock ?? startClock();
    const { skip } = rules.mapping;
    this.#isSkipped = skip === undefined ? undefined : compileConditions(skip, 'nothing holds');
  }

  /** Takes some of the records. */
  take(batch: RecordBatch): void {
    const { count } = batch;
    if (count === 0) return;
    if (this.#taken < FIRST_RECORDS) {
      const most = Math.min(count, FIRST_RECORDS - this.#taken);
      for (let nth = 0; nth < most; nth++) this.#add(batch, Math.floor((nth * count) / most));
    } else if (this.#batches++ % this.#every === 0) {
      this.#add(batch, this.#taken % count);
      if (this.#taken % RECORDS_PER_STEP === 0) this.#every *= 2;
    }
  }

  /** One sentence for each likely mistake. */
  mistakes(): readonly string[] {
    const { mapping, ownFields, hasOwnPlaces, detail } = this.#rules;
    const { fields, places } = mapping;
    const own = { fields, ...(hasOwnPlaces && places !== undefined ? { places } : {}) };
    return [...mappingMistakes(own, this.#census, ownFields, detail), ...this.#placeholders.mistakes()];
  }

  #add(batch: RecordBatch, record: number): void {
    this.#taken++;
    if (batch.oversizedLengthOf(record) > 0) return;
    const parsed = this.#parse(batch.recordOf(record));
    if (parsed.kind !== 'tree') return;
    this.#census.addDates(parsed.tree);
    const dates = new RecordDates(this.#clock.time);
    if (this.#isSkipped?.(parsed.tree, dates) === true) return;
    this.#census.add(parsed.tree);
    this.#onRecord?.(parsed.tree);
    const posting = this.#postingOf(parsed.tree, dates);
    if (posting !== undefined) this.#placeholders.add(parsed.tree, posting.posting.fields);
  }

  /** The posting of a record, or that of its first place; without what expressions and its detail add. */
  #postingOf(tree: RecordTree, dates: RecordDates): ReadPosting | undefined {
    const read = this.#rules.reader.read(tree, dates);
    switch (read.kind) {
      case 'posting':
      case 'invalid':
        return read;
      case 'places':
        return read.postings[0];
      case 'unreadable':
      case 'skipped':
        return undefined;
    }
  }
}

/** A document without records is not read any further. */
const MOST_BYTES = 64 * 1024 * 1024;

/** One sentence for each likely mistake, or why the feed cannot be read. Throws only the reason of the signal. */
export async function sampleFeed(setup: FeedSetup, signal: AbortSignal): Promise<readonly string[]> {
  const sample = new RecordSample(setup);
  const enough = new AbortController();
  let records = 0;
  const sink = {
    take(batch: RecordBatch) {
      sample.take(batch);
      records += batch.count;
      if (records >= FIRST_RECORDS) enough.abort();
    },
    drain: () => undefined,
  };
  const onProgress = ({ bytes }: { readonly bytes: number }) => {
    if (bytes > MOST_BYTES) enough.abort();
  };
  try {
    const reading = await readFeed(setup.source, sink, {
      signal: AbortSignal.any([signal, enough.signal]),
      onProgress,
      threadsFromBytes: Number.POSITIVE_INFINITY,
    });
    if (reading.kind === 'failed') return [reading.message];
    if (reading.kind === 'read' && reading.advice !== undefined) return [reading.advice];
    if (reading.kind === 'read' && reading.records === 0) return reading.shortfalls;
  } catch (error) {
    signal.throwIfAborted();
    if (!enough.signal.aborted) throw error;
  }
  return sample.mistakes();
}
