// Limits the concurrency of pulls in a process. Waiting for a source takes no slot; small feeds have their own slots.
import { type HashMask, maskOf, type RecordIndex, type Slot } from '../compact/record-index.ts';
import type { WaitForBytes } from '../feed/source/several-source.ts';
import { endsWithin } from '../flow/pause.ts';
import { type Semaphore, semaphoreFor } from '../flow/semaphore.ts';
import { HASH_BYTES, interpretedHash, placeMask, xorHash } from '../posting/hash.ts';

/**
 * Starting pulls run only a few statements. They get the most slots, so a thousand pulls due at once all start soon.
 */
const brief = semaphoreFor(8);
/** Reports of finished pulls, which are not urgent. */
const reports = semaphoreFor(2);
/** Feeds whose whole body is in memory: each takes a few milliseconds. */
const small = semaphoreFor(4);
/** Streaming feeds. Each holds a connection, a transaction and a few megabytes. */
const streaming = semaphoreFor(8);
/** Feeds whose details are requested, which may take an hour. Each holds some megabytes; it streams like the others before and after. */
const detailed = semaphoreFor(6);
/** Streaming feeds that have bytes to process. */
const working = semaphoreFor(2);

/** A streaming feed that waits this long for its source frees its slot for another one. */
const YIELD_AFTER_MS = 250;

const NEVER = new AbortController().signal;

/** Runs a few statements of a starting pull. */
export const inBriefSlot = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
  withSlot(brief, signal, work);

/** Reports a finished pull, even while the process is stopping. */
export const inReportSlot = <T>(work: () => Promise<T>): Promise<T> => withSlot(reports, NEVER, work);

/** Processes a feed that is entirely in memory. */
export const inSmallFeedSlot = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
  withSlot(small, signal, work);

/** Processes a streaming feed. @param work receives the function with which it waits for the source. */
export function inStreamingFeedSlot<T>(signal: AbortSignal, work: (wait: WaitForBytes) => Promise<T>): Promise<T> {
  return withSlot(streaming, signal, async () => {
    let release = await takeSlot(working, signal);
    let ended = false;
    const wait: WaitForBytes = async (next) => {
      if (await endsWithin(next, YIELD_AFTER_MS)) return next;
      release();
      await next.catch(() => undefined);
      const taken = await takeSlot(working, signal);
      if (ended) taken();
      else release = taken;
      return next;
    };
    try {
      return await work(wait);
    } finally {
      ended = true;
      release();
    }
  });
}

/** Processes a feed whose postings have details: its list and its plan are to be processed as those of a streaming feed. */
export const inDetailedFeedSlot = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
  withSlot(detailed, signal, work);

async function withSlot<T>(slots: Semaphore, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const release = await takeSlot(slots, signal);
  try {
    return await work();
  } finally {
    release();
  }
}

/** These semaphores are never closed. */
async function takeSlot(slots: Semaphore, signal: AbortSignal): Promise<() => void> {
  const release = (await slots.take()) ?? (() => undefined);
  if (!signal.aborted) return release;
  release();
  throw signal.reason;
}

// Finds the postings of a record with several places by the hash of the record, without parsing it.

/**
 * Each posting is stored with a hash of its own, made of the record's hash and its number among the places. The last one is
 * marked, so a record is known only if every one of its postings is: none gets lost because the others are unchanged.
 */
export class PlaceSlots {
  readonly #index: RecordIndex;
  readonly #interpretation: Buffer;
  /** The masks by number of the place: of a place with others after it, and of a last one. */
  readonly #masks: { readonly more: HashMask; readonly last: HashMask }[] = [];

  constructor(index: RecordIndex, interpretation: Buffer) {
    this.#index = index;
    this.#interpretation = interpretation;
  }

  /** The slots of all postings of the record whose hash starts at `at` in `hashes`; `undefined` if one is not known. */
  find(hashes: Buffer, at: number): readonly Slot[] | undefined {
    const slots: Slot[] = [];
    for (let place = 0; ; place++) {
      const { more, last } = this.#masksOf(place);
      const end = this.#index.findMasked(hashes, at, last);
      if (end >= 0) return [...slots, end];
      const slot = this.#index.findMasked(hashes, at, more);
      if (slot < 0) return undefined;
      slots.push(slot);
    }
  }

  #masksOf(place: number): { readonly more: HashMask; readonly last: HashMask } {
    this.#masks[place] ??= { more: this.#mask(place, false), last: this.#mask(place, true) };
    return this.#masks[place];
  }

  #mask(place: number, isLast: boolean): HashMask {
    return maskOf(interpretedHash(placeMask(place, isLast), 0, this.#interpretation));
  }
}

/**
 * The hashes with which the postings of a record are stored. If its places are unclear, none is the last: then the record is
 * parsed in every pull, which protects the postings that its unreadable places may be.
 * @param recordHash the hash of the record as stored
 */
export function placeHashes(recordHash: Buffer, places: number, isUnclear: boolean): readonly Buffer[] {
  return Array.from({ length: places }, (_, place) => {
    const own = Buffer.from(recordHash.subarray(0, HASH_BYTES));
    xorHash(own, 0, placeMask(place, place === places - 1 && !isUnclear));
    return own;
  });
}
