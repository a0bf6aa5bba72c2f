// Reads one version of the feed without a database, and works out what a site that mirrors it should and should not have.
import type { FeedSource } from '../../feed/feed-reading.ts';
import { formatOf } from '../../feed/format/formats.ts';
import { readFeed } from '../../feed/read-feed.ts';
import { kindOf } from '../../feed/source/sources.ts';
import type { PostingKey } from '../../posting/identifiers.ts';
import type { Fields, ReadPosting } from '../../posting/posting.ts';
import type { FeedSetup } from '../../pull/feed-setup.ts';

export interface ReadVersion {
  /** The posting of each key; the first one, if the key is repeated. */
  readonly results: ReadonlyMap<PostingKey, ReadPosting>;
  /** Keys that appear more than once. */
  readonly repeated: ReadonlySet<PostingKey>;
}

/** @throws Error if the feed can't be read completely; the demo's own can. */
export async function readVersion({ source, reader }: FeedSetup, signal: AbortSignal): Promise<ReadVersion> {
  const results = new Map<PostingKey, ReadPosting>();
  const repeated = new Set<PostingKey>();
  const { parseRecord } = formatOf(source.format);
  const take = (bytes: Buffer): void => {
    const parsed = parseRecord(bytes);
    const result = parsed.kind === 'tree' ? reader.read(parsed.tree) : parsed;
    if (result.kind === 'unreadable')
      throw unusable(
        source,
        result.problems.map(({ message }) => message),
      );
    // The demo's feed has neither skipped records nor several places.
    if (result.kind === 'skipped' || result.kind === 'places') return;
    const { key } = result.posting;
    if (results.has(key)) repeated.add(key);
    else results.set(key, result);
  };
  const reading = await readFeed(
    source,
    {
      take: (batch) => {
        for (let record = 0; record < batch.count; record++) {
          const oversized = batch.oversizedLengthOf(record);
          if (oversized > 0) throw unusable(source, [`a record has ${oversized} bytes`]);
          take(Buffer.from(batch.recordOf(record)));
        }
      },
      drain: () => undefined,
    },
    { signal },
  );
  if (reading.kind === 'failed') throw unusable(source, [reading.message]);
  if (reading.kind === 'read' && reading.shortfalls.length > 0) throw unusable(source, reading.shortfalls);
  return { results, repeated };
}

const unusable = ({ from }: FeedSource, why: readonly string[]): Error =>
  new Error(`the demo's feed ${kindOf(from).placeOf(from)} can't be used: ${why.join('; ')}`);

/** What a site should have after it mirrored `before` and then `now`. */
export interface ExpectedSite {
  /** The fields of each job that should be live. */
  readonly live: ReadonlyMap<PostingKey, Fields>;
  /** Postings that break a rule. Those also in `live` were there before, and stay unchanged. */
  readonly invalid: ReadonlySet<PostingKey>;
  /** Postings that were live and are no longer in the feed. */
  readonly gone: ReadonlySet<PostingKey>;
}

export function expectSite(now: ReadVersion, before?: ExpectedSite): ExpectedSite {
  const live = new Map<PostingKey, Fields>();
  const invalid = new Set<PostingKey>();
  for (const [key, { kind, posting }] of now.results) {
    if (kind === 'invalid') invalid.add(key);
    const fields = kind === 'posting' ? posting.fields : before?.live.get(key);
    if (fields !== undefined) live.set(key, fields);
  }
  const gone = [...(before?.live.keys() ?? [])].filter((key) => !now.results.has(key));
  return { live, invalid, gone: new Set(gone) };
}
