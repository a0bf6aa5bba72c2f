// Formats the status of sites and feeds for people: first what needs attention, then the numbers.
import { describeMove } from '../../apply/confirm-address.ts';
import { actionsOf, type Message, reword, textOf } from '../../plan/message.ts';
import { plural } from '../../plan/plural.ts';
import { adviceOnHeld } from '../../review/held-offer.ts';
import type { FeedStatus } from '../../review/read-model/feed.ts';
import type { SiteOverview } from '../../review/read-model/site.ts';
import { siteStatusOf } from '../../review/site-status.ts';
import { describeLate, isLate } from '../../runtime/schedule/late-schedules.ts';
import type { PullRow } from '../../store/pull/pull-row.ts';
import type { Move } from '../../store/site/known-address.ts';
import type { RefusedToken } from '../../store/site/refused-token.ts';
import type { SiteState } from '../../store/site/site-state.ts';
import { oneLine } from '../../telemetry/print.ts';
import { formatSpan, formatTime } from '../../telemetry/times.ts';
import type { WriteCommand } from '../command-line.ts';
import { describeLeft } from '../left-behind.ts';
import { adviceLine, say } from '../write-action.ts';
import { formatTable } from './table.ts';

export function describeSite(
  { state, orphans, move, otherRefused = [], referenceNote }: SiteOverview,
  write: WriteCommand,
): string[] {
  const surplus = orphans === 0 ? [] : [`  still to be deleted: ${plural(orphans, 'orphan site job')}`];
  return [
    `site ${state.site}: ${say(siteSentence(state, move), write)}`,
    ...(move === undefined ? resumeLines(state, write) : []),
    ...rateLines(state),
    ...otherRefused.map(describeRefused),
    ...(referenceNote === undefined ? [] : [`  ${say(referenceNote, write)}`]),
    ...surplus,
  ];
}

function siteSentence(state: SiteState, move: Move | undefined): Message {
  if (move !== undefined) return reword(describeMove(state.site, move), (text) => `NOT SENDING: ${text}`);
  const wait = formatSpan(state.waitsMs);
  const next = state.waitsMs < 1_000 ? 'the next try is now' : `the next try is in ${wait}`;
  const last = state.lastMessage === undefined ? '' : `: ${oneLine(textOf(state.lastMessage), 300)}`;
  const progress = siteStatusOf(state);
  switch (progress) {
    case 'paused':
      return reword(
        state.pauseCause ?? '',
        (text) => `PAUSED since ${formatTime(state.pausedSince ?? new Date())}: ${text}`,
      );
    case 'out_of_reach':
      return `out of reach, ${plural(state.unreachableStreak, 'time')} in a row; ${next}${last}`;
    case 'waiting':
      return `nothing is sent for ${wait}${last}`;
    case 'sending':
      return 'open for sending';
    default:
      return progress satisfies never;
  }
}

const describeRefused = ({ since, notedBy }: RefusedToken): string =>
  `  has refused another token since ${formatTime(since)}: that of ${notedBy}, whose configuration may be outdated`;

function rateLines({ learntRate }: SiteState): string[] {
  if (learntRate === undefined) return [];
  const rate = `${Number(learntRate.toPrecision(2))} requests a second`;
  return [
    `  sends at most ${rate}, because the site asked to wait; the rate returns to the configured one step by step`,
  ];
}

function resumeLines(state: SiteState, write: WriteCommand): string[] {
  if (state.pausedSince === undefined) return [];
  const probe =
    state.probeInMs === undefined
      ? ['  it is not probed automatically: resume it once the cause is gone']
      : [`  asked again ${probeTime(state.probeInMs)}, by a running worker; ${plural(state.probes, 'probe')} so far`];
  return [...probe, `  go on at once:  ${write(['resume', state.site])}`];
}

const probeTime = (inMs: number): string => (inMs < 1_000 ? 'now' : `in ${formatSpan(inMs)}`);

/**
 * What needs a person, feed by feed, then one table of all feeds.
 * @param reported messages already printed, which are not repeated.
 */
export function describeFeeds(
  feeds: readonly FeedStatus[],
  write: WriteCommand,
  reported: readonly Message[] = [],
): string[] {
  if (feeds.length === 0) return [];
  const waiting = feeds.flatMap((feed) => describeWaiting(feed, write, reported));
  return ['', ...waiting, ...formatTable(COLUMNS, feeds.map(rowOf))];
}

function describeWaiting(feed: FeedStatus, write: WriteCommand, reported: readonly Message[]): string[] {
  const mark = feed.escalated ? 'ESCALATED: ' : '';
  const lines: string[] = [];
  if (!feed.configured && !feed.served && !feed.retired) {
    const unsent = feed.ready + feed.sending + feed.in_doubt;
    const isReported = reported.some((message) =>
      actionsOf(message).some((action) => action.kind === 'retire_feed' && action.feed === feed.feed),
    );
    if (feed.live + unsent > 0 && !isReported) lines.push(say(describeLeft({ ...feed, unsent }), write));
  }
  // A feed that nobody pulls any more cannot be late.
  const pulled = (feed.configured || feed.served) && !feed.retired;
  if (pulled && feed.schedule !== undefined && isLate(feed.schedule)) {
    const late = describeLate(feed.schedule);
    if (!isAmong(reported, late)) lines.push(`LATE: ${say(late, write)}`);
  }
  if (feed.search !== undefined && !isAmong(reported, feed.search))
    lines.push(`${feed.feed}: ${say(feed.search, write)}`);
  if (feed.restored !== undefined) lines.push(say(feed.restored, write));
  const isTold = feed.held > 0 && textOf(feed.holdReason ?? '').includes(textOf(feed.rekey ?? ''));
  if (feed.rekey !== undefined && !isTold) lines.push(say(feed.rekey, write));
  if (feed.held > 0) {
    const reason = feed.holdReason === undefined ? '' : `: ${say(feed.holdReason, write)}`;
    lines.push(
      `${mark}${feed.feed}: ${plural(feed.held, 'delete')} held for ${formatSpan(feed.heldForMs ?? 0)}${reason}`,
      `  see them:     ${write(['review', 'list', feed.feed, '--kind', 'held'])}`,
      ...(feed.heldOffer === undefined ? [] : [adviceLine(adviceOnHeld(feed.heldOffer), write)]),
    );
  }
  if (feed.in_doubt > 0) {
    lines.push(
      `${mark}${feed.feed}: ${plural(feed.in_doubt, 'create')} in doubt, the oldest for ${formatSpan(feed.inDoubtForMs ?? 0)}`,
      `  see them:     ${write(['review', 'list', feed.feed, '--kind', 'in_doubt'])}`,
    );
  }
  const others = feed.rejected + feed.failed + feed.unreadable + feed.duplicates;
  if (others > 0) {
    const more =
      feed.held + feed.in_doubt > 0 ? plural(others, 'more entry', 'more entries') : plural(others, 'entry', 'entries');
    lines.push(`${feed.feed}: ${more} for review:  ${write(['review', 'list', feed.feed])}`);
  }
  if (feed.discarded > 0) {
    const postings = feed.discarded === 1 ? '1 posting is' : `${feed.discarded} postings are`;
    const list = write(['review', 'list', feed.feed, '--discarded']);
    lines.push(
      `${feed.feed}: ${postings} discarded, and the site does not show ${feed.discarded === 1 ? 'it' : 'them'} as the feed has ${feed.discarded === 1 ? 'it' : 'them'}:  ${list}`,
    );
  }
  if (feed.verified !== undefined && feed.verified.left > 0) {
    const { left, at } = feed.verified;
    const jobs = left === 1 ? '1 job differs' : `${left} jobs differ`;
    lines.push(`${feed.feed}: ${jobs} from what was sent, as of ${formatTime(at)}:  ${write(['verify', feed.feed])}`);
  }
  if (feed.verified?.message !== undefined) lines.push(`${feed.feed}: verify: ${feed.verified.message}`);
  lines.push(...feed.warnings.map((warning) => `${feed.feed}: warning: ${warning}`));
  if (feed.lastPull !== undefined) lines.push(...describeTrouble(feed, feed.lastPull, write, reported));
  return lines.length === 0 ? [] : [...lines, ''];
}

/** Why a pull failed or is incomplete. Sending problems are left out: they may be over, and the site's status shows them. */
function describeTrouble(
  { feed }: FeedStatus,
  pull: PullRow,
  write: WriteCommand,
  reported: readonly Message[],
): string[] {
  const failure = pull.status === 'failed' ? pull.notes : [];
  const why = pull.status === 'running' ? [] : [...failure, ...pull.shortfalls];
  const unreported = why.filter((message) => !isAmong(reported, message));
  const weak = pull.weak === undefined ? [] : [pull.weak];
  return [...unreported, ...weak].map((text) => `${feed}: pull ${pull.id}: ${say(text, write)}`);
}

const isAmong = (messages: readonly Message[], message: Message): boolean =>
  messages.some((other) => textOf(other) === textOf(message));

const COLUMNS = [
  { title: 'FEED' },
  { title: 'SITE' },
  { title: 'LIVE', align: 'right' },
  { title: 'TO SEND', align: 'right' },
  { title: 'IN DOUBT', align: 'right' },
  { title: 'HELD', align: 'right' },
  { title: 'REJECTED', align: 'right' },
  { title: 'FAILED', align: 'right' },
  { title: 'RECORDS', align: 'right' },
  { title: 'LAST PULL' },
  { title: 'LAST COMPLETE' },
  { title: 'NEXT RUN' },
] as const;

const absence = ({ retired, served }: FeedStatus): string => {
  if (retired) return 'retired';
  return served ? 'of another configuration' : 'not configured';
};

const rowOf = (feed: FeedStatus): string[] => [
  feed.configured ? feed.feed : `${feed.feed} (${absence(feed)})`,
  feed.site,
  ...[
    feed.live,
    feed.ready + feed.sending,
    feed.in_doubt,
    feed.held,
    feed.rejected,
    feed.failed,
    feed.unreadable + feed.duplicates,
  ].map(String),
  feed.lastPull === undefined ? 'never' : pullWords(feed.lastPull),
  feed.history?.lastComplete === undefined ? 'never' : formatTime(feed.history.lastComplete.at),
  feed.nextRun === undefined ? 'no schedule' : formatTime(feed.nextRun),
];

const SAY_SO = ['running', 'failed', 'incomplete'];

function pullWords(pull: PullRow): string {
  const complete = pull.complete || SAY_SO.includes(pull.status) ? '' : ', not complete';
  return `${pull.id}, ${formatTime(pull.startedAt)}, ${pullStatus(pull)}${complete}`;
}

/** Adds what "mirrored" alone would hide: postings that a person discarded, and records that the feed's rule skips. */
export function pullStatus({
  status,
  discarded,
  skipped,
  expired,
}: Pick<PullRow, 'status' | 'discarded' | 'skipped' | 'expired'>): string {
  const left = [
    ...(discarded === 0 ? [] : [`${discarded} discarded`]),
    ...(skipped === expired ? [] : [`${skipped - expired} skipped`]),
    ...(expired === 0 ? [] : [`${expired} expired`]),
  ];
  return [status.replace('_', ' '), ...left].join(', ');
}
