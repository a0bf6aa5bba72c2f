// Finds out, without planning the feed, whether it still has a record as it was read: by the version of the source, or by the record's bytes.
import { formatOf } from '../feed/format/formats.ts';
import { openFeed } from '../feed/read-feed.ts';
import { requestDigest } from '../feed/source/request-digest.ts';
import { kindOf } from '../feed/source/sources.ts';
import type { Message } from '../plan/message.ts';
import { interpretedHash } from '../posting/hash.ts';
import { dateConditionsOf } from '../posting/mapping-paths.ts';
import type { FeedSetup, PullContext } from './feed-setup.ts';
import { whyNotPlan } from './undone-pull.ts';

/** A record as it was read before. */
export interface EarlierRecord {
  /** As it is stored; see `interpretedHash`. */
  readonly recordHash: Buffer;
  /** Of the source; `undefined` if it has no versions. */
  readonly version: string | undefined;
}

export type AsReadEnd =
  | { readonly kind: 'same' }
  /** The record is another one by now, or this cannot be told without reading the feed as a pull does. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly message: Message };

/** The caller holds the feed's pull lock. Stops reading at the record. */
export async function stillAsRead(
  setup: FeedSetup,
  context: PullContext,
  { recordHash, version }: EarlierRecord,
): Promise<AsReadEnd> {
  const { source, interpretation } = setup;
  if (!tellsByRecord(setup)) return { kind: 'unknown' };
  const refusal = await whyNotPlan(setup, context);
  if (refusal !== undefined) return { kind: 'failed', message: refusal };
  const found = new AbortController();
  const signal = AbortSignal.any([context.signal, found.signal]);
  // As the postings without a job were read (`readUnmapped`).
  const request = requestDigest(source, { ...setup, expireAfterDays: undefined });
  const opened = await openFeed(source, { version, request, signal });
  if (opened.kind === 'not_modified') return { kind: 'same' };
  if (opened.kind === 'failed') return opened;
  try {
    const reading = await opened.read(
      {
        take(batch) {
          for (let record = 0; record < batch.count; record++)
            if (interpretedHash(batch.hashes, batch.hashAt(record), interpretation).equals(recordHash)) found.abort();
        },
        drain: () => undefined,
      },
      // A thread would hand over records later than they arrive.
      { threadsFromBytes: Number.POSITIVE_INFINITY },
    );
    if (found.signal.aborted) return { kind: 'same' };
    return reading.kind === 'failed' ? reading : { kind: 'unknown' };
  } catch (error) {
    context.signal.throwIfAborted();
    if (found.signal.aborted) return { kind: 'same' };
    throw error;
  } finally {
    opened.close();
  }
}

/** With details, a posting has more than its record; with some formats, and with conditions on dates, a record is no posting any more after some time. */
const tellsByRecord = ({ source, mapping }: FeedSetup): boolean =>
  source.details === undefined &&
  formatOf(source.format).dependsOnTime !== true &&
  dateConditionsOf(mapping).length === 0 &&
  kindOf(source.from).isRepeatable;
