// Gives the jobs of missing postings to the new postings that are the same under other keys: all certain ones, or one that a person
// names. Sends nothing.
import type { FeedPolicy } from '../../plan/policy.ts';
import type { FeedName, PostingKey } from '../../posting/identifiers.ts';
import { streamLines, withRekey } from '../../store/change/rekey/read-rekey.ts';
import type { RekeyLine } from '../../store/change/rekey/rekey-line.ts';
import { rekeyPostings } from '../../store/change/rekey/rekey-postings.ts';
import type { Database } from '../../store/postgres/database.ts';
import { crossStep } from '../../telemetry/steps.ts';

export interface RekeySubject {
  readonly db: Database;
  readonly feed: FeedName;
  readonly actor: string;
  /** What the feed may do to the jobs that its new keys keep. */
  readonly policy: FeedPolicy | undefined;
  readonly signal: AbortSignal;
  /** Throws if the feed's pull lock is no longer held. */
  readonly checkLock: () => void;
}

/** A line with what became of it. */
export interface RekeyedLine extends RekeyLine {
  readonly bound: boolean;
  /** Why a certain pair was not bound. */
  readonly message: string | undefined;
}

export interface RekeyCounts {
  /** Jobs that new keys have now. */
  readonly bound: number;
  /** New keys of postings whose job has ended. */
  readonly ended: number;
  /** Second jobs of new postings that are deleted: of the bound pairs, or of those that are certain. */
  readonly second: number;
  readonly sure: number;
  readonly unsure: number;
  /** Postings without a pair. */
  readonly added: number;
  readonly missing: number;
}

/**
 * Reads the pairs, hands them over in portions, and returns how many there are. With `bind`, binds the certain ones first, each
 * portion in a transaction of its own: a command that is stopped leaves each posting bound or as it was.
 */
export async function rekeyFeed(
  subject: RekeySubject,
  bind: boolean,
  take: (lines: readonly RekeyedLine[]) => Promise<void>,
): Promise<RekeyCounts> {
  const counts = { bound: 0, ended: 0, second: 0, sure: 0, unsure: 0, added: 0, missing: 0 };
  await withRekey(subject.db, subject.feed, async (snapshot) => {
    for await (const lines of streamLines(snapshot, subject.feed)) {
      subject.signal.throwIfAborted();
      const told = bind ? await bindSure(subject, lines) : lines.map(unbound);
      for (const line of told) {
        if (line.secondJobId !== undefined && (line.bound || (!bind && line.verdict === 'sure'))) counts.second++;
        if (line.bound) counts[line.siteJobId === undefined ? 'ended' : 'bound']++;
        else if (line.verdict !== 'unmatched') counts[line.verdict]++;
        else if (line.key === undefined) counts.missing++;
        else counts.added++;
      }
      await take(told);
    }
  });
  return counts;
}

export interface BoundPairs {
  readonly bound: number;
  /** Certain pairs that could not be bound any more. */
  readonly refused: readonly RekeyedLine[];
  /** Certain pairs beyond `most`. */
  readonly left: number;
}

/**
 * Binds the certain pairs, at most so many, if they are those of the mark; otherwise returns `undefined` and changes nothing. What
 * becomes certain meanwhile is not bound.
 */
export function bindShown(subject: RekeySubject, mark: string, most: number): Promise<BoundPairs | undefined> {
  return withRekey(subject.db, subject.feed, async (snapshot, { current, marks, counts }) => {
    if (!current || marks.sure !== mark || counts.sure === 0) return undefined;
    const told: RekeyedLine[] = [];
    for await (const lines of streamLines(snapshot, subject.feed, 'sure')) {
      subject.signal.throwIfAborted();
      if (told.length >= most) break;
      told.push(...(await bindSure(subject, lines.slice(0, most - told.length))));
    }
    const refused = told.filter(({ bound }) => !bound);
    return { bound: told.length - refused.length, refused, left: counts.sure - told.length };
  });
}

const unbound = (line: RekeyLine): RekeyedLine => ({ ...line, bound: false, message: undefined });

async function bindSure(
  { db, feed, actor, policy, checkLock }: RekeySubject,
  lines: readonly RekeyLine[],
): Promise<RekeyedLine[]> {
  const sure = lines.flatMap(({ verdict, key, oldKey }) =>
    verdict === 'sure' && key !== undefined && oldKey !== undefined ? [{ key, oldKey }] : [],
  );
  if (sure.length === 0) return lines.map(unbound);
  checkLock();
  const refused = new Map(
    (await rekeyPostings(db, { feed, actor, policy }, sure)).map(({ key, message }) => [key, message]),
  );
  crossStep('postings-rekeyed');
  return lines.map((line) => {
    const message = line.key === undefined ? undefined : refused.get(line.key);
    return { ...line, bound: line.verdict === 'sure' && message === undefined, message };
  });
}

/** Returns why it was refused; `undefined`: it was bound. */
export async function rekeyOne(
  { db, feed, actor, policy, checkLock }: RekeySubject,
  pair: { readonly key: PostingKey; readonly oldKey: PostingKey },
): Promise<string | undefined> {
  checkLock();
  const [refused] = await rekeyPostings(db, { feed, actor, policy }, [pair]);
  return refused?.message;
}
