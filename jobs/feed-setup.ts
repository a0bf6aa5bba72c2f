// Brings together what pulling one feed needs.
import type { FeedSource } from '../src/feed/feed-reading.ts';
import type { DeleteGuard } from '../src/plan/delete-guard.ts';
import type { FeedName, SiteName } from '../src/posting/identifiers.ts';
import type { MappingSpec } from '../src/posting/mapping.ts';
import type { PostingReader } from '../src/posting/posting.ts';

/** How the records of a feed are read. */
export interface RecordRules {
  readonly mapping: MappingSpec;
  /** Of that mapping. */
  readonly reader: PostingReader;
  /** Stands for all of how records are read (`interpretationOf`). */
  readonly interpretation: Buffer;
  /** Repair the usual faults of records that are not well-formed. */
  readonly lenient?: boolean;
}

/** One feed, ready to be pulled. */
export interface FeedSetup extends RecordRules {
  readonly feed: FeedName;
  readonly site: SiteName;
  /** Where the site is: see `addressOf`. */
  readonly address: string;
  /** Tells whether feeds have one source: see `sourceDigest`. */
  readonly sourceDigest: string;
  /** A field that the site stores and returns, by which jobs that are there already are found. */
  readonly referenceField: string | undefined;
  readonly source: FeedSource;
  readonly guard: DeleteGuard;
  /** With fewer records the feed is not taken for complete. */
  readonly minRecords: number | undefined;
  /** All feeds of the configuration, this one among them. */
  readonly configured: ReadonlySet<FeedName>;
}
