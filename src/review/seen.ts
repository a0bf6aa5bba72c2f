// What a person was shown of the entries that they decide about, as one short text: with any others, or after any change, nothing is done.
import { hash } from 'node:crypto';
import { plural } from '../plan/message.ts';
import type { EntryState, SelectedCount } from '../store/change/act-in-review.ts';
import type { PostingStory } from '../store/review/posting-history.ts';
import type { EntryDetails } from '../store/review/review-entries.ts';
import { describeSelected } from './describe-selected.ts';

/** Binds a decision to what was shown. */
export interface Seen {
  /** How many entries; it does not tell which ones. */
  readonly count?: number | undefined;
  /** The token of all selected entries together, or of each of those that are named one by one. */
  readonly tokens?: readonly string[] | undefined;
}

/** The names that a binding has in requests, forms and options. All of them are tokens but the counts. */
export interface SeenNames {
  readonly seen?: string | readonly string[] | undefined;
  /** Of a selection. */
  readonly mark?: string | undefined;
  /** Of one entry or posting. */
  readonly version?: string | undefined;
  readonly count?: number | undefined;
}

export function seenOf({ seen, mark, version, count }: SeenNames): Seen {
  const tokens = [seen ?? [], mark ?? [], version ?? []].flat();
  return { count, tokens: tokens.length === 0 ? undefined : tokens };
}

type Marked = Pick<SelectedCount, 'n' | 'mark'>;

/** Another one if other entries are meant, or one of them has changed. Short enough for a command. */
export const tokenOf = (selected: readonly Marked[]): string =>
  hash('sha256', `${sumOf(selected)} ${selected.reduce((sum, { mark }) => sum + BigInt(mark), 0n)}`, 'hex').slice(
    0,
    10,
  );

/** Of one entry: the same as of a selection of only this one. */
export const tokenOfOne = ({ mark }: Pick<Marked, 'mark'>): string => tokenOf([{ n: 1, mark }]);

/** A change that is not in review has no entry, and may come into review without another mark. */
export const tokenOfChange = (change: Pick<EntryState, 'mark' | 'state'>): string =>
  change.state === 'ready' || change.state === 'sending' ? `${change.state}-${tokenOfOne(change)}` : tokenOfOne(change);

export const tokenOfEntry = (entry: EntryDetails): string =>
  entry.kind === 'change' ? tokenOfChange(entry.change) : tokenOfOne(entry.record);

/** Of its open change. Without one, another one after each update of its job and each edit; `undefined`: there is neither. */
export function tokenOfPosting({
  change,
  live,
  edits,
}: Pick<PostingStory, 'change' | 'live' | 'edits'>): string | undefined {
  if (change !== undefined) return tokenOfChange(change);
  if (live === undefined) return undefined;
  const state = JSON.stringify([live.siteJobId, live.fields, edits]);
  return `job-${hash('sha256', state, 'hex').slice(0, 32)}`;
}

interface NamedEntry {
  readonly id: number;
  readonly token: string;
}

/** What a decision would be about now. */
export interface PresentSelection {
  readonly selected: readonly (Omit<SelectedCount, 'kind'> & { readonly kind: string })[];
  /** Of the entries that are named one by one: all, and those that are still there. */
  readonly ids?: readonly number[] | undefined;
  readonly named?: readonly NamedEntry[] | undefined;
}

/** Binds a decision to what is there: to each entry in its state, if they are named one by one. */
export const seenIn = ({ selected, named }: PresentSelection): Seen => ({
  tokens: named === undefined ? [tokenOf(selected)] : named.map(({ token }) => token),
});

/** Why nothing is done; `undefined`: what was seen is what is there. */
export function whyNotSeen(
  { count, tokens = [] }: Seen,
  { selected, ids = [], named = [] }: PresentSelection,
): string | undefined {
  const total = sumOf(selected);
  const counted =
    count === undefined || count === total ? [] : [`${plural(total, 'entry', 'entries')} now, not ${count}`];
  const isEach = tokens.length === Math.max(1, ids.length);
  const differing = isEach && ids.length > 0 ? whichDiffer(new Set(tokens), ids, named) : [];
  const isOther =
    tokens.length > 0 && !(isEach && ids.length > 0) && tokens.some((token) => token !== tokenOf(selected));
  if (counted.length === 0 && differing.length === 0 && !isOther) return undefined;
  return [`${changedSince('the selection', [...counted, ...differing])}.`, ...describeSelected(selected)].join('\n  ');
}

function whichDiffer(tokens: ReadonlySet<string>, ids: readonly number[], named: readonly NamedEntry[]): string[] {
  const now = new Map(named.map(({ id, token }) => [id, token]));
  const changed = ids.filter((id) => now.has(id) && !tokens.has(now.get(id) ?? ''));
  const gone = ids.filter((id) => !now.has(id));
  const say = (entries: readonly number[], what: string) =>
    entries.length === 0 ? [] : [`${entries.length === 1 ? 'entry' : 'entries'} ${entries.join(', ')} ${what}`];
  return [...say(changed, 'changed'), ...say(gone, 'left this list')];
}

const changedSince = (what: string, how: readonly string[]): string =>
  `${what} has changed since you saw it${how.length === 0 ? '' : ` (${how.join('; ')})`}; look at it again. Nothing was done`;

/** Whether one entry or posting is not as it was seen. */
export const isUnseen = (seen: Seen | undefined, token: string | undefined): boolean =>
  seen?.tokens?.some((each) => each !== token) === true;

/** Entries came or went while it was decided about them. */
export const CHANGED = `${changedSince('the selection', [])}.`;

/** Why nothing is done about one entry or posting. */
export const CHANGED_SINCE_SHOWN = changedSince('it', []);

export const sumOf = (counts: readonly { readonly n: number }[]): number => counts.reduce((sum, { n }) => sum + n, 0);
