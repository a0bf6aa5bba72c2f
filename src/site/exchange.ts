// The types of the site side: a request goes out, an exchange with its outcome comes back. Also tells jobs that say that they are deleted.

import type { ProxySettings } from '../flow/proxy.ts';
import type { Message } from '../plan/message.ts';
import type { NextRequest } from '../plan/next-request.ts';
import type { LearntRewrites } from '../plan/observe-values.ts';
import { fieldOf, type StatedTypes } from '../plan/same-meaning.ts';
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Fields, Problem } from '../posting/posting.ts';
import type { Expectation } from './contradiction.ts';
import type { Resource } from './http/job-address.ts';
import type { Deadline } from './http/trouble.ts';
import type { SetUpFault } from './set-up-fault.ts';

/** One request to the site, one job per document (site-interface.md, section 4). */
export type SiteRequest = Exclude<NextRequest, { readonly kind: 'none' }>;

/** A site job as its XML shows it. Field names are as received, with `_` folded to `-`. */
export interface SiteJob {
  readonly siteJobId: SiteJobId;
  readonly url?: string;
  /** Safe to store and show: without the token. */
  readonly fields: Fields;
  /** What the XML states about values, also about those that are `nil`, which are no fields. Absent: nothing. */
  readonly types?: StatedTypes;
  /** The fields as the site sent them, for comparison only: see {@link withRevealedFields}. Absent if they hold no token. */
  readonly revealFields?: () => Fields;
  /** The site's own `created_at`, if it could be read as a time. */
  readonly createdAt?: Date;
  /** The ID in the job's XML, if the site showed the job for another ID: many also find job 12 as `0012` or `12-nurse`. */
  readonly ownId?: SiteJobId;
}

/** The job with its fields as the site sent them. They may hold the token: compare them, never store or show them. */
export const withRevealedFields = <Job extends Pick<SiteJob, 'fields' | 'revealFields'>>(siteJob: Job): Job =>
  siteJob.revealFields === undefined ? siteJob : { ...siteJob, fields: siteJob.revealFields() };

/** The classified result of one request. Ordered rules in `outcome.ts` choose exactly one. */
export type Outcome =
  /** Create: the site's new job. `isRead`: as below. */
  | { readonly kind: 'created'; readonly siteJob: SiteJob; readonly isRead?: true }
  /** The update or delete was done. `isRead`: the job shows it, not the answer, which proves nothing about the token. */
  | { readonly kind: 'accepted'; readonly isRead?: true }
  /** 404 or 410 on update or delete: the job no longer exists. */
  | { readonly kind: 'gone' }
  /**
   * The site refused the content; not sent again until something changes. `perhapsDone`: the status was a success, and
   * only the text of the answer says otherwise. `setUp`: it may be that the site refuses every job so.
   */
  | {
      readonly kind: 'rejected';
      readonly problems: readonly Problem[];
      readonly perhapsDone?: true;
      readonly setUp?: SetUpFault;
      readonly denied?: Denied;
      /** Another job has the reference: see `Reason`. */
      readonly taken?: readonly Problem[];
      readonly takenBy?: readonly string[];
    }
  /**
   * The site refuses every job alike, as far as is known: not judged yet, and sent again later. `pause`: it is known well
   * enough, and the site is paused until somebody has changed something.
   */
  | { readonly kind: 'set_up'; readonly problems: readonly Problem[]; readonly pause?: Message }
  /** 403: this request is not allowed. */
  | { readonly kind: 'forbidden'; readonly problems: readonly Problem[] }
  /** 401: the token is not accepted. */
  | { readonly kind: 'unauthorized' }
  /** Certainly not done, and the site asked to come back later: 429, 503 with Retry-After. */
  | { readonly kind: 'throttled'; readonly retryAfterMs?: number }
  /** Certainly not done: nothing was sent, or the connection was refused. Connection refused, DNS, TLS. */
  | { readonly kind: 'unreachable'; readonly message: string }
  /** May or may not have been done: timeout, reset after sending, 5xx, unreadable success. */
  | {
      readonly kind: 'unknown';
      readonly message: Message;
      /** The job tells whether it was done. */
      readonly perhapsDone?: true;
      /** The job to which a create was redirected, unless it is shown and is another posting's or older. */
      readonly perhapsMade?: SiteJobId;
      /** It seems to answer another request, so later answers on this connection may be out of step too. */
      readonly contradicts?: true;
      /** A likely cause because of which no request of this kind can succeed. */
      readonly setUp?: Message;
      readonly denied?: Denied;
      /** Another job has the reference: see `Reason`. */
      readonly taken?: readonly Problem[];
    }
  /** The job of an update or delete shows the reference of another posting: it is not ours to change. */
  | { readonly kind: 'foreign'; readonly message: string }
  /**
   * Not sent, or not done: whether the job is still the posting's, what it shows, or whether it has another address could not be checked.
   * `isUntraceable`: no list can tell where it is.
   */
  | { readonly kind: 'unconfirmed'; readonly message: string; readonly denied?: Denied; readonly isUntraceable?: true }
  /**
   * The request cannot succeed as configured: redirect, 404 on create, HTML with 200, wrong content type. `perhapsDone`: it
   * may have succeeded all the same, which the job tells. `leadsTo`: the job to which it is redirected.
   */
  | {
      readonly kind: 'misconfigured';
      readonly message: Message;
      readonly perhapsDone?: true;
      readonly leadsTo?: SiteJobId;
      readonly denied?: Denied;
    };

/** The site seems not to have the job: `open`: its list is to tell; otherwise why that has not proven it. */
type Denied = string;

/**
 * What was sent and received, as recorded in the database: without the token, bodies cut at 64 KiB (8 KiB for HTML). With
 * `isBriefIfDone`, URL and bodies of a request that the site has done are empty.
 */
export interface Exchange {
  readonly outcome: Outcome;
  readonly request: {
    readonly method: 'POST' | 'PUT' | 'DELETE' | 'GET';
    readonly url: string;
    readonly body?: string;
  };
  readonly response?: { readonly status: number; readonly location?: string; readonly body: string };
  /** The job in the answer to an accepted update. */
  readonly siteJob?: SiteJob;
  readonly durationMs: number;
}

/** Where the site is and how to talk to it. */
export interface SiteOptions {
  readonly baseUrl: URL;
  readonly token: { reveal(): string };
  /** A field that the site stores and returns, used to find a job again. */
  readonly referenceField?: string;
  /** Fields that are mapped to the site: errors are attributed to them by name. */
  readonly fieldNames?: readonly string[];
  /** What the site calls its jobs; absent: `job`, below `/jobs`. */
  readonly resource?: Resource;
  /** The list action used to find jobs in doubt. */
  readonly listPath?: string;
  /** A page that only the user of a token can read. */
  readonly accountPath?: string;
  /** Absent: directly. */
  readonly proxy?: ProxySettings | undefined;
  /** From opening the connection to the last byte of the answer, in milliseconds. */
  readonly timeoutMs: number;
  /** Maximum number of connections. */
  readonly concurrency: number;
  /** Maximum unpacked bytes of one page of the list action; default 1 GiB. */
  readonly maxListPageBytes?: number;
}

/**
 * The result of reading the list. `listed`: every job of the list was handed over; the list is proven to be complete
 * and unchanged while it was read (see list.ts). Otherwise a job that was not handed over may still exist.
 */
export type Listing =
  | {
      readonly kind: 'listed';
      readonly pages: number;
      /** Age of its oldest cached page when the reading started; absent: none came from a cache. */
      readonly ageMs?: number;
      /**
       * Tells why a job that the list does not show may exist nevertheless: whether the site accepts the token is not proven, and
       * others see fewer jobs. `undefined`: it is proven. Absent: nothing is known of the token.
       * @param since also asks for a write that the site has accepted and that was sent after this.
       */
      readonly whyUnproven?: (since?: Date) => Promise<Unproven | undefined>;
    }
  | {
      readonly kind: 'unreadable';
      readonly message: string;
      /** Its pages do not fit together, as if it had changed while it was read: another reading may succeed at once. */
      readonly changed: boolean;
    };

/**
 * How the site answered when its list was read again past caches: `read`; `refused`: it does not take such a query; `failed`: it may be in
 * trouble, so that the list may be an old copy of a cache.
 */
export type ReadPastCaches = 'read' | 'refused' | 'failed';

/** Why what was read does not prove that a job does not exist. */
export interface Unproven {
  readonly message: string;
  /** The site may have jobs of ours that it shows only to the user of the token: it has others, or has refused the token. */
  readonly mayHide: boolean;
}

/** The result of one harmless GET. */
export interface ProbeResult {
  /** `accepted`: the interface is there, as far as a GET can prove it. */
  readonly kind: Exclude<Outcome['kind'], 'created' | 'gone' | 'rejected' | 'foreign' | 'unconfirmed' | 'set_up'>;
  /** What came back, and what to do about it. */
  readonly message: string;
  /** Whether a paused site may be resumed. */
  readonly mayResume: boolean;
  /** Whether XML of the interface came back, which proves more than a token that was not refused. */
  readonly found: boolean;
}

/**
 * What shows, without a write, that the site accepts the token at this moment:
 *
 * | kind       | evidence                                                                                         |
 * | ---------- | ------------------------------------------------------------------------------------------------ |
 * | `accepted` | the page at `account_path`, which only the user of a token can read                              |
 * | `refused`  | that page was answered with 401                                                                  |
 * | `needed`   | a reader with a wrong token is refused where the token reads: it is accepted                     |
 * | `unneeded` | none: such a reader is answered too                                                              |
 * | `unknown`  | none: the site gave no clear answer                                                              |
 */
export interface TokenCheck {
  readonly kind: 'accepted' | 'refused' | 'needed' | 'unneeded' | 'unknown';
  /** What came back. */
  readonly message: string;
}

/** What is read: the list, or the path where jobs are created if there is none; or one job. */
export type Readable = 'list' | SiteJobId;

export interface SendTiming {
  readonly notAfter: Deadline;
  readonly signal?: AbortSignal;
  readonly expected?: Pick<Expectation, 'fields' | 'before'>;
  /** How the site is known to rewrite values; called only if an answer shows other values than were sent. */
  readonly learnt?: () => Promise<LearntRewrites | undefined>;
  /** Nobody reads what was sent and received if the site did what was requested: searching it for the token costs more than sending it. */
  readonly isBriefIfDone?: boolean;
}

/** What a site answers instead of showing a job. */
export interface Denial {
  readonly status: number;
  /** Without the ID and other numbers: see `wordsOfAnswer`. */
  readonly words: string;
}

/** The site did not tell whether a job exists. */
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

/** How a site asks to wait. */
export interface AskedToWait {
  readonly status: 429 | 503;
  readonly waitMs: number;
  /** Age of the request that it has answered so. */
  readonly sentMsAgo: number;
}

export interface SiteClient {
  /**
   * Sends one request and classifies the answer. Never throws for anything the site or the network does. `notAfter` is
   * checked right before the bytes are sent: past it nothing is sent and the outcome is `unreachable`. `expected` is
   * compared with the answer to an update; a create is compared with its own fields.
   */
  send(request: SiteRequest, timing: SendTiming): Promise<Exchange>;
  /** Fetches one job (GET). `undefined`: the site says it does not exist. Throws if that cannot be determined. */
  show(id: SiteJobId, signal?: AbortSignal): Promise<SiteJob | undefined>;
  /**
   * Asks for one job, and for one that no site has. What the site answers to both; `undefined`: it shows the job, gives two answers, or is in
   * trouble.
   */
  readDenial(id: SiteJobId, signal?: AbortSignal): Promise<Denial | undefined>;
  /**
   * Reads the list action page by page, handing over each job once.
   * @param beforePage awaited before each page; for the rate limiter.
   * @param maxAgeMs maximum age of cached pages when the reading begins; 0 unless given.
   * @param once reads each page once: even if the end was reached, a job that was not handed over may exist.
   * @param whyCopy told how the list was read past caches; returns why its plain answers do not count.
   * @param onThrottled called when the site asks to wait before it gives a page, which is waited for afterwards.
   */
  list(
    take: (siteJob: SiteJob) => void,
    signal?: AbortSignal,
    beforePage?: (signal?: AbortSignal) => Promise<void>,
    maxAgeMs?: number,
    once?: boolean,
    whyCopy?: (answered: ReadPastCaches) => Promise<string | undefined>,
    onThrottled?: (asked: AskedToWait) => Promise<void>,
  ): Promise<Listing>;
  /** Sends one harmless GET to check that the interface is there and accepts the token. */
  probe(signal?: AbortSignal): Promise<ProbeResult>;
  /** Checks whether reading this proves that the site accepts the token: one harmless GET. */
  checkToken(of: Readable, signal?: AbortSignal): Promise<TokenCheck>;
  close(): Promise<void>;
}

// Recognises jobs that a site still shows although they are deleted, as one that marks rows instead of removing them does.

/** States such as `deleted`, in fields such as `status` and `workflow-state`. */
const STATUS = /^((job|workflow|aasm|record|publication)-)?(status|state)$/i;
const DELETED = /^\s*(soft[-_ ]?)?(deleted|discarded|destroyed|trashed|removed)\s*$/i;
/** Names of marks, such as `deleted-at` and `is-deleted`. */
const MARK = /^(is-)?(deleted|discarded|destroyed|trashed|removed)(-(at|on|date))?$/i;
/** Values of a mark that says no, and dates that stand for none: in Go and .NET 1 January of the year 1. */
const UNSET = /^\s*(false|f|no|n|off|[0\s:TZ.-]*|0001-01-01\b.*|0?1\/0?1\/0001\b.*)\s*$/i;
/** The first day of 1970, wherever the site is: the date of PHP for none. */
const LAST_OF_NONE = 86_400_000;

/**
 * Whether the job's own fields say that it was deleted. This alone ends no mapping: the field may mean something else on a site, so
 * it counts together with a write that was answered "no such job", or with a list that lacks the job. A time to come is none yet.
 * @param sent what the site has, or may have, of its posting: such a value is the posting's
 */
export const statesDeletion = (
  { fields }: Pick<SiteJob, 'fields'>,
  ...sent: readonly (Fields | undefined)[]
): boolean =>
  Object.entries(fields).some(([received, value]) => {
    const name = received.replaceAll('_', '-');
    if (sent.some((own) => own !== undefined && fieldOf(own, received) === value)) return false;
    if (STATUS.test(name)) return DELETED.test(value);
    const at = Date.parse(value);
    return MARK.test(name) && !UNSET.test(value) && !(at > Date.now() || at <= LAST_OF_NONE);
  });

/** The shown job, unless it says that it was deleted. */
export const shownUnlessDeleted = (shown: SiteJob | undefined): SiteJob | undefined =>
  shown === undefined || statesDeletion(shown) ? undefined : shown;

/** The states that a job shows, such as `expired`, by the names of their fields; not those that are its posting's. */
export const shownStates = (
  { fields }: Pick<SiteJob, 'fields'>,
  ...sent: readonly (Fields | undefined)[]
): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(fields).filter(
      ([name]) =>
        STATUS.test(name.replaceAll('_', '-')) &&
        !sent.some((own) => own !== undefined && fieldOf(own, name) !== undefined),
    ),
  );
