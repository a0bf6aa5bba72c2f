// Decides whether the keys of a feed seem to have changed: postings are gone while new ones have their content.

import type { FeedName } from '../posting/identifiers.ts';
import { type Advice, type Message, messageOf, plural } from './message.ts';

/** A changed key is suspected when the pairs of missing and new postings exceed both limits. */
export interface RekeyGuard {
  /** Share of the live site jobs, in percent; 100 never suspects it. */
  readonly percent: number;
  /** Number of pairs. */
  readonly count: number;
}

/** The pairs of a missing posting that has a job and a new posting that has none; each posting is in at most one pair. */
export interface RekeyLoad {
  /** Pairs with the same content, apart from references and addresses. */
  readonly equal: number;
  /** Pairs with the same title and place; includes those with the same content. */
  readonly alike: number;
  /** Pairs with the same content apart from fields that are set only on create, too. */
  readonly settable: number;
  /** Such pairs of the last days whose creates were sent: see `pairsOfWindow`. */
  readonly recent: number;
  /** Missing postings of a pull that has not read the whole feed. */
  readonly unread?: number;
  /** Live site jobs of the feed, without second ones, and those that have ended while their postings are in the feed. */
  readonly live: number;
}

/** How long keys that change a few at a time count together. */
export const REKEY_WINDOW_DAYS = 7;
/** An employer who closes a posting and opens it anew under another number does so with one or two a day. */
const ORDINARY_A_DAY = 2;

/**
 * How many pairs of the window count beside those of a pull.
 * @param perDay those of the 24 hours before the pull, of the 24 hours before these, and so on
 */
export const pairsOfWindow = (perDay: readonly number[]): number =>
  perDay.reduce((sum, pairs, day) => sum + (day === 0 || pairs > ORDINARY_A_DAY ? pairs : 0), 0);

/** Nobody can tell of a single posting whether it was replaced or got another key. */
const LEAST_OF_ALL = 2;
const ALIKE_PERCENT = 50;

/**
 * Pairs with the same content count together with those of the window, if the pull has any.
 *
 * | pairs with the same content       | pairs with the same title and place | suspected |
 * | --------------------------------- | ----------------------------------- | --------- |
 * | above both limits                 | any                                 | yes       |
 * | all live jobs, and at least two,  | any                                 | yes       |
 * | apart from fields set on create   |                                     |           |
 * | fewer                             | above both limits and half the jobs,| yes       |
 * |                                   | or half of those that were not read |           |
 * | fewer                             | fewer                               | no        |
 */
export function seemsRekeyed(
  { percent, count }: RekeyGuard,
  { equal, alike, settable, recent, live, unread = live }: RekeyLoad,
): boolean {
  if (percent >= 100 || live === 0) return false;
  const share = (pairs: number) => (pairs / live) * 100;
  const together = equal === 0 ? 0 : equal + recent;
  if (together > count && share(together) > percent) return true;
  if (settable >= LEAST_OF_ALL && settable >= live) return true;
  return alike > count && (alike / Math.max(1, unread)) * 100 > Math.max(percent, ALIKE_PERCENT);
}

/** What is to become of the job of a posting that a pull did not show: the state of its delete; `none`: there is none. */
export const TWIN_DELETES = [
  'none',
  'ready',
  'sending',
  'in_doubt',
  'held',
  'rejected',
  'failed',
  'discarded',
] as const;
export type TwinDelete = (typeof TWIN_DELETES)[number];

/**
 * Whether the create of a new posting waits for a live posting with its content, or its title and place, that the pull did not show. Of
 * several with one content, as many creates wait as there are such postings.
 *
 * | delete of the other one | pull       | policy deletes | the create is                                               |
 * | ----------------------- | ---------- | -------------- | ----------------------------------------------------------- |
 * | none                    | incomplete | any            | waiting: the other one was not read                         |
 * | none                    | complete   | yes            | waiting: the other one is within its grace                  |
 * | none                    | complete   | no             | sent: the other job stays for good                          |
 * | held                    | any        | any            | waiting: whether the other job ends is not decided          |
 * | discarded               | any        | any            | sent: a person keeps the other job                          |
 * | any other               | any        | any            | sent: the other job ends                                    |
 *
 * With a guard of 100 % no create waits.
 */
export function waitsForTwinDelete(
  twin: TwinDelete,
  { percent, complete, deletes }: { readonly percent: number; readonly complete: boolean; readonly deletes: boolean },
): boolean {
  if (percent >= 100) return false;
  return twin === 'held' || (twin === 'none' && (!complete || deletes));
}

/** Whether the job of the other one ends, so that the new posting's job takes its place. */
export const endsTwinJob = (twin: TwinDelete): boolean => twin !== 'none' && twin !== 'held' && twin !== 'discarded';

/** Why the creates of some postings wait, and how to go on. @param unread an incomplete pull did not show the other ones */
export function describeTwins(feed: FeedName, waiting: number, unread: boolean): Message {
  const what = `${plural(waiting, 'new posting')} of feed ${feed} ${have(waiting)} content, or the title and place,`;
  const [of, until] = unread
    ? ['of postings that an incomplete pull did not show', 'a pull has read the whole feed']
    : [
        'of postings that are gone, and whose jobs have not ended',
        'the jobs of the others have ended, or these are back',
      ];
  return messageOf(`${what} ${of}: ${waiting === 1 ? 'it is' : 'they are'} not created until ${until}`, wayOn(feed));
}

/** What a person should know, and how to go on. @param proven a complete pull found it. */
export function describeRekey(
  feed: FeedName,
  {
    equal,
    alike,
    recent,
    second,
  }: Pick<RekeyLoad, 'equal' | 'alike' | 'recent'> & {
    /** The number of pairs with the same content that have a second job already. */
    readonly second: number;
  },
  proven: boolean,
): Message {
  const what =
    equal === 0
      ? `${plural(alike, 'new posting')} of feed ${feed} ${have(alike)} title and place`
      : `${plural(equal, 'new posting')} of feed ${feed} ${have(equal)} content`;
  const of = proven ? 'of postings that are gone' : 'of postings that an incomplete pull did not show';
  const parts = [
    ...(second === 0 ? [] : [`${second} of them ${second === 1 ? 'has' : 'have'} got a second job`]),
    ...(equal === 0 || recent === 0 ? [] : [`so had ${recent} more in the last ${REKEY_WINDOW_DAYS} days`]),
  ];
  const also = parts.length === 0 ? '' : ` (${parts.join(', and ')})`;
  return messageOf(
    `${what} ${of}${also}: their keys seem to have changed, so nothing is created or deleted until a person decides`,
    wayOn(feed),
  );
}

const wayOn = (feed: FeedName): Advice[] => [
  { words: 'to see which posting is which, and to keep their jobs', action: { kind: 'rekey_feed', feed } },
  { words: 'if they are other postings', action: { kind: 'deny_rekey', feed } },
];

const have = (n: number): string => (n === 1 ? 'has the' : 'have the');
