// Verifies one feed as its settings say: compares its jobs in portions, marks what is to be set again, and tells how far it is.
import type { VerifySettings } from '../../config/config.ts';
import type { Message } from '../../plan/message.ts';
import { type FeedName, type PostingKey, postingKey } from '../../posting/identifiers.ts';
import type { VerifyResult, VerifyRun } from '../../store/feed/feed-verify.ts';
import { Verification } from '../../store/mapping/verification.ts';
import type { FeedCounts, Finding } from './finding.ts';
import { setAgain } from './set-again.ts';
import { verifySite } from './verify-site.ts';
import type { VerifySubject } from './verifying.ts';

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
    const { marked, unmarked } = await setAgain(verification, feed, { db, actor, signal, onWait: () => undefined });
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
