// The words of the site side: a request goes out, an exchange with its outcome comes back.

import type { LearntRewrites } from '../plan/observe-values.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Fields, Problem } from '../posting/posting.ts';
import type { Expectation } from './contradiction.ts';
import type { Deadline } from './http/deadline.ts';

/** One request to the site, one job per document (site-interface.md, section 4). */
export type SiteRequest =
  | { readonly kind: 'create'; readonly fields: Fields }
  | { readonly kind: 'update'; readonly siteJobId: SiteJobId; readonly fields: Fields }
  | { readonly kind: 'delete'; readonly siteJobId: SiteJobId };

/** The site's job as its XML says. Names are as received with `_` folded to `-`. */
export interface SiteJob {
  readonly siteJobId: SiteJobId;
  readonly url?: string;
  /** As they may be stored and shown: without the token. */
  readonly fields: Fields;
  /** The fields as the site sent them: to be compared, see {@link toCompare}. Absent: they hold no token. */
  readonly revealFields?: () => Fields;
  /** The site's own `created_at`, where it could be read as a time. */
  readonly createdAt?: Date;
}

/** The job with its fields as the site sent them. They may hold the token: they are compared, and never stored or shown. */
export const toCompare = <Job extends Pick<SiteJob, 'fields' | 'revealFields'>>(siteJob: Job): Job =>
  siteJob.revealFields === undefined ? siteJob : { ...siteJob, fields: siteJob.revealFields() };

/** What one request came to. Ordered rules in `outcome.ts` choose exactly one. */
export type Outcome =
  /** Create: the site's new job. */
  | { readonly kind: 'created'; readonly siteJob: SiteJob }
  /** Update or delete done. */
  | { readonly kind: 'accepted' }
  /** 404 or 410 on update or delete: the job is not there. */
  | { readonly kind: 'gone' }
  /**
   * The site refused the content; not sent again until something changes. `perhapsDone`: it answered as to a success, and
   * only the words of its answer speak against that.
   */
  | { readonly kind: 'rejected'; readonly problems: readonly Problem[]; readonly perhapsDone?: true }
  /** 403: this one is not allowed. */
  | { readonly kind: 'forbidden'; readonly problems: readonly Problem[] }
  /** 401: the token is not accepted. */
  | { readonly kind: 'unauthorized' }
  /** Certainly not done, and the site said or implied to come back: 429, 503 with Retry-After. */
  | { readonly kind: 'throttled'; readonly retryAfterMs?: number }
  /** Certainly not done, because no request left or it was refused unread: connection refused, DNS, TLS. */
  | { readonly kind: 'unreachable'; readonly message: string }
  /** May have been done or not: time-out, reset after sending, 5xx, unreadable success. */
  | {
      readonly kind: 'unknown';
      readonly message: string;
      /** It answers something else, so that further answers on its connection may be out of step. */
      readonly contradicts?: true;
    }
  /** The job of an update or delete shows the reference of another posting: it is not ours to change. */
  | { readonly kind: 'foreign'; readonly message: string }
  /** The request can't succeed as configured: redirect, 404 on create, HTML with 200, wrong content type. */
  | { readonly kind: 'misconfigured'; readonly message: string };

/** What was sent and received, for the books: the token removed, bodies cut at 64 KiB (8 KiB for HTML). */
export interface Exchange {
  readonly outcome: Outcome;
  readonly request: {
    readonly method: 'POST' | 'PUT' | 'DELETE' | 'GET';
    readonly url: string;
    readonly body?: string;
  };
  readonly response?: { readonly status: number; readonly location?: string; readonly body: string };
  readonly durationMs: number;
}

/** Where the site is and how it wants to be spoken to. */
export interface SiteOptions {
  readonly baseUrl: URL;
  readonly token: { reveal(): string };
  /** A field that the site stores and returns, by which a job is found again. */
  readonly referenceField?: string;
  /** The list action used to find jobs in doubt. */
  readonly listPath?: string;
  /** From opening the connection to the last byte of the answer, in milliseconds. */
  readonly timeoutMs: number;
  /** Connections at most. */
  readonly concurrency: number;
  /** Bytes of one page of the list action at most, unpacked; 1 GiB unless given. */
  readonly maxListPageBytes?: number;
}

/**
 * What became of a listing. `listed`: all jobs of the site's list were handed over; it is proven to be whole and did not
 * move meanwhile (see list.ts). Otherwise a job that was not handed over may be there all the same.
 */
export type Listing =
  | {
      readonly kind: 'listed';
      readonly pages: number;
      /** How long before the reading began a cache made its oldest page; absent: none did. */
      readonly ageMs?: number;
    }
  | { readonly kind: 'unreadable'; readonly message: string };

/** What one harmless GET showed. */
export interface Probe {
  /** `accepted`: the interface is there, as far as a GET can prove it. */
  readonly kind: Exclude<Outcome['kind'], 'created' | 'gone' | 'rejected' | 'foreign'>;
  /** What was seen, and what to do about it. */
  readonly message: string;
  /** Whether a site that was paused may be sent to again. */
  readonly mayResume: boolean;
  /** Whether XML of the interface came back: more than that nobody refused the token. */
  readonly found: boolean;
}

export interface Timing {
  readonly notAfter: Deadline;
  readonly signal?: AbortSignal;
  readonly expected?: Pick<Expectation, 'fields' | 'before'>;
  /** How the site is known to rewrite values; asked only where an answer shows other values than were sent. */
  readonly learnt?: () => Promise<LearntRewrites | undefined>;
}

/** Whether a job is there could not be told. */
export class NotShownError extends Error {
  /** 0: no answer came. */
  readonly status: number;
  readonly retryAfterMs: number | undefined;

  constructor(message: string, status: number, retryAfterMs: number | undefined) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

export interface SiteClient {
  /**
   * Sends one request and judges the answer. Never throws for what the site or the network does.
   * `notAfter` is looked at right before the bytes leave: past it nothing is sent and the outcome is `unreachable`.
   * `expected` is what the answer to an update is compared with; a create is compared with its own fields.
   */
  send(request: SiteRequest, timing: Timing): Promise<Exchange>;
  /** Shows one job (GET). `undefined`: the site says it is not there. Throws if that can't be told. */
  show(id: SiteJobId, signal?: AbortSignal): Promise<SiteJob | undefined>;
  /**
   * Reads the list action page by page, handing over each job once. `turn` is awaited before each page.
   * @param maxAgeMs how long before the reading a cache may have made what it answers with; 0 unless given.
   */
  list(
    take: (siteJob: SiteJob) => void,
    signal?: AbortSignal,
    turn?: (signal?: AbortSignal) => Promise<void>,
    maxAgeMs?: number,
  ): Promise<Listing>;
  /** One harmless GET, to see whether the interface is there and takes the token. */
  probe(signal?: AbortSignal): Promise<Probe>;
  close(): Promise<void>;
}
