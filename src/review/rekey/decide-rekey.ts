// Carries out a decision about changed keys that somebody made on a page or through the API: for exactly what was shown, or not at all.
import type { PostingKey } from '../../posting/identifiers.ts';
import { compareRekey } from '../../store/change/rekey/compare-rekey.ts';
import { isRekeySuspected, readPairVersion, withRekey } from '../../store/change/rekey/read-rekey.ts';
import { type DeniedRekey, denyRekey, type RekeyPair } from '../../store/change/rekey/rekey-postings.ts';
import { lockFeed } from '../../store/locks/feed-locks.ts';
import type { Database } from '../../store/postgres/database.ts';
import { bindShown, type RekeyedLine, type RekeySubject, rekeyOne } from './rekey-feed.ts';
import { isUnknown, type RekeyPolicy } from './rekey-policy.ts';

export type RekeyDecision =
  /** @param mark of the certain pairs that were shown */
  | { readonly kind: 'sure'; readonly mark: string }
  /** @param version of the pair that was shown; `undefined`: a person named both keys */
  | {
      readonly kind: 'pair';
      readonly key: PostingKey;
      readonly oldKey: PostingKey;
      readonly version: string | undefined;
    }
  /** The new postings are no missing ones. @param mark of all postings that were shown */
  | { readonly kind: 'not_rekey'; readonly mark: string };

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
  if (isUnknown(known) && decision.kind !== 'not_rekey') return refused(known.unknown);
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
  switch (decision.kind) {
    case 'sure': {
      const end = await bindShown(subject, decision.mark, most);
      return end === undefined ? refused(STALE) : { kind: 'bound', ...end };
    }
    case 'pair': {
      if (decision.version !== undefined && !(await isAsShown(subject, decision, decision.version)))
        return refused(STALE);
      const message = await rekeyOne(subject, decision);
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
