// Reads a feed to adopt jobs, and writes nothing: the postings that have no job, or whether the feed still has a record
// as it was read.
import { formatOf } from '../../feed/format/formats.ts';
import { openFeed } from '../../feed/read-feed.ts';
import { requestDigest } from '../../feed/source/request-digest.ts';
import { kindOf } from '../../feed/source/sources.ts';
import type { Message } from '../../plan/message.ts';
import { interpretedHash } from '../../posting/hash.ts';
import { dateConditionsOf } from '../../posting/mapping-paths.ts';
import { type UnmappedPosting, unmappedPostings } from '../../store/backlog/unmapped-postings.ts';
import type { FeedSetup, PullContext } from '../feed-setup.ts';
import { inDryRun, whyNotPlan } from './undone-pull.ts';

type ReadUnmappedEnd =
  /**
   * `shortfalls`: why the feed may have further postings; empty if it has none. `version`: of the source, for its next opening;
   * `undefined` if it has none.
   */
  | {
      readonly kind: 'read';
      readonly seen: number;
      readonly shortfalls: readonly Message[];
      readonly version: string | undefined;
    }
  | { readonly kind: 'failed'; readonly message: Message };

/**
 * The caller holds the feed's pull lock. `take` receives the postings in portions: also those that have expired, as the site may have
 * jobs of them that the database does not know.
 */
export function readUnmapped(
  setup: FeedSetup,
  context: PullContext,
  take: (postings: readonly UnmappedPosting[]) => Promise<void>,
): Promise<ReadUnmappedEnd> {
  return inDryRun({ ...setup, expireAfterDays: undefined }, context, async ({ session, findings, version }) => {
    for await (const postings of unmappedPostings(session, setup.feed)) await take(postings);
    return { kind: 'read', seen: findings.seen, shortfalls: findings.shortfalls, version } as const;
  });
}

// Finds out, without planning the feed, whether it still has a record as it was read: by the version of the source, or by the record's bytes.

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
