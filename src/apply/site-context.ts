// Brings together what sending to one site needs: its client, its books and its rules for retries, doubts and pauses.
import type { Logger } from 'pino';
import type { SiteName } from '../posting/identifiers.ts';
import type { SiteClient } from '../site/exchange.ts';
import type { RateLimiter } from '../site/rate-limiter.ts';
import type { Semaphore } from '../site/semaphore.ts';
import type { PostingRef } from '../store/change/attempt.ts';
import type { AttemptOutcome, Recorded } from '../store/change/attempt-outcome.ts';
import type { Claim } from '../store/change/claim.ts';
import type { Database } from '../store/postgres/database.ts';
import type { RewriteLearner } from './learn-rewrites.ts';

/** How long after its intent was committed a request may still leave. */
export const SEND_WITHIN_MS = 5_000;

/** How a site wants failures to be handled. All times in milliseconds. */
export interface SitePolicy {
  /** Longest time of one request, from opening the connection to the last byte. */
  readonly timeoutMs: number;
  /** As configured, over all processes; the site may teach a lower rate. `Infinity`: no limit. */
  readonly requestsPerSecond: number;
  readonly retry: { readonly attempts: number; readonly firstDelayMs: number; readonly maxDelayMs: number };
  readonly doubts: { readonly resolveAfterMs: number; readonly listChecks: number; readonly escalateAfterMs: number };
  /** Pause the site if more than `percent` of the first requests of a pull fail, once there are `requests`. */
  readonly canary: {
    readonly requests: number;
    readonly percent: number;
    /** Later requests of a pull are not judged: a few refusals among many are no sign of a site that refuses all. */
    readonly until: number;
  };
  /** What to do where the job of an update is not on the site any more. */
  readonly onMissing: 'create' | 'leave';
  readonly referenceField: string | undefined;
  /** Whether there is a list action to settle doubts with. */
  readonly canList: boolean;
}

/**
 * Everything that sends to one site, in one process. `inFlight` and `places` are closed when the process stops: what has no
 * place by then is not begun.
 */
export interface SiteContext {
  readonly site: SiteName;
  /** Where the site is, as the books know it: see `addressOf`. */
  readonly address: string;
  /** What stands for the token in the database: see `tokenDigest`. */
  readonly tokenDigest: string;
  readonly policy: SitePolicy;
  readonly client: SiteClient;
  /** A change is in work until its outcome is in the books: no more than these can be without one when the process dies. */
  readonly inFlight: Semaphore;
  /** A change that is sent has a place until its answer is there, so that the site has no more requests at a time. */
  readonly requestSlots: Semaphore;
  /** Each request takes a turn, so that those that nobody queued count too. */
  readonly rateLimiter: RateLimiter;
  /** Learns how the site rewrites values. */
  readonly rewrites: RewriteLearner;
  readonly db: Database;
  readonly claim: (posting: PostingRef) => Promise<Claim>;
  readonly recordOutcome: (outcome: AttemptOutcome) => Promise<Recorded>;
  readonly log: Logger;
}
