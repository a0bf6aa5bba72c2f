// Finds out which jobs of a site belong to the postings of a feed that have none. Changes nothing.
import type { RateLimiter } from '../../flow/rate-limiter.ts';
import type { AdoptRules } from '../../plan/match/job-features.ts';
import { INCOMPLETE_FEED } from '../../plan/match/whose-job.ts';
import { type Message, textOf } from '../../plan/message.ts';
import type { FeedPolicy } from '../../plan/policy.ts';
import type { FeedName, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import { compileStates, type StateTable } from '../../posting/places.ts';
import { type Listing, type SiteClient, type SiteJob, shownUnlessDeleted } from '../../site/exchange.ts';
import { rivalPostings, type UnmappedPosting } from '../../store/backlog/unmapped-postings.ts';
import { databaseTime } from '../../store/change/site-search.ts';
import type { JobMatching } from '../../store/mapping/job-matching.ts';
import { type ExpectedJobs, expectedJobs } from '../../store/mapping/visible-jobs.ts';
import type { Database, Queryable } from '../../store/postgres/database.ts';
import { learntRewrites } from '../../store/site/kept-values.ts';
import { crossStep } from '../../telemetry/times.ts';

/** The site and the feed whose jobs and postings are compared. */
export interface AdoptSubject {
  readonly db: Database;
  readonly feed: FeedName;
  readonly site: SiteName;
  /** As recorded in the database: see `addressOf`. */
  readonly address: string;
  readonly policy: FeedPolicy | undefined;
  readonly referenceField: string | undefined;
  readonly stateField: string;
  readonly states: StateTable;
  readonly client: Pick<SiteClient, 'list' | 'show'>;
  readonly rateLimiter: RateLimiter;
  readonly signal: AbortSignal;
  /** Hands over the feed's postings without a job, and ends with what may be missing. */
  readonly readPostings: (take: (postings: readonly UnmappedPosting[]) => Promise<void>) => Promise<PostingsRead>;
  /** Only a reference makes a match certain. */
  readonly byReference?: boolean;
  /** Hands over the postings of the site's other feeds that this database does not know. Returns the feeds that could not be read. */
  readonly readOthers?: (
    take: (feed: FeedName, postings: readonly UnmappedPosting[]) => Promise<void>,
  ) => Promise<readonly FeedName[]>;
  readonly onProgress?: (progress: AdoptProgress) => void;
}

export type PostingsRead =
  | { readonly kind: 'read'; readonly shortfalls: readonly Message[]; readonly version: string | undefined }
  | { readonly kind: 'failed'; readonly message: Message };

export interface AdoptProgress {
  readonly what: 'jobs' | 'postings' | 'pairs' | 'adopted';
  readonly done: number;
}

export type MatchEnd =
  | {
      readonly kind: 'matched';
      /** When the reading of the list began, by the database's clock. */
      readonly since: Date;
      /** Why the feed may have further postings. */
      readonly shortfalls: readonly Message[];
      /** Of the feed's source; `undefined` if it has none. */
      readonly version: string | undefined;
    }
  /** The list was not proven to be whole, or the feed could not be read: nothing was compared. */
  | { readonly kind: 'failed'; readonly message: Message };

/** Jobs whose texts are held in memory before they are stored. */
const STORED_AT_ONCE = 200;
/** A list to which jobs are added while it is read may not be whole; then it is read again. */
const MOST_READINGS = 5;

/** How postings and jobs of this site are compared. */
export async function adoptRules(
  db: Queryable,
  subject: Pick<AdoptSubject, 'site' | 'referenceField' | 'stateField' | 'states'>,
): Promise<AdoptRules> {
  const find = compileStates(subject.states);
  return {
    referenceField: subject.referenceField,
    stateField: subject.stateField,
    stateOf: (text) => find(text)?.name,
    learnt: await learntRewrites(db, subject.site),
  };
}

/** Fills `matching` with a verdict for each posting that has no job. */
export async function matchJobs(matching: JobMatching, subject: AdoptSubject): Promise<MatchEnd> {
  const rules = await adoptRules(subject.db, subject);
  const since = await databaseTime(subject.db);
  const { db, site, client, rateLimiter } = subject;
  const ask = async (id: SiteJobId, signal: AbortSignal) => {
    await rateLimiter.take(signal);
    return shownUnlessDeleted(await client.show(id, signal));
  };
  const expected = await expectedJobs({ db, site, ask }, (id) => matching.hasJob(id));
  const unread =
    (await readWholeList(matching, subject, rules, expected)) ?? (await expected.tellOmitted(subject.signal));
  subject.signal.throwIfAborted();
  if (unread !== undefined) return { kind: 'failed', message: unread };
  crossStep('jobs-listed');
  // The order matters: a create that is sent meanwhile has its posting among those read now, or its mapping.
  const read = await readAllPostings(matching, subject, rules);
  if (read.kind === 'failed') return read;
  // Postings of other feeds compete for jobs, as the jobs may be theirs.
  const unreadFeeds =
    (await subject.readOthers?.(async (feed, postings) => {
      subject.signal.throwIfAborted();
      await matching.addRivals(
        postings.map(({ key, fields }) => ({ feed, key, fields })),
        rules,
      );
    })) ?? [];
  const isWhole = read.shortfalls.length === 0;
  const facts = {
    noContent: subject.byReference === true ? 'only a reference is certain' : isWhole ? undefined : INCOMPLETE_FEED,
    blocker: unreadFeeds.length === 0 ? undefined : `feed ${unreadFeeds.join(', ')} of the same site could not be read`,
  };
  await matching.match(site, since, facts, {
    signal: subject.signal,
    onPairs: (done) => subject.onProgress?.({ what: 'pairs', done }),
  });
  crossStep('jobs-matched');
  return { kind: 'matched', since, shortfalls: read.shortfalls, version: read.version };
}

/** Stores the jobs of the list. Returns why it is not proven to be whole; `undefined`: it is. */
async function readWholeList(
  matching: JobMatching,
  subject: AdoptSubject,
  rules: AdoptRules,
  expected: ExpectedJobs,
): Promise<string | undefined> {
  for (let reading = 1; ; reading++) {
    const listing = await readJobs(matching, subject, rules, expected);
    if (listing.kind === 'listed') {
      const unproven = await listing.whyUnproven?.();
      return unproven?.mayHide === true ? unproven.message : undefined;
    }
    if (!listing.changed || reading === MOST_READINGS) return listing.message;
    await matching.forgetJobs();
  }
}

async function readJobs(
  matching: JobMatching,
  subject: AdoptSubject,
  rules: AdoptRules,
  expected: ExpectedJobs,
): Promise<Listing> {
  const { client, rateLimiter, signal, onProgress } = subject;
  let waiting: SiteJob[] = [];
  let done = 0;
  const store = async () => {
    const jobs = waiting;
    waiting = [];
    done += jobs.length;
    onProgress?.({ what: 'jobs', done });
    await matching.addJobs(jobs, rules);
  };
  const take = (siteJob: SiteJob): void | Promise<void> => {
    expected.take(siteJob);
    waiting.push(siteJob);
    return waiting.length < STORED_AT_ONCE ? undefined : store();
  };
  const listing = await client.list(take, signal, async (stop) => {
    await store();
    await expected.keep();
    await rateLimiter.take(stop);
  });
  await store();
  return listing;
}

async function readAllPostings(matching: JobMatching, subject: AdoptSubject, rules: AdoptRules): Promise<PostingsRead> {
  const { db, feed, site, onProgress } = subject;
  let done = 0;
  const read = await subject.readPostings(async (postings) => {
    subject.signal.throwIfAborted();
    await matching.addPostings(feed, postings, rules);
    done += postings.length;
    onProgress?.({ what: 'postings', done });
  });
  if (read.kind === 'failed') return read;
  const session = await db.session();
  try {
    for await (const rivals of rivalPostings(session, site, rules.referenceField)) {
      subject.signal.throwIfAborted();
      await matching.addRivals(rivals, rules);
    }
  } finally {
    await session.end();
  }
  return read;
}

/** Why the feed may have further postings, as one text. */
export const shortfallText = (shortfalls: readonly Message[]): string => shortfalls.map(textOf).join('; ');
