// Fetches the details of postings, at the pace and with the credentials of the list that they belong to.
import type { RateLimiter } from '../../../flow/rate-limiter.ts';
import { interpretedHash, recordHash } from '../../../posting/hash.ts';
import type { PostingKey } from '../../../posting/identifiers.ts';
import { parseValuePath, withoutPath, withSorted } from '../../../posting/paths/value-path.ts';
import type { RecordTree } from '../../../posting/posting.ts';
import { addressForMessages, type HttpConfig } from '../http/http-config.ts';
import { isSameResource, systemNetwork } from '../http/redirects.ts';
import { ResourceMissing, TransientFailure } from '../http/response.ts';
import type { SecretMask } from '../secret-mask.ts';
import { FeedReadingError, type Network } from '../source.ts';
import { compileDetailRequest, type DetailsConfig, detailRequestIdentity } from './detail-request.ts';
import { fetchPage } from './fetch-page.ts';
import { decodedPage } from './page-content.ts';

export type FetchedDetail =
  | {
      readonly kind: 'fetched';
      /** In UTF-8, without credentials of the source. */
      readonly bytes: Buffer;
      /** See `SourceDocument`. */
      readonly isEndProven: boolean;
      /** Set if redirects have led to an address that may be another posting's. */
      readonly redirected?: Redirected;
    }
  | {
      readonly kind: 'failed';
      readonly message: string;
      /** The source may answer later: it has trouble, or cannot be reached. */
      readonly isPassing: boolean;
      /** The source has no detail of this posting. */
      readonly isMissing: boolean;
      /** The source asked to wait for longer than is allowed. */
      readonly mustStop: boolean;
    };

/** A redirect of a detail. */
export interface Redirected {
  /** The address that was requested. */
  readonly from: string;
  /** The address that answered, for people. */
  readonly to: string;
}

export interface DetailFetcher {
  /** Throws the reason of the signal. @param tries fewer than configured, if set. */
  fetch(record: RecordTree, signal: AbortSignal, tries?: number): Promise<FetchedDetail>;
  /**
   * Under which the detail of a record is known: the hash of what counts in the record, and of how its detail is requested.
   * Without the record, all of its bytes count. Where only a part counts, the key and the request tell postings apart.
   */
  identityOf(bytesHash: Buffer, listed?: { readonly key: PostingKey; readonly tree: RecordTree }): Buffer;
}

export interface FetchingContext {
  /** Removes the credentials of the feed's sources. */
  readonly mask?: SecretMask | undefined;
  readonly limiter: RateLimiter;
  readonly network?: Network;
}

/** @param http the list's request. */
export function detailFetcher(http: HttpConfig, config: DetailsConfig, context: FetchingContext): DetailFetcher {
  const source = new URL(http.url);
  const { request, document, limits, retry } = config;
  const makeRequest = compileDetailRequest(request, source);
  const { network = systemNetwork, limiter, mask } = context;
  const ifMissing = 'the posting may have been withdrawn since the list was read';
  const own = { http: { ...http, accept: request.accept }, limits, ifMissing };
  const identity = recordHash(Buffer.from(JSON.stringify(detailRequestIdentity(request, source))));
  const ignored = config.ignore.map(parseValuePath);
  const unordered = (config.unordered ?? []).map(parseValuePath);
  const countingHash = (key: PostingKey, record: RecordTree): Buffer => {
    const counts = withSorted(ignored.reduce(withoutPath, record), unordered);
    const { url, body } = makeRequest(record);
    return recordHash(Buffer.from(JSON.stringify([counts, key, url.href, body ?? null])));
  };
  const withoutSecrets = (bytes: Buffer): Buffer => {
    if (mask?.mayHold(bytes) !== true) return bytes;
    const text = bytes.toString();
    const masked = mask.text(text);
    return masked === text ? bytes : Buffer.from(masked);
  };
  return {
    async fetch(record, signal, tries = Number.POSITIVE_INFINITY) {
      const attempts = Math.min(retry.attempts ?? 1, tries);
      try {
        const asked = makeRequest(record);
        const page = await fetchPage({ ...own, retry: { ...retry, attempts } }, asked, {
          signal,
          network,
          limiter,
        });
        const hints = { configured: document.encoding, transport: page.described.charset };
        const length = { isProven: page.described.isEndProven ?? false };
        const bytes = withoutSecrets(await decodedPage(page.bytes, hints, limits, length));
        const fetched = { kind: 'fetched', bytes, isEndProven: length.isProven } as const;
        if (isSameResource(asked.url, page.url)) return fetched;
        return { ...fetched, redirected: { from: asked.url.href, to: addressForMessages(page.url) } };
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof FeedReadingError)) throw error;
        const isPassing = error instanceof TransientFailure;
        const mustStop = isPassing && error.retryAfterMs > retry.maxDelayMs;
        const isMissing = error instanceof ResourceMissing;
        const message = mask?.text(error.message) ?? error.message;
        return { kind: 'failed', message, isPassing, isMissing, mustStop };
      }
    },
    identityOf(bytesHash, listed) {
      if (listed === undefined || ignored.length + unordered.length === 0)
        return interpretedHash(bytesHash, 0, identity);
      try {
        return interpretedHash(countingHash(listed.key, listed.tree), 0, identity);
      } catch (error) {
        // No request can be made of this record.
        if (error instanceof FeedReadingError) return interpretedHash(bytesHash, 0, identity);
        throw error;
      }
    },
  };
}
