// Brings together what pulling one feed needs.
import type { Logger } from 'pino';
import type { FeedSource } from '../feed/feed-reading.ts';
import type { FeedProgress } from '../feed/read-feed.ts';
import type { DeleteGuard } from '../plan/delete-guard.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { MappingSpec } from '../posting/mapping.ts';
import type { PostingReader } from '../posting/posting.ts';
import type { Database } from '../store/postgres/database.ts';

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

export interface PullContext {
  readonly db: Database;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: FeedProgress) => void;
  /** Told the pull's number as soon as it has one. */
  readonly onPull?: (pull: number) => void;
}
