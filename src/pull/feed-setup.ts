// What pulling one feed needs: its setup and the context of the process.
import type { Logger } from 'pino';
import type { FeedSource } from '../feed/feed-reading.ts';
import type { TableLayout } from '../feed/format/format.ts';
import type { FormatName } from '../feed/format/format-kinds.ts';
import type { FeedProgress } from '../feed/read-documents.ts';
import type { ReadingClock } from '../feed/reading-clock.ts';
import {
  type FindUpload,
  type Network,
  networkOfSources,
  type RequestedAddresses,
  type SecretMask,
} from '../feed/source/sources.ts';
import type { DeleteGuard } from '../plan/delete-guard.ts';
import type { PlaceRules } from '../plan/match/likeness.ts';
import type { FeedPolicy } from '../plan/policy.ts';
import type { RekeyGuard } from '../plan/rekey.ts';
import type { FeedCopy } from '../plan/source-faults.ts';
import type { FieldMapping } from '../posting/field-mapping.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { PostingReader } from '../posting/posting.ts';
import { addressesOfLastSave } from '../store/feed/feed-file-versions.ts';
import { findUpload, hasStagedUpload } from '../store/feed/feed-uploads.ts';
import type { Database } from '../store/postgres/database.ts';

/** How the records of a feed are read. */
export interface RecordRules {
  readonly format: FormatName;
  readonly mapping: FieldMapping;
  /** Fields that the user maps; the others are those of a preset that comes with jobmirror. */
  readonly ownFields: ReadonlySet<string>;
  /** Whether the user says where the places of a posting are; otherwise a preset may say it. */
  readonly hasOwnPlaces: boolean;
  /** Compiled from the mapping. */
  readonly reader: PostingReader;
  /** Identifies the way in which records are read; see `interpretationOf`. */
  readonly interpretation: Buffer;
  /** Repair common faults in records that are not well-formed. */
  readonly lenient?: boolean;
  /** The name of the detail in the record, if the list lacks a part of each posting. */
  readonly detail?: string;
  /** The feed consists of pages, of which no two may have the same posting. */
  readonly isPaged?: boolean;
  /** The feed is a document from the web that states no total: `entries` of RSS or Atom, or JSON of an `api`, which may also be a JSON Feed. */
  readonly mayListNewest?: 'entries' | 'api' | undefined;
  /** For tables: how they are laid out. */
  readonly table?: TableLayout;
  /** What the feed may do to jobs that exist; absent: everything. */
  readonly policy?: FeedPolicy;
  /** After how many days on the site the job of a posting is deleted; absent: never. */
  readonly expireAfterDays?: number;
  /** Removes the credentials of the source, which some servers repeat; absent: it has none. */
  readonly mask?: SecretMask | undefined;
  /** The clock by which conditions on dates are judged; absent: that of this process, from when it is asked for. */
  readonly clock?: ReadingClock | undefined;
}

/** One feed, ready to be pulled. */
export interface FeedSetup extends RecordRules {
  readonly feed: FeedName;
  readonly site: SiteName;
  /** The site's address; see `addressOf`. */
  readonly address: string;
  /** Equal for feeds with the same source; see `sourceDigest`. */
  readonly sourceDigest: string;
  /** A field that the site stores and returns, used to find existing jobs. */
  readonly referenceField: string | undefined;
  /** How the site writes where a job is. */
  readonly places: PlaceRules;
  readonly source: FeedSource;
  readonly guard: DeleteGuard;
  readonly rekeyGuard: RekeyGuard;
  /** With fewer records the feed does not count as complete. */
  readonly minRecords: number | undefined;
  /** All configured feeds, including this one. */
  readonly configured: ReadonlySet<FeedName>;
  /** Addresses that must be public if a page or the API has brought them: those of a file of its own. */
  readonly checkedAddresses: RequestedAddresses | undefined;
  /** The file of its own that has its settings; `undefined`: the main one has them. */
  readonly file: SettingsFile | undefined;
}

/** Whether the records are entries, of which feeds mostly list the newest. */
export const listsEntries = (
  { mayListNewest }: Pick<RecordRules, 'mayListNewest'>,
  reading: { readonly listsEntries?: boolean },
): boolean => mayListNewest === 'entries' || (mayListNewest === 'api' && reading.listsEntries === true);

/** The copy of the feed that was read, to compare with others of the same source. */
export const copyOf = (
  { sourceDigest }: Pick<FeedSetup, 'sourceDigest'>,
  { copy }: { readonly copy?: FeedCopy },
): FeedCopy | undefined => copy && { ...copy, source: sourceDigest.slice(0, 8) };

interface SettingsFile {
  readonly path: string;
  /** Whether it has these settings, and no others by now. */
  isAsRead(): Promise<boolean>;
}

export interface PullContext {
  readonly db: Database;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: FeedProgress) => void;
  /** Called with the number of records whose details were stored or requested, and how many there are. */
  readonly onDetails?: (done: number, all: number) => void;
  /** Called with the pull's number as soon as it has one. */
  readonly onPull?: (pull: number) => void;
  /** By default that of {@link sourceAccess}. */
  readonly network?: Network | undefined;
  /** The same. */
  readonly uploads?: FindUpload;
}

/** Where the source of the feed may be: anywhere, unless a page or the API has brought an address. And what was uploaded for it. */
export async function sourceAccess(
  { feed, checkedAddresses, file }: Pick<FeedSetup, 'feed' | 'checkedAddresses' | 'file'>,
  { db, network }: Pick<PullContext, 'db' | 'network'>,
): Promise<{ readonly network?: Network; readonly uploads: FindUpload }> {
  const uploads: FindUpload = async (name) => {
    if (file !== undefined && (await hasStagedUpload(db, feed))) {
      // What checks and saves files of feeds is not loaded with each pull.
      const { completeSave } = await import('../config/feed-files.ts');
      await completeSave(db, feed, file.path);
    }
    const found = await findUpload(db, name as FeedName);
    return found && { ...found, fitsSettings: async () => file === undefined || file.isAsRead() };
  };
  if (network !== undefined) return { network, uploads };
  if (checkedAddresses === undefined) return { uploads };
  const { sources, others } = checkedAddresses;
  if (sources.length + others.length === 0) return { uploads };
  const brought = await addressesOfLastSave(db, feed);
  const found = networkOfSources(checkedAddresses, (address) => brought.has(address));
  return { ...(found === undefined ? {} : { network: found }), uploads };
}
