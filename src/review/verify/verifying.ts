// Types of a run that verifies the jobs of a site.
import type { RateLimiter } from '../../flow/rate-limiter.ts';
import type { CreateOnlyFields } from '../../plan/create-only-fields.ts';
import type { Message } from '../../plan/message.ts';
import type { FeedName, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { StateTable } from '../../posting/us-states.ts';
import type { SiteClient, SiteJob } from '../../site/exchange.ts';
import type { JobSelection, MappedJob, Verification, VerifiedJob } from '../../store/mapping/verification.ts';
import type { Database } from '../../store/postgres/database.ts';
import type { FeedCounts, Finding } from './finding.ts';
import type { JobRules } from './judge-job.ts';

/** The site and the feeds that are verified. */
export interface VerifySubject {
  readonly db: Database;
  readonly site: SiteName;
  readonly feeds: readonly FeedName[];
  readonly referenceField: string | undefined;
  readonly stateField: string;
  readonly states: StateTable;
  /** Only these fields are compared; `undefined`: all. */
  readonly only: ReadonlySet<string> | undefined;
  /** Fields that are set only on create, by feed: they are not compared. */
  readonly createOnly: ReadonlyMap<FeedName, CreateOnlyFields>;
  /** `list`: reads the list, and asks only for jobs that it does not show as they should be. */
  readonly selection: { readonly kind: 'list' } | JobSelection;
  readonly client: Pick<SiteClient, 'list' | 'probe'>;
  /** Asks the site for one job, within its rate limit. @throws if the site gives no clear answer. */
  readonly ask: (id: SiteJobId) => Promise<SiteJob | undefined>;
  readonly rateLimiter: RateLimiter;
  readonly signal: AbortSignal;
  /** Whether what is gone or changed is kept, to be set again. */
  readonly keepsDrift: boolean;
  /** Whether fields that can be compared only after they were sent once more are kept as well. */
  readonly makesKnown?: boolean;
  /** Which of that is kept; absent: all. A job that is gone is asked about with each of its fields, or all of them together. */
  readonly isSetAgain?: (finding: 'changed' | 'gone', field: string) => boolean;
  readonly onFinding: (finding: Finding) => Promise<void>;
  readonly onProgress?: (progress: VerifyProgress) => void;
}

export type VerifyProgress =
  | { readonly what: 'listed'; readonly done: number }
  /** `job`: the last one that was compared. */
  | { readonly what: 'asked'; readonly done: number; readonly all: number; readonly job: MappedJob };

export interface VerifyEnd {
  readonly counts: ReadonlyMap<FeedName, FeedCounts>;
  /** Why not all jobs could be compared; `undefined`: they were. */
  readonly failure: Message | undefined;
}

/** One run. */
export interface Verifying {
  readonly verification: Verification;
  readonly subject: VerifySubject;
  readonly rules: JobRules;
  readonly since: Date;
  readonly countsOf: (feed: FeedName) => FeedCounts;
  readonly progress: {
    /** Jobs of ours that the site shows: they prove that it is the right site. */
    seen: number;
    /** Jobs that seem gone, while no job of ours has been seen. */
    readonly unproven: { readonly job: VerifiedJob; readonly finding: Finding }[];
    /** Jobs that show another title and no reference, until it is told whose they are. */
    readonly retitled: { readonly job: VerifiedJob; readonly shown: SiteJob; readonly differing: readonly string[] }[];
  };
  /** How often a job showed a field as it should be, although the list shows it with another value; negative: never again. */
  readonly refuted: Map<string, number>;
}
