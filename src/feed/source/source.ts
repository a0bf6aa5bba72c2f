// What a kind of source provides: opening it, and telling what it is without its secrets.
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import type { RateLimiter } from '../../flow/rate-limiter.ts';
import type { AnswerMark } from '../../plan/source-faults.ts';
import type { FollowingPage } from '../format/format.ts';

/** A kind of source. Everything outside finds it by the kind that a configuration names (`kindOf`). */
export interface SourceKind<Config> {
  /** Opens the source. Throws only {@link FeedReadingError}, and the reason of `context.signal`. */
  open(config: Config, context: SourceContext): Promise<OpenedSource>;
  /**
   * Whether the source is reached over a network: then the limits on the first byte and on the rate apply. A source that
   * sends several requests applies them to each itself, and says `false`.
   */
  readonly isRemote: boolean;
  /** Whether it can be opened again after it was read. */
  readonly isRepeatable: boolean;
  /** Its versions are numbers of the database, so an equal one proves that nothing has changed. */
  readonly hasOwnVersions?: boolean;
  /** Whether its documents are pages of a list (`pageOf`). */
  readonly isPaged?: boolean;
  /** Everything that decides what the source returns. Contains secrets, so only a digest of it is stored. */
  request(config: Config): object;
  /** Where the source is, for people; without secrets. */
  placeOf(config: Config): string;
  /** Every secret in the configuration, so the log can mask them. */
  secretsOf(config: Config): readonly string[];
  /** The configuration without secrets. */
  publicConfig(config: Config): PublicConfig;
}

/** A secret that shows nowhere unless it is revealed. */
export interface SecretText {
  reveal(): string;
}

export interface PublicConfig {
  /** Equal for two configurations that read the same source. */
  readonly place: string;
  /** How it is requested. */
  readonly settings?: object;
}

export interface SourceContext {
  /** The version of the last complete reading: if the source still has it, nothing is read. */
  readonly version?: string;
  /** Aborted when the reading ends, even if it never began: then the source releases everything. */
  readonly signal: AbortSignal;
  /** Shared with whatever else is requested from the source; by default it has its own. */
  readonly limiter?: RateLimiter;
  /** Called before a request is repeated: the limit on the first byte starts again after this wait. */
  readonly onRetry?: (delayMs: number) => void;
  /** By default the standard input of the process. */
  readonly stdin?: Readable;
  /** By default the system's lookup and the IANA registries. */
  readonly network?: Network;
  /** Finds what was uploaded for a feed; by default nothing that was uploaded can be read. */
  readonly uploads?: FindUpload;
}

/** `undefined`: nothing was uploaded for the feed yet. */
export type FindUpload = (feed: string) => Promise<UploadedDocument | undefined>;

/** The file that was uploaded last. */
export interface UploadedDocument {
  /** A later upload has a larger one. */
  readonly version: number;
  /** As whoever uploaded it named it. */
  readonly name: string;
  readonly bytes: number;
  /** The database was restored from a backup that has it: a newer one may have been uploaded since. */
  readonly ofBackup?: boolean;
  /** Whether the feed still has the settings with which it is read; new settings may have been saved together with the file. */
  fitsSettings?(): Promise<boolean>;
  readonly chunks: AsyncIterable<Buffer>;
}

/** Name lookup, and which addresses are private. */
export interface Network {
  readonly lookup: LookupFunction;
  isPrivate(address: string): boolean;
  /** Connects to no private address, whoever names it; by default only redirects from public ones don't lead there. */
  readonly publicOnly?: boolean;
  /** Of several sources, by their place: somebody may have added one to those that may be anywhere. By default this one. */
  ofMember?(at: number): Network;
}

/** The result of opening a source, before its content is checked. */
export type OpenedSource =
  | OpenedDocuments
  | { readonly kind: 'not_modified' }
  | { readonly kind: 'failed'; readonly message: string };

export interface OpenedDocuments {
  readonly kind: 'documents';
  /**
   * The documents that make up the feed. Each is requested after the one before it ended, failed or was abandoned. Ends
   * only if it is proven that none follows; throws {@link FeedReadingError} otherwise.
   */
  readonly documents: AsyncIterable<SourceDocument>;
  /** Size of all documents together as stored or sent, if the source declares it. */
  readonly totalBytes?: number;
  /**
   * Identifies this version of the source, for its next opening; `undefined` if there are no versions. Called after the
   * last document ended. Only the kind of source that made it can read it.
   */
  version?(): string | undefined;
}

/** What the headers of a response say about the list that its document may be a page of. */
export interface ListHeaders {
  /** That another page follows, although only this one is requested. */
  readonly following?: FollowingPage | undefined;
  /** How many records the whole list has. */
  readonly listTotal?: ListTotal | undefined;
}

export interface SourceDocument extends ListHeaders {
  /** For people: what distinguishes it from the feed's other documents, without secrets. */
  readonly name: string;
  /** The same at each reading, and also where the place among several sources changes; by default the address or the name. */
  readonly id?: string;
  /**
   * The bytes as stored or sent, perhaps compressed. A chunk is valid until the next one is requested. Ends only if the
   * document is proven to have ended properly; throws {@link FeedReadingError} otherwise, and the next document may be whole.
   */
  readonly chunks: AsyncIterable<Buffer>;
  /**
   * Whether a proper end of `chunks` also proves the document's length, by a declared length or an end mark. Otherwise it
   * shows only that the sender closed the stream.
   */
  readonly isEndProven?: boolean;
  /**
   * A proxy or a cache on the way, or the program before a pipe (`piped`), may have ended it in the middle: its end is then proven only
   * weakly, unless its content shows it. `encoded`: so may gzip that the transport has added.
   */
  readonly relayed?: 'plain' | 'encoded' | 'piped';
  /** Of a document that is relayed. */
  readonly mark?: AnswerMark;
  /** Character encoding according to the transport. */
  readonly charset?: string;
  /** Size of the document as stored or sent, if the source declares it. */
  readonly totalBytes?: number;
  /** When it was sent, by the source's clock, in milliseconds since 1970. */
  readonly sentAt?: number;
  /** When it was made, by the word of its source, or of the cache that has kept it. */
  readonly madeAt?: number;
  /** Whether it came through a cache, as its headers say; absent: not over HTTP. */
  readonly isCached?: boolean;
  /** Ends its source, which is one of several: if it is no feed, the others are read nevertheless. */
  readonly stop?: () => void;
  /** The configured address of the document, without secrets: relative ones in it start from there. */
  readonly address?: string;
  /** Redirects have led from there to an address that may be another document's. */
  readonly isElsewhere?: boolean;
  /** The list that the document is a page of, if any: no posting may be on two pages of a list. */
  readonly pageOf?: string;
  /** The address after redirects, and the configured one, in full. They may hold secrets, so they serve for comparisons only. */
  readonly requested?: readonly [string, string];
}

export interface ListTotal {
  readonly header: string;
  readonly records: number;
}

export const idOfDocument = ({ id, address, name }: Pick<SourceDocument, 'id' | 'address' | 'name'>): string =>
  id ?? address ?? name;

/** What a source with a single document opens. */
export const oneDocument = (document: SourceDocument, version?: string): OpenedDocuments => ({
  kind: 'documents',
  documents: only(document),
  totalBytes: document.totalBytes,
  version: () => version,
});

async function* only(document: SourceDocument): AsyncGenerator<SourceDocument> {
  yield document;
}

/** Thrown when a feed can't be read any further. The message says why, for people. */
export class FeedReadingError extends Error {}

/** The message of any thrown value, for people. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(reasonOf).join('; ');
  return error instanceof Error ? error.message : String(error);
};
