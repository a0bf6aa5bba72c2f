// What needs somebody's attention, the most urgent first: since when, and where to go on. For people; monitoring reads the assessment.
import { textOf } from '../plan/message.ts';
import { plural } from '../plan/plural.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { HealthCondition } from '../review/assess-health.ts';
import type { FeedStatus } from '../review/read-model/feed.ts';
import { type StoppedFeed, stoppedFeeds } from '../store/feed/feed-state.ts';
import type { App } from './app.ts';
import { readStatus, type Status } from './read-status.ts';

/** Where a person goes on. */
export type AttentionPlace =
  | { readonly kind: 'site'; readonly site: SiteName }
  | { readonly kind: 'feed' | 'pulls' | 'rekey' | 'held' | 'doubts' | 'review'; readonly feed: FeedName }
  | { readonly kind: 'queues' };

export interface Attention {
  /** `failing`: something does not work; `waiting`: a person has to decide. */
  readonly level: 'failing' | 'waiting';
  readonly text: string;
  /** May hold text of sources and sites. */
  readonly detail: string | undefined;
  readonly since: Date | undefined;
  /** What to do next, in a few words. */
  readonly next: string;
  readonly place: AttentionPlace;
}

export interface AttentiveStatus extends Status {
  readonly stopped: readonly StoppedFeed[];
  readonly attention: readonly Attention[];
}

/** @param only reads the status of this feed alone */
export async function readAttention(app: App, only?: FeedName): Promise<AttentiveStatus> {
  const status = await readStatus(app, only);
  const stopped = (await stoppedFeeds(app.db)).filter(({ feed }) => only === undefined || feed === only);
  const ofFeeds = status.feeds.filter(isOurs).flatMap(waitingOf);
  return {
    ...status,
    stopped,
    attention: [
      ...status.assessment.failing.map((condition) => failureOf(condition, status)),
      ...stopped.map(stopOf),
      ...ofFeeds,
    ],
  };
}

/** Others decide about retired feeds and those of another process's configuration. */
const isOurs = ({ configured, retired, served }: FeedStatus): boolean => configured || !(retired || served);

function failureOf({ kind, site, feed, message, detail }: HealthCondition, { sites }: Status): Attention {
  const common = {
    level: 'failing',
    text: textOf(message),
    detail: detail && textOf(detail),
    since: undefined,
  } as const;
  if (site !== undefined) {
    const since = sites.find(({ state }) => state.site === site)?.state.pausedSince;
    return { ...common, since, next: `See why nothing is sent to ${site}`, place: { kind: 'site', site } };
  }
  if (feed === undefined || kind === 'not_sent') {
    return { ...common, next: 'See what waits to be sent', place: { kind: 'queues' } };
  }
  if (kind === 'pulls_failing') {
    return { ...common, next: `See why pulls of ${feed} fail`, place: { kind: 'pulls', feed } };
  }
  return { ...common, next: `Check the feed ${feed}`, place: { kind: 'feed', feed } };
}

const stopOf = ({ feed, since, undone }: StoppedFeed): Attention => ({
  level: 'waiting',
  text: `feed ${feed} is not pulled since ${undone === undefined ? 'an undo' : `pull ${undone} was undone`}`,
  detail: undefined,
  since,
  next: `Resume ${feed} once its source is right`,
  place: { kind: 'feed', feed },
});

function waitingOf(overview: FeedStatus): Attention[] {
  const { feed, held, heldForMs, holdReason, in_doubt: inDoubt, inDoubtForMs, rekey, restored } = overview;
  const since = (ms: number | undefined) => (ms === undefined ? undefined : new Date(Date.now() - ms));
  const waiting: Attention[] = [];
  const common = { level: 'waiting', detail: undefined, since: undefined } as const;
  if (rekey !== undefined) {
    const text = `feed ${feed}: its keys seem to have changed`;
    const place = { kind: 'rekey', feed } as const;
    waiting.push({ ...common, text, detail: textOf(rekey), next: `Decide about the keys of ${feed}`, place });
  }
  if (restored !== undefined) {
    const place = { kind: 'feed', feed } as const;
    waiting.push({ ...common, text: textOf(restored), next: `See the feed ${feed}`, place });
  }
  if (held > 0) {
    const decide: Pick<Attention, 'next' | 'place'> =
      overview.heldOffer?.inQuestion === true
        ? { next: `Compare the postings of ${feed} first`, place: { kind: 'rekey', feed } }
        : { next: `Decide about ${plural(held, 'held delete')}`, place: { kind: 'held', feed } };
    waiting.push({
      ...common,
      text: `feed ${feed}: ${plural(held, 'delete')} held`,
      detail: holdReason && textOf(holdReason),
      since: since(heldForMs),
      ...decide,
    });
  }
  if (inDoubt > 0) {
    waiting.push({
      ...common,
      text: `feed ${feed}: ${plural(inDoubt, 'create')} in doubt`,
      since: since(inDoubtForMs),
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
