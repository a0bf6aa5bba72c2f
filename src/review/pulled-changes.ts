// What a pull changed on the site, posting by posting, with the parts of the fields that differ.
import { AccountingError, checkAccounts, type GoneCounts, type SeenCounts } from '../plan/accounting.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import { excerpt } from '../posting/markup.ts';
import type { Fields } from '../posting/posting.ts';
import { countOpen } from '../store/backlog/open-counts.ts';
import { type Database, inSnapshot, type Queryable } from '../store/postgres/database.ts';
import { type CountedPull, countedPull, type PullEffect, pulledPostings, sumsOf } from '../store/pull/pull-history.ts';

/** A field's value before the pull and what the site has now, cut to where they differ. */
export interface PulledDifference {
  readonly field: string;
  /** `undefined`: the job did not have the field. */
  readonly before: string | undefined;
  readonly now: string | undefined;
}

export interface PulledChange {
  readonly key: PostingKey;
  readonly at: Date;
  readonly title: string | undefined;
  /** Of updates; at most {@link MOST_FIELDS}. `undefined`: what was before is not known. */
  readonly differences: readonly PulledDifference[] | undefined;
  readonly moreFields: number;
}

export interface PulledChanges {
  readonly items: readonly PulledChange[];
  /** The place to go on from; `undefined`: nothing follows. */
  readonly next: PostingKey | undefined;
}

const MOST_FIELDS = 8;
const MOST_CHARACTERS = 160;
const BEFORE_DIFFERENCE = 30;

export async function pulledChanges(
  db: Queryable,
  pull: { readonly id: number; readonly feed: FeedName },
  effect: PullEffect,
  { after, limit }: { readonly after: PostingKey | undefined; readonly limit: number },
): Promise<PulledChanges> {
  const found = await pulledPostings(db, pull, effect, after, limit + 1);
  const items = found.slice(0, limit).map(({ key, at, now, before }): PulledChange => {
    const changed = Object.entries(before ?? {}).filter(([field, value]) => value !== (now?.[field] ?? null));
    return {
      key,
      at,
      title: titleOf(now) ?? titleOf(before),
      differences:
        effect !== 'updated' || before === undefined
          ? undefined
          : changed
              .slice(0, MOST_FIELDS)
              .map(([field, value]) => differenceOf(field, value ?? undefined, now?.[field])),
      moreFields: effect === 'updated' ? Math.max(0, changed.length - MOST_FIELDS) : 0,
    };
  });
  return { items, next: found.length > limit ? items.at(-1)?.key : undefined };
}

function titleOf(fields: Fields | Readonly<Record<string, string | null>> | undefined): string | undefined {
  const title = fields?.title;
  return title == null ? undefined : excerpt(title, MOST_CHARACTERS);
}

/** The two values cut to where they differ. */
export function differenceOf(field: string, before: string | undefined, now: string | undefined): PulledDifference {
  let same = 0;
  const [one, two] = [before ?? '', now ?? ''];
  while (same < Math.min(one.length, two.length) && one[same] === two[same]) same += 1;
  // Not between the halves of a character.
  const from = Math.max(0, same - BEFORE_DIFFERENCE);
  const part = (text: string | undefined): string | undefined => {
    if (text === undefined) return undefined;
    const start = from > 0 && /[\uDC00-\uDFFF]/.test(text[from] ?? '') ? from - 1 : from;
    const shown = excerpt(text.slice(start), MOST_CHARACTERS);
    return `${start > 0 ? '…' : ''}${shown}${text.length - start > MOST_CHARACTERS ? '…' : ''}`;
  };
  return { field, before: part(before), now: part(now) };
}

// The sums of a pull: what its postings became, which must add up to what it saw and to what was gone.

export interface PullSums {
  readonly pull: CountedPull;
  readonly seen: SeenCounts;
  /** `undefined`: the pull is not proven complete, so no posting counts as gone. */
  readonly gone: GoneCounts | undefined;
  /** Why the counts do not add up, which is a bug in jobmirror. */
  readonly fault: string | undefined;
}

/**
 * As of now, or, if a later pull took the feed over, as of that moment. Returns `undefined` if there is no such pull. Before a
 * pull is committed nothing became of its postings, so the sums of one are all zero.
 */
export async function readPullSums(db: Database, id: number): Promise<PullSums | undefined> {
  return inSnapshot(db, async (tx) => {
    const pull = await countedPull(tx, id);
    if (pull === undefined) return undefined;
    const isCounted = pull.committedAt !== undefined;
    const open = isCounted ? (pull.takenOver?.leftOpen ?? (await countOpen(tx, pull.feed))) : {};
    const sums = sumsOf(pull, open);
    return { pull, ...sums, fault: isCounted ? faultOf(sums) : undefined };
  });
}

function faultOf({ seen, gone }: Pick<PullSums, 'seen' | 'gone'>): string | undefined {
  try {
    checkAccounts(seen, gone);
    return undefined;
  } catch (error) {
    if (error instanceof AccountingError) return error.message;
    throw error;
  }
}
