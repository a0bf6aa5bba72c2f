// Decides about changed keys of a feed: gives the jobs of missing postings to the new postings that are the same under other keys, or
// says that they are new. Somebody on a page or through the API decides about exactly what was shown. Sends nothing.
import type { Config } from '../config/config.ts';
import type { FeedPolicy } from '../plan/policy.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import { compareRekey, PAIR_KINDS, type PairKind, type RekeyLine } from '../store/change/rekey/compare-rekey.ts';
import {
  type ComparedRekey,
  isRekeySuspected,
  type LinePlace,
  readLines,
  readPairVersion,
  readRekeySides,
  type StoredLine,
  streamLines,
  withRekey,
} from '../store/change/rekey/read-rekey.ts';
import { type DeniedRekey, denyRekey, type RekeyPair, rekeyPostings } from '../store/change/rekey/rekey-postings.ts';
import { lockFeed } from '../store/locks/feed-locks.ts';
import type { Database, Queryable } from '../store/postgres/database.ts';
import { crossStep } from '../telemetry/times.ts';
import { differenceOf, type PulledDifference } from './pulled-changes.ts';

/** `undefined`: everything. */
export type RekeyPolicy = FeedPolicy | undefined | UnknownPolicy;

/** Without it, jobs might be changed that the feed must leave as they are. */
export interface UnknownPolicy {
  /** Why it is not known. */
  readonly unknown: string;
}

export function rekeyPolicy({ feeds, brokenFeeds, path }: Config, name: FeedName): RekeyPolicy {
  if (brokenFeeds.has(name)) return { unknown: `the configuration of feed ${name} is wrong: fix it first` };
  const feed = feeds.get(name);
  if (feed !== undefined) return feed.policy;
  return {
    unknown: `feed ${name} is not in ${path}, so whether its jobs may be changed (policy) is not known here: decide where it is configured`,
  };
}

export const isUnknown = (policy: RekeyPolicy): policy is UnknownPolicy => typeof policy === 'object';

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

interface BoundPairs {
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
function bindShown(subject: RekeySubject, mark: string, most: number): Promise<BoundPairs | undefined> {
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

export type RekeyDecision =
  /** @param mark of the certain pairs that were shown */
  | { readonly decision: 'sure'; readonly mark: string }
  /** @param version of the pair that was shown; `undefined`: a person named both keys */
  | {
      readonly decision: 'pair';
      readonly key: PostingKey;
      readonly old_key: PostingKey;
      readonly version?: string | undefined;
    }
  /** The new postings are no missing ones. @param mark of all postings that were shown */
  | { readonly decision: 'not_rekey'; readonly mark: string };

export type RekeyEnd =
  /** @param refused certain pairs that could not be bound any more. @param left certain pairs that were too many for one go */
  | {
      readonly kind: 'bound';
      readonly bound: number;
      readonly refused: readonly RekeyedLine[];
      readonly left: number;
    }
  | ({ readonly kind: 'denied' } & DeniedRekey)
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly message: string };

/** So that a request ends within seconds; the rest is shown again. */
const MOST_AT_ONCE = 10_000;

export async function decideRekey(
  db: Database,
  { feed, actor, policy: known }: Pick<RekeySubject, 'feed' | 'actor'> & { readonly policy: RekeyPolicy },
  decision: RekeyDecision,
  most = MOST_AT_ONCE,
): Promise<RekeyEnd> {
  if (isUnknown(known) && decision.decision !== 'not_rekey') return refused(known.unknown);
  const policy = isUnknown(known) ? undefined : known;
  const lock = await lockFeed(db, feed);
  if (lock === undefined)
    return refused(`feed ${feed} is being pulled or changed right now; try again when that has ended`);
  const subject = { db, feed, actor, policy, signal: lock.lost, checkLock: () => lock.lost.throwIfAborted() };
  try {
    const end = await decide(subject, decision, most);
    // Whoever decided sees what is left at once.
    await compareRekey(db, feed);
    return end;
  } finally {
    await lock.release();
  }
}

const refused = (message: string): RekeyEnd => ({ kind: 'refused', message });

const STALE = 'the postings have changed since they were shown; look at them again';

/** The caller holds the feed's pull lock. */
async function decide(subject: RekeySubject, decision: RekeyDecision, most: number): Promise<RekeyEnd> {
  const { db, feed, actor } = subject;
  if (!(await isRekeySuspected(db, feed)))
    return refused(`the keys of feed ${feed} do not seem to have changed, or not any more`);
  switch (decision.decision) {
    case 'sure': {
      const end = await bindShown(subject, decision.mark, most);
      return end === undefined ? refused(STALE) : { kind: 'bound', ...end };
    }
    case 'pair': {
      const { key, old_key: oldKey, version } = decision;
      if (version !== undefined && !(await isAsShown(subject, { key, oldKey }, version))) return refused(STALE);
      subject.checkLock();
      const [left] = await rekeyPostings(db, { feed, actor, policy: subject.policy }, [{ key, oldKey }]);
      const message = left?.message;
      return message === undefined ? { kind: 'bound', bound: 1, refused: [], left: 0 } : refused(message);
    }
    case 'not_rekey': {
      const shown = await withRekey(db, feed, async (_, { current, marks }) => current && marks.all === decision.mark);
      if (shown !== true) return refused(STALE);
      const denied = await denyRekey(db, feed, actor);
      return denied === undefined ? refused(STALE) : { kind: 'denied', ...denied };
    }
    default:
      return decision satisfies never;
  }
}

const isAsShown = async ({ db, feed }: RekeySubject, pair: RekeyPair, version: string): Promise<boolean> =>
  (await withRekey(
    db,
    feed,
    async (session, { current }) => current && (await readPairVersion(session, feed, pair)) === version,
  )) === true;

// Shows which new postings of a feed may be missing ones under other keys, page by page, with marks that bind a decision to what
// was shown.

export interface ShownPair extends StoredLine {
  /** At most {@link MOST_FIELDS}; `undefined`: no pair, or one side is not known. */
  readonly differences: readonly PulledDifference[] | undefined;
  readonly moreFields: number;
}

export interface SuspectedPairs extends ComparedRekey {
  /** The kind that is shown. */
  readonly show: PairKind;
  readonly items: readonly ShownPair[];
  /** The page begins with the first of its kind. */
  readonly isFirst: boolean;
  /** Where the next page begins; `undefined`: nothing follows. */
  readonly next: LinePlace | undefined;
}

export interface PairPage {
  /** `undefined`: the most certain kind of which there are some. */
  readonly show: PairKind | undefined;
  /** Only those that follow this place. */
  readonly after: LinePlace | undefined;
  readonly limit: number;
}

const MOST_FIELDS = 6;

/** `undefined`: no change of keys is suspected. */
export function suspectedPairs(db: Database, feed: FeedName, page: PairPage): Promise<SuspectedPairs | undefined> {
  return withRekey(db, feed, async (session, compared) => {
    const show = page.show ?? PAIR_KINDS.find((kind) => compared.counts[kind] > 0) ?? 'sure';
    const read = await readLines(session, feed, show, page.limit + 1, page.after);
    const lines = read.slice(0, page.limit);
    const items = await withDifferences(session, feed, lines);
    const next = read.length > page.limit ? lines.at(-1)?.place : undefined;
    return { ...compared, show, items, isFirst: page.after === undefined, next };
  });
}

async function withDifferences(db: Queryable, feed: FeedName, lines: readonly StoredLine[]): Promise<ShownPair[]> {
  const pairs = lines.flatMap(({ key, oldKey }) =>
    key === undefined || oldKey === undefined ? [] : [{ key, oldKey }],
  );
  const sides = new Map(
    (await readRekeySides(db, feed, pairs)).map((side, at) => [JSON.stringify(pairs[at]), side] as const),
  );
  return lines.map((line): ShownPair => {
    const { key, oldKey } = line;
    const { before, now } = sides.get(JSON.stringify({ key, oldKey })) ?? {};
    if (before === undefined || now === undefined) return { ...line, differences: undefined, moreFields: 0 };
    const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    const differing = names.filter((name) => before[name] !== now[name]);
    const shown = differing.slice(0, MOST_FIELDS);
    const differences = shown.map((name) => differenceOf(name, before[name], now[name]));
    return { ...line, differences, moreFields: differing.length - shown.length };
  });
}
