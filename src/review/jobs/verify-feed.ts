// Verifies one feed as its settings say: compares its jobs in portions, marks what is to be set again, and tells how far it is. Sends nothing.
import type { VerifySettings } from '../../config/config.ts';
import { pause } from '../../flow/pause.ts';
import type { Message } from '../../plan/message.ts';
import { type FeedName, type PostingKey, postingKey } from '../../posting/identifiers.ts';
import { markDrifted, type UnmarkedJob } from '../../store/change/mark-drifted.ts';
import type { VerifyResult, VerifyRun } from '../../store/feed/feed-verify.ts';
import { type FeedLock, lockFeed } from '../../store/locks/feed-locks.ts';
import { Verification } from '../../store/mapping/verification.ts';
import type { Database } from '../../store/postgres/database.ts';
import { crossStep } from '../../telemetry/times.ts';
import { type FeedCounts, type Finding, type VerifySubject, verifySite } from './verify-site.ts';

/** An object, so that a test can lower the limit. */
export const VERIFY_LIMITS = {
  /** Jobs that are asked for, and marked, before the run could be continued after them. */
  portion: 200,
};
const NOTHING: VerifyResult = { jobs: 0, same: 0, changed: 0, gone: 0, foreign: 0, untold: 0, marked: 0, left: 0 };

export interface VerifyFeedRun {
  readonly run: VerifyRun;
  readonly settings: VerifySettings;
  readonly hasList: boolean;
  readonly actor: string;
  readonly subject: Omit<VerifySubject, 'selection' | 'keepsDrift' | 'isSetAgain' | 'onFinding' | 'onProgress'>;
  /** Notes a portion that is done. Returns false if the run is no longer this process's. */
  readonly onPortion: (after: PostingKey, soFar: VerifyResult) => Promise<boolean>;
  readonly say: (message: Message) => string;
}

/** Returns what was found; `undefined`: another process has taken the run over. A list or a sample is one portion. */
export async function verifyFeed(work: VerifyFeedRun): Promise<VerifyResult | undefined> {
  const { run, settings, hasList } = work;
  const isEach = settings.sample === undefined && (settings.each || !hasList);
  if (!isEach) {
    const selection =
      settings.sample === undefined
        ? ({ kind: 'list' } as const)
        : ({ kind: 'sample', most: settings.sample } as const);
    return (await verifyPortion(work, selection)).result;
  }
  let after = run.after === undefined ? undefined : postingKey(run.after);
  let soFar = run.soFar ?? NOTHING;
  for (;;) {
    const { result, last } = await verifyPortion(work, { kind: 'all', after, most: VERIFY_LIMITS.portion });
    soFar = sumOf(soFar, result);
    if (last === undefined || result.message !== undefined) return soFar;
    after = last;
    if (!(await work.onPortion(after, soFar))) return undefined;
  }
}

/** `last`: the last posting of the portion; `undefined`: it had none. */
async function verifyPortion(
  { settings, subject, actor, say }: VerifyFeedRun,
  selection: VerifySubject['selection'],
): Promise<{ readonly result: VerifyResult; readonly last: PostingKey | undefined }> {
  const { db, site, signal } = subject;
  const [feed] = subject.feeds as readonly [FeedName];
  const isSetAgain = setAgainBy(settings);
  let last: PostingKey | undefined;
  let wholly = 0;
  const verification = await Verification.open(db, site, [feed]);
  try {
    const { counts, failure } = await verifySite(verification, {
      ...subject,
      selection,
      keepsDrift: setsAnything(settings),
      isSetAgain,
      async onFinding(finding) {
        if (isWhollyChangedBack(finding, isSetAgain)) wholly++;
      },
      onProgress(progress) {
        if (progress.what === 'asked') last = progress.job.key;
      },
    });
    const again = wholly + (await verification.countGone(feed));
    const { marked, unmarked } = await markToSendAgain(verification, feed, {
      db,
      actor,
      signal,
      onWait: () => undefined,
    });
    const found = counts.get(feed) as FeedCounts;
    const { jobs, same, changed, gone, foreign, waiting, unknown, unasked } = found;
    const all = changed + gone + foreign;
    const result = {
      jobs,
      same,
      changed,
      gone,
      foreign,
      untold: waiting + unknown + unasked,
      marked,
      // Jobs that changed meanwhile are compared by the next run.
      left: all - Math.max(0, again - unmarked),
      ...(failure === undefined ? {} : { message: say(failure) }),
    };
    return { result, last };
  } finally {
    await verification.close();
  }
}

const setsAnything = ({ changed, gone, fields }: VerifySettings): boolean =>
  [changed, gone, ...Object.values(fields)].includes('set_again');

const setAgainBy =
  ({ changed, gone, fields }: VerifySettings): NonNullable<VerifySubject['isSetAgain']> =>
  (finding, field) =>
    finding === 'gone' ? gone === 'set_again' : (fields[field] ?? changed) === 'set_again';

const isWhollyChangedBack = (
  { finding, fields }: Finding,
  isSetAgain: NonNullable<VerifySubject['isSetAgain']>,
): boolean => finding === 'changed' && Object.keys(fields).every((name) => isSetAgain('changed', name));

/** The feed's jobs are counted anew in each portion. */
function sumOf(one: VerifyResult, other: VerifyResult): VerifyResult {
  const sum = (name: Exclude<keyof VerifyResult, 'message'>) => one[name] + other[name];
  return {
    jobs: other.jobs,
    same: sum('same'),
    changed: sum('changed'),
    gone: sum('gone'),
    foreign: sum('foreign'),
    untold: sum('untold'),
    marked: sum('marked'),
    left: sum('left'),
    ...(other.message === undefined ? {} : { message: other.message }),
  };
}

const MARKED_AT_ONCE = 200;
const MOST_NAMED = 20;
const TRY_AGAIN_MS = 500;

export interface PostingsSetAgain {
  readonly marked: number;
  readonly unmarked: number;
  /** Further jobs that are marked only to find out how the site shows some of their fields. */
  readonly toCompare: number;
  /** Some of those that were not marked, with the reason. */
  readonly examples: readonly UnmarkedJob[];
}

/**
 * Marks in portions, each in a transaction of its own: a command that is stopped leaves each posting marked or as it was. Waits
 * while the feed is pulled.
 */
export async function markToSendAgain(
  verification: Verification,
  feed: FeedName,
  {
    db,
    actor,
    signal,
    onWait,
  }: { readonly db: Database; readonly actor: string; readonly signal: AbortSignal; readonly onWait: () => void },
): Promise<PostingsSetAgain> {
  const examples: UnmarkedJob[] = [];
  let [marked, unmarked, toCompare] = [0, 0, 0];
  let lock: FeedLock | undefined;
  try {
    for (let after = 0; ; ) {
      const { jobs, last } = await verification.driftAfter(feed, after, MARKED_AT_ONCE);
      if (jobs.length === 0) return { marked, unmarked, toCompare, examples };
      if (lock?.held() === false) await lock.release();
      if (lock?.held() !== true) lock = await waitForLock(db, feed, signal, onWait);
      const left = await markDrifted(verification.session, feed, actor, jobs);
      crossStep('differences-marked');
      const keys = new Set(left.map(({ key }) => key));
      const differing = jobs.filter(({ finding }) => finding !== 'unknown');
      const stayed = left.filter(({ key }) => differing.some((job) => job.key === key));
      marked += differing.length - stayed.length;
      unmarked += stayed.length;
      toCompare += jobs.filter(({ finding, key }) => finding === 'unknown' && !keys.has(key)).length;
      examples.push(...stayed.slice(0, MOST_NAMED - examples.length));
      after = last;
    }
  } finally {
    await lock?.release();
  }
}

async function waitForLock(db: Database, feed: FeedName, signal: AbortSignal, onWait: () => void): Promise<FeedLock> {
  for (;;) {
    signal.throwIfAborted();
    const lock = await lockFeed(db, feed);
    if (lock !== undefined) return lock;
    onWait();
    await pause(TRY_AGAIN_MS, signal);
  }
}
