// Decides from the deletes of a pull and of the last 24 hours whether the pull may delete, or must hold its deletes.
import type { Reason } from './desired-change.ts';
import { adviceOf, type Message, merge, messageOf, reword, textOf } from './message.ts';

/** Deletes are held for a person when they exceed both limits. */
export interface DeleteGuard {
  /** Share of the live site jobs, in percent. */
  readonly percent: number;
  /** Number of deletes. */
  readonly count: number;
  /** Consecutive complete pulls in which a posting must be missing before it is deleted; 1 deletes at once. */
  readonly missingPulls: number;
}

/** How long completed deletes count together with new ones. */
export const GUARD_WINDOW_HOURS = 24;

/** The guard's input. None of these counts includes deletes that a person approved. */
export interface DeleteLoad {
  /** Deletes that this pull adds. */
  readonly added: number;
  /** Deletes of the guard's window plus those still pending, held or not. */
  readonly recent: number;
  /** Site jobs that are live now or may have been created, including those about to be deleted. */
  readonly live: number;
  /** Completed deletes of the guard's window: these jobs were live when it began. */
  readonly done: number;
  /** Whether the feed had no posting at all. */
  readonly emptied: boolean;
  /** The number of added deletes whose postings have expired; absent: none. */
  readonly expired?: number;
  /** Records of the feed that a rule skipped. */
  readonly skipped: number;
  /** The number of added deletes whose postings are still in the feed, and are skipped by a rule now; absent: none. */
  readonly ruledOut?: number;
  /** How many records the feed has, if it may list only the newest postings; absent: nothing suggests that. */
  readonly newest?: number | undefined;
  /** Sources of the feed, or files of one, that had postings and have none now; absent: none. */
  readonly emptySources?: readonly EmptySource[];
}

interface EmptySource {
  readonly source: string;
  /** For people. */
  readonly name: string;
}

/** Lists of only the newest postings, and pages, usually have such a number of records. */
export const mayBeNewest = (records: number): boolean => /^(?:[125]|25)0+$|^25$|^30$/.test(`${records}`);

/**
 * Whether a list was cut: those that are gone were its last, or its first, in a row. One alone is no sign, unless newer ones push it out.
 * @param before the records in their order. @param listed those that the list still has. @param gone those whose postings are gone; others have
 * changed, or are no postings
 */
export function isCutShort(
  before: readonly string[],
  listed: ReadonlySet<string>,
  gone: ReadonlySet<string>,
  least = 2,
): boolean {
  if (gone.size < least) return false;
  const [first, last] = [before.findIndex((each) => gone.has(each)), before.findLastIndex((each) => gone.has(each))];
  const [firstLeft, lastLeft] = [
    before.findIndex((each) => listed.has(each)),
    before.findLastIndex((each) => listed.has(each)),
  ];
  return firstLeft >= 0 && (first > lastLeft || last < firstLeft);
}

/** Whether as many records are new at one end of a list as are gone at the other: newer ones push older ones out. */
export function isPushedOut(before: readonly string[], listed: readonly string[], gone: ReadonlySet<string>): boolean {
  const known = new Set(before);
  const added = gone.has(before.at(-1) ?? '') ? listed.slice(0, gone.size) : listed.slice(-gone.size);
  return added.every((each) => !known.has(each));
}

/** So many APIs list unless they are asked for more, and say no total: Directus and Parse Server 100, Supabase 1000. */
export const mayBeCapped = (records: number): boolean => records === 100 || records === 1000;

/**
 * What holds deletes. `guard`: there are too many; they stay held until a person decides or the posting comes back.
 * `unreadable`: an unreadable record may be any posting; they are released, and checked again, once there is no such record.
 * `rekey`: the feed's keys seem to have changed; they are released once a person decides, or a complete pull refutes it.
 * `restored`: the database was restored from a backup, and the posting may be back in the feed, or `recover` gave the posting another job; they are
 * released, and checked again, by the next complete pull.
 * `newest`: newer postings may have pushed them out of the feed; they are released, and checked again, once it has another number of records.
 * `empty_source`: a source of the feed had postings and has none; they are released, and checked again, once it has postings again.
 */
export type HoldKind = 'guard' | 'unreadable' | 'rekey' | 'restored' | 'newest' | 'empty_source';

export type GuardVerdict =
  | { readonly kind: 'within' }
  /** `reason` is for people and gives the counts and the limit. */
  | {
      readonly kind: 'hold';
      readonly reason: string;
      /** Held for this alone, and not because there are too many. */
      readonly own?: 'newest' | 'empty_source';
      readonly sources?: readonly string[];
    };

/**
 * Checks the deletes of one pull against the guard. Deletes of a whole day count together, which also catches a feed
 * that shrinks pull by pull. The deletes of an empty feed are always held.
 */
export function judgeDeletes(guard: DeleteGuard, load: DeleteLoad): GuardVerdict {
  if (load.added === 0) return { kind: 'within' };
  const base = load.live + load.done;
  const { emptySources: emptied = [] } = load;
  const sources = emptied.length === 0 ? {} : { sources: emptied.slice(0, MOST_NAMED).map(({ source }) => source) };
  if (load.emptied) {
    const jobs = load.added === 1 ? 'its only live job' : `all ${load.added} of its live jobs`;
    const why = load.skipped === 0 ? 'the feed is empty' : "the feed's rule skips all of its records";
    return { kind: 'hold', reason: `${why}: ${jobs} would be deleted`, ...sources };
  }
  const total = load.added + load.recent;
  // A pending delete may have lost its job by now, so cap the share at 100 %.
  const share = base === 0 ? 100 : Math.min(100, (total / base) * 100);
  if (total <= guard.count || share <= guard.percent) {
    const newest =
      load.newest === undefined
        ? []
        : [
            `${mayBePushedOut(load.newest, load.added)}. With another number of records, they are checked again. ${IF_ALL}`,
          ];
    const ofSources =
      emptied.length === 0
        ? []
        : [
            `${mayBeOfEmptied(emptied, load.added)}. Once there are postings again, they are checked again. ${IF_EMPTY}`,
          ];
    const reason = [...ofSources, ...newest].join('; ');
    return reason === '' || load.added <= (load.expired ?? 0) + (load.ruledOut ?? 0)
      ? { kind: 'within' }
      : { kind: 'hold', reason, own: emptied.length === 0 ? 'newest' : 'empty_source', ...sources };
  }
  const together =
    load.recent === 0 ? '' : ` (${load.added} now, ${load.recent} in the last ${GUARD_WINDOW_HOURS} hours or pending)`;
  return {
    kind: 'hold',
    reason:
      `${total} of ${base} live jobs would be deleted${together}: ${share.toFixed(1)} %, ` +
      `above the limit of ${guard.count} and ${guard.percent} %${expiredOf(load)}${hintsOf(load)}`,
    ...sources,
  };
}

const mayBePushedOut = (records: number, added: number): string =>
  `the feed, or one of its sources, has exactly ${records} records, as a list of only the newest postings has: newer ones may have pushed out what is gone (${added} of its postings)`;
const IF_ALL =
  'If it lists all postings, set expect: { cap: none }; otherwise ask for all of them in its address, or set policy: upsert_only';

/** More are only counted. */
const MOST_NAMED = 20;
const IF_EMPTY =
  'If what is gone is gone indeed, approve the deletes; if sources are often empty, set expect: { empty_sources: true }';

function mayBeOfEmptied(emptied: readonly EmptySource[], added: number): string {
  const names = emptied.slice(0, MOST_NAMED).map(({ name }) => name);
  const more = emptied.length > names.length ? ` and ${emptied.length - names.length} more` : '';
  const [have, their] = emptied.length === 1 ? ['has', 'its'] : ['have', 'their'];
  return `${names.join(', ')}${more} had postings before and ${have} none now: what is gone (${added} of the feed's postings) may be ${their} postings`;
}

const hintsOf = ({ newest, emptySources: emptied = [], added }: DeleteLoad): string =>
  (emptied.length === 0 ? '' : `; ${mayBeOfEmptied(emptied, added)}. ${IF_EMPTY}`) +
  (newest === undefined ? '' : `; ${mayBePushedOut(newest, added)}. ${IF_ALL}`);

/** How many deletes of a day are within the guard, if so many jobs are live: with one more, they are held. */
export function deletesWithin({ percent, count }: Pick<DeleteGuard, 'percent' | 'count'>, live: number): number {
  let byShare = Math.min(live, Math.ceil((percent * live) / 100));
  // By the same arithmetic as above, so that the last digit never differs.
  while (byShare > 0 && (byShare / live) * 100 > percent) byShare--;
  return Math.min(live, Math.max(count, byShare));
}

const expiredOf = ({ added, expired = 0 }: DeleteLoad): string => {
  if (expired === 0) return '';
  return `; ${expired === added ? 'all' : expired} of the new deletes are of postings that have expired`;
};

/**
 * Explains why a pull with unreadable records of unknown key deletes nothing: any of them may be a posting that seems
 * to be gone (law 3).
 * @param rekeyed the keys have changed since the live jobs were created, so a record's key does not identify its
 * job.
 */
export function unreadableHold(records: number, rekeyed = false): Message {
  const [one, unknown, may] =
    records === 1
      ? ['1 record', 'its key is not known', 'it may be one of the postings']
      : [`${records} records`, 'their keys are not known', 'each may be one of the postings'];
  const why = rekeyed ? ', and the keys of this feed have changed' : `, and ${unknown}`;
  return messageOf(`${one} could not be read${why}: ${may} that seem to be gone`, [
    {
      words: 'fix the feed, and the next pull checks the deletes again; or review and approve them',
      action: { kind: 'list_entries', entryKind: 'held' },
    },
  ]);
}

/**
 * Why the deletes of a pull are held; `undefined`: they are not. Those held only for unreadable records, or for keys that
 * seem to have changed, are checked again once there is no such reason.
 *
 * | the guard | unreadable records of unknown key | keys seem to have changed | held as                    |
 * | --------- | --------------------------------- | ------------------------- | -------------------------- |
 * | within    | none                              | no                        | not held                   |
 * | within    | some                              | any                       | unreadable, with both      |
 * | within    | none                              | yes                       | rekey                      |
 * | hold      | none, or some                     | any                       | guard, with every reason   |
 * | newest    | none                              | no                        | newest                     |
 * | newest    | some, or none                     | any, or yes               | as within, with both       |
 * | a source  | none                              | no                        | empty_source               |
 * | a source  | some, or none                     | any, or yes               | as within, with both       |
 *
 * @param rekey why the keys seem to have changed; `undefined`: they do not.
 */
export function holdReason(
  verdict: GuardVerdict,
  { withoutKey, rekeyed }: { readonly withoutKey: number; readonly rekeyed: boolean },
  rekey?: Message,
): Reason | undefined {
  const unreadable = withoutKey === 0 ? [] : [unreadableHold(withoutKey, rekeyed)];
  const others = [...unreadable, ...(rekey === undefined ? [] : [rekey])];
  const reasons = verdict.kind === 'hold' ? [verdict.reason, ...others] : others;
  if (reasons.length === 0) return undefined;
  const { own = undefined, sources = [] } = verdict.kind === 'hold' ? verdict : {};
  const isOver = verdict.kind === 'hold' && own === undefined;
  const kind = isOver ? 'guard' : unreadable.length > 0 ? 'unreadable' : rekey === undefined ? own : 'rekey';
  return { ...heldBecause(kind ?? 'guard', merge(reasons)), ...(sources.length === 0 ? {} : { sources }) };
}

/** Deletes that the guard holds. */
export interface HeldByGuard {
  readonly held: number;
  /** How many are of postings that have expired. */
  readonly expired: number;
}

/**
 * Why deletes that the guard has held before are still held: by what the feed has now. That they are within the limit by now releases none, as a person
 * may have been told of them.
 * @param load that of the pull, whose `added` counts these deletes
 */
export function stillHeldReason(
  guard: DeleteGuard,
  load: DeleteLoad,
  held: number,
  ...others: Parameters<typeof holdReason> extends [unknown, ...infer Others] ? Others : never
): Reason | undefined {
  const verdict = judgeDeletes(guard, load);
  const [them, base] = [held === 1 ? 'it' : 'them', load.live + load.done];
  const reason = `${held} of ${base} live jobs would be deleted, which is within the limit by now, but an earlier pull has held ${them}${hintsOf(load)}`;
  const { own = undefined, sources } = verdict.kind === 'hold' ? verdict : {};
  const isOver = verdict.kind === 'hold' && own === undefined;
  return holdReason(isOver ? verdict : { kind: 'hold', reason, sources }, ...others);
}

/** The same for two reasons of the guard that differ only in the jobs that are live, or were deleted before: both change with time. */
export const lastingReason = ({ message }: Pick<Reason, 'message'>): string =>
  message.replace(
    /^(\d+) of \d+ live jobs would be deleted(?: \((\d+) now, [^)]*\))?(?:: [\d.]+ %)?/,
    (_, total: string, added = total) => added,
  );

/** The reason that is stored with held deletes. */
export function heldBecause(kind: HoldKind, message: Message): Reason {
  const next = adviceOf(message);
  return { kind, message: textOf(message), ...(next.length === 0 ? {} : { next }), problems: [] };
}

const ARE_HELD = 'deletes are held: ';

/** What a pull says of the deletes that it leaves held. */
export const noteOfHeld = (reason: Message): Message => reword(reason, (text) => `${ARE_HELD}${text}`);

/** The notes of a pull once no delete of its feed is held any more: there is nothing left to do about them. */
export const notesOfFormerlyHeld = (notes: readonly Message[]): Message[] =>
  notes.map((note) => (textOf(note).startsWith(ARE_HELD) ? textOf(note).replace('are', 'were') : note));
