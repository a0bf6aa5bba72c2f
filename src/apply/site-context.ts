// Everything needed to send to one site: client, database, and the rules for retries, doubts and pauses.

import type { Logger } from 'pino';
import type { SiteConfig } from '../config/config.ts';
import type { RateLimiter } from '../flow/rate-limiter.ts';
import type { Semaphore } from '../flow/semaphore.ts';
import type { PlaceRules } from '../plan/match/likeness.ts';
import type { WriteAction } from '../plan/message.ts';
import type { PostingRef, SiteName } from '../posting/identifiers.ts';
import type { SiteClient } from '../site/exchange.ts';
import type { AttemptOutcome, Recorded } from '../store/change/attempt.ts';
import type { Claim } from '../store/change/claim.ts';
import type { Database } from '../store/postgres/database.ts';
import type { RewriteLearner } from './learn-rewrites.ts';

/** How long after committing its intent a request may still be sent. */
export const SEND_WITHIN_MS = 5_000;

/** How failures of a site are handled. All times in milliseconds. */
export interface SitePolicy
  extends Pick<SiteConfig, 'requestsPerSecond' | 'retry' | 'doubts' | 'onMissing' | 'omittedFields'> {
  /** Limit for one request, from opening the connection to the last byte. */
  readonly timeoutMs: number;
  /** Pause the site if more than `percent` of a pull's first requests fail, once at least `requests` were sent. */
  readonly canary: {
    readonly requests: number;
    readonly percent: number;
    /**
     * Requests beyond this number are not judged: a few refusals among many do not mean that the site refuses
     * everything.
     */
    readonly until: number;
  };
  readonly referenceField: string | undefined;
  /** How the site writes where a job is. */
  readonly places: PlaceRules;
  /** Whether the site has a list action to resolve doubts with. */
  readonly canList: boolean;
  /** Whether the site has a page that proves the token. */
  readonly provesToken: boolean;
}

/**
 * Everything needed to send to one site, in one process. `inFlight` and `requestSlots` close when the process stops: a
 * change without a slot by then is not started.
 */
export interface SiteContext {
  readonly site: SiteName;
  /** The site's address as recorded in the database: see `addressOf`. */
  readonly address: string;
  /** Stored in the database instead of the token: see `tokenDigest`. */
  readonly tokenDigest: string;
  readonly policy: SitePolicy;
  readonly client: SiteClient;
  /** A change is in flight until its outcome is recorded; this bounds how many lack an outcome if the process dies. */
  readonly inFlight: Semaphore;
  /** A change holds a request slot until its answer arrives; this bounds concurrent requests to the site. */
  readonly requestSlots: Semaphore;
  /** Every request waits for this, including those outside the queue. */
  readonly rateLimiter: RateLimiter;
  /** Learns how the site rewrites values. */
  readonly rewrites: RewriteLearner;
  readonly db: Database;
  /** See `claimer`. */
  readonly claim: (posting: PostingRef) => Promise<Claim>;
  /** Writes an outcome to the database once (see `outcomeRecorder`); `recordOutcome` tries again when that fails. */
  readonly writeOutcome: (outcome: AttemptOutcome) => Promise<Recorded>;
  readonly log: Logger;
  /** How the log shows what a person can do. */
  readonly writeAction: WriteAction;
}
