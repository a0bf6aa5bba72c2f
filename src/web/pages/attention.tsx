// What needs somebody's attention, the most urgent first: since when, and the one thing to do next. Monitoring reads the conditions.

import type { FeedStatus, ReportedCondition, SiteStatus, Status } from '../../operations/status.ts';
import { type Notice, plural, textOf } from '../../plan/message.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import { excerpt } from '../../posting/markup.ts';
import { formatTime } from '../../telemetry/times.ts';
import { linkTo, pageAddress } from './parts/addresses.ts';
import { sentence, TimeSince } from './parts/parts.tsx';

/** Where a person goes on. */
type AttentionPlace =
  | { readonly kind: 'site'; readonly site: SiteName }
  | { readonly kind: 'feed' | 'pulls' | 'rekey' | 'held' | 'doubts' | 'review'; readonly feed: FeedName }
  | { readonly kind: 'queues' | 'pause' };

export interface Attention {
  /** `failing`: something does not work; `waiting`: a person has to decide. */
  readonly level: 'failing' | 'waiting';
  readonly text: string;
  /** May hold text of sources and sites. */
  readonly detail: string | null;
  readonly since: Date | null;
  /** What to do next, in a few words. */
  readonly next: string;
  readonly place: AttentionPlace;
  /** What a person has paused, which the pages of feeds and sites show themselves. */
  readonly isPause?: true;
}

/** The most urgent first. */
export const attentionOf = ({ check, feeds, sites, pauses }: Status): Attention[] => [
  ...check.failing.map((condition) => failureOf(condition, sites)),
  ...pauses.map(pauseOf),
  ...feeds.flatMap(stopOf),
  ...feeds.filter(isOurs).flatMap(waitingOf),
];

/** Others decide about retired feeds and those of another process's configuration. */
const isOurs = ({ configured, retired, served }: FeedStatus): boolean => configured || !(retired || served);

function failureOf(
  { condition, site, feed, message, detail }: ReportedCondition,
  sites: readonly SiteStatus[],
): Attention {
  const common = { level: 'failing', text: wordsOf(message), detail: detail && wordsOf(detail), since: null } as const;
  if (site !== null) {
    const since = sites.find((each) => each.site === site)?.paused_since ?? null;
    return { ...common, since, next: `See why nothing is sent to ${site}`, place: { kind: 'site', site } };
  }
  if (feed === null || condition === 'not_sent') {
    return { ...common, next: 'See what waits to be sent', place: { kind: 'queues' } };
  }
  if (condition === 'pulls_failing') {
    return { ...common, next: `See why pulls of ${feed} fail`, place: { kind: 'pulls', feed } };
  }
  return { ...common, next: `Check the feed ${feed}`, place: { kind: 'feed', feed } };
}

function pauseOf({ site, feed, since, until, by, reason }: Status['pauses'][number]): Attention {
  const what = feed !== null ? `feed ${feed}` : site !== null ? `site ${site}` : 'everything';
  const why = [
    ...(reason === null ? [] : [reason]),
    ...(until === null ? [] : [`it ends by itself at ${formatTime(until)}`]),
  ];
  return {
    level: 'waiting',
    text: `${what} is paused by ${by}`,
    detail: why.length === 0 ? null : why.join('; '),
    since,
    isPause: true,
    next: `Resume ${what}`,
    place: feed !== null ? { kind: 'feed', feed } : site !== null ? { kind: 'site', site } : { kind: 'pause' },
  };
}

function stopOf({ feed, stopped }: FeedStatus): Attention[] {
  if (stopped === null) return [];
  const cause = stopped.undone === null ? 'an undo' : `pull ${stopped.undone} was undone`;
  return [
    {
      level: 'waiting',
      text: `feed ${feed} is not pulled since ${cause}`,
      detail: null,
      since: stopped.since,
      next: `Resume ${feed} once its source is right`,
      place: { kind: 'feed', feed },
    },
  ];
}

function waitingOf(overview: FeedStatus): Attention[] {
  const { feed, held, in_doubt: inDoubt, rekey, restored } = overview;
  const since = (seconds: number | null) => (seconds === null ? null : new Date(Date.now() - seconds * 1_000));
  const waiting: Attention[] = [];
  const common = { level: 'waiting', detail: null, since: null } as const;
  if (rekey !== null) {
    const text = `feed ${feed}: its keys seem to have changed`;
    const place = { kind: 'rekey', feed } as const;
    waiting.push({ ...common, text, detail: wordsOf(rekey), next: `Decide about the keys of ${feed}`, place });
  }
  if (restored !== null) {
    const place = { kind: 'feed', feed } as const;
    waiting.push({ ...common, text: wordsOf(restored), next: `See the feed ${feed}`, place });
  }
  if (held > 0) {
    const decide: Pick<Attention, 'next' | 'place'> =
      overview.held_advice?.action?.kind === 'rekey_feed'
        ? { next: `Compare the postings of ${feed} first`, place: { kind: 'rekey', feed } }
        : { next: `Decide about ${plural(held, 'held delete')}`, place: { kind: 'held', feed } };
    waiting.push({
      ...common,
      text: `feed ${feed}: ${plural(held, 'delete')} held`,
      detail: overview.hold_reason && wordsOf(overview.hold_reason),
      since: since(overview.held_for_seconds),
      ...decide,
    });
  }
  if (inDoubt > 0) {
    waiting.push({
      ...common,
      text: `feed ${feed}: ${plural(inDoubt, 'create')} in doubt`,
      since: since(overview.in_doubt_for_seconds),
      next: `See ${plural(inDoubt, 'create')} in doubt`,
      place: { kind: 'doubts', feed },
    });
  }
  const others = overview.rejected + overview.failed + overview.unreadable + overview.duplicates;
  if (others > 0) {
    const text = `feed ${feed}: ${others === 1 ? '1 entry waits' : `${others} entries wait`} for review`;
    waiting.push({
      ...common,
      text,
      next: `Review ${plural(others, 'entry', 'entries')} of ${feed}`,
      place: { kind: 'review', feed },
    });
  }
  return waiting;
}

const wordsOf = ({ messages }: Notice): string => messages.map(textOf).join('; ');

function addressOfPlace(place: AttentionPlace): string {
  switch (place.kind) {
    case 'site':
      return pageAddress.site(place.site);
    case 'feed':
      return pageAddress.feed(place.feed);
    case 'pulls':
      return pageAddress.pulls(place.feed);
    case 'rekey':
      return pageAddress.rekey(place.feed);
    case 'held':
      return pageAddress.held(place.feed);
    case 'doubts':
      return pageAddress.doubts(place.feed);
    case 'review':
      return pageAddress.review({ feed: place.feed });
    case 'pause':
      return pageAddress.pause({});
    case 'queues':
      return pageAddress.queues();
    default:
      return place satisfies never;
  }
}

export const AttentionList = ({ attention }: { attention: readonly Attention[] }) => {
  const [first, ...others] = attention;
  if (first === undefined) {
    return <p class="notice good">All is well. Nothing needs you.</p>;
  }
  return (
    <section class={`next ${first.level === 'failing' ? 'bad' : 'warn'}`} aria-labelledby="next">
      <h2 id="next">To do next</h2>
      <AttentionText item={first} />
      <p>
        <a class="button main" href={linkTo(addressOfPlace(first.place))}>
          {first.next}
        </a>
      </p>
      {others.length > 0 && (
        <ul class="others" aria-label="After that">
          {others.map((item) => (
            <li>
              <AttentionText item={item} />
              <a href={linkTo(addressOfPlace(item.place))}>{item.next}</a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
};

const AttentionText = ({ item: { level, text, detail, since } }: { item: Attention }) => (
  <p>
    <span class={`status ${level === 'failing' ? 'bad' : 'warn'}`}>{sentence(text)}</span>
    {since !== null && (
      <span class="quiet">
        {' '}
        <TimeSince since={since} />
      </span>
    )}
    {detail !== null && <span class="detail">{excerpt(detail, 300)}</span>}
  </p>
);
