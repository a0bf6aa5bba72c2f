// Formats the status of sites and feeds for people: first what needs attention, then the numbers.
import type { ShownPull } from '../../operations/pulls.ts';
import { type FeedStatus, type SiteStatus, whyNotPulledHere } from '../../operations/status.ts';
import { actionsOf, type Notice, plural, textOf } from '../../plan/message.ts';
import { oneLine } from '../../telemetry/print.ts';
import { formatSpan, formatTime, msUntil } from '../../telemetry/times.ts';
import type { WriteCommand } from '../adapter/command-line.ts';
import { adviceLine, say } from '../adapter/write-action.ts';
import { formatRows, type RowColumn } from './table.ts';

export function describeSite(site: SiteStatus, write: WriteCommand): string[] {
  const { orphans, moved, other_refused_tokens: refused, references_note: note } = site;
  const surplus = orphans === 0 ? [] : [`  still to be deleted: ${plural(orphans, 'orphan site job')}`];
  return [
    `site ${site.site}: ${siteSentence(site)}`,
    ...(moved === null ? resumeLines(site, write) : []),
    ...rateLines(site),
    ...refused.map(
      ({ since, noted_by: who }) =>
        `  has refused another token since ${formatTime(since)}: that of ${who}, whose configuration may be outdated`,
    ),
    ...(note === null ? [] : [`  ${note.text}`]),
    ...surplus,
  ];
}

function siteSentence({ site, state, moved, waits_until: until, ...status }: SiteStatus): string {
  if (moved !== null) return `NOT SENDING: ${moved.text}`;
  const waitMs = until === null ? 0 : msUntil(until);
  const wait = formatSpan(waitMs);
  const last =
    status.last_message === null ? '' : `: ${oneLine(status.last_message.messages.map(textOf).join('; '), 300)}`;
  switch (state) {
    case 'paused':
      return `PAUSED since ${formatTime(status.paused_since ?? new Date())}: ${status.pause_cause?.text ?? ''}`;
    case 'stopped':
      return 'nothing is sent: a person has paused it';
    case 'out_of_reach': {
      const next = waitMs < 1_000 ? 'the next try is now' : `the next try is in ${wait}`;
      return `out of reach, ${plural(status.unreachable_streak, 'time')} in a row; ${next}${last}`;
    }
    case 'waiting':
      return `nothing is sent for ${wait}${last}`;
    case 'sending':
      return 'open for sending';
    default:
      return state satisfies never;
  }
}

function rateLines({ learnt_requests_per_second: learnt }: SiteStatus): string[] {
  if (learnt === null) return [];
  const rate = `${Number(learnt.toPrecision(2))} requests a second`;
  return [
    `  sends at most ${rate}, because the site asked to wait; the rate returns to the configured one step by step`,
  ];
}

function resumeLines(
  { site, paused_since: since, next_probe: next, probes }: SiteStatus,
  write: WriteCommand,
): string[] {
  if (since === null) return [];
  const probe =
    next === null
      ? ['  it is not probed automatically: resume it once the cause is gone']
      : [`  asked again ${probeTime(msUntil(next))}, by a running worker; ${plural(probes, 'probe')} so far`];
  return [...probe, `  go on at once:  ${write(['resume', site])}`];
}

const probeTime = (inMs: number): string => (inMs < 1_000 ? 'now' : `in ${formatSpan(inMs)}`);

/**
 * What needs a person, feed by feed, then one table of all feeds.
 * @param reported already printed, and not repeated.
 */
export function describeFeeds(
  feeds: readonly FeedStatus[],
  write: WriteCommand,
  reported: readonly Notice[] = [],
): string[] {
  if (feeds.length === 0) return [];
  const waiting = feeds.flatMap((feed) => describeWaiting(feed, write, reported));
  return ['', ...waiting, ...formatRows(COLUMNS, feeds)];
}

function describeWaiting(feed: FeedStatus, write: WriteCommand, told: readonly Notice[]): string[] {
  const mark = feed.escalated ? 'ESCALATED: ' : '';
  const lines: string[] = [];
  const reported = new Set(told.map(({ text }) => text));
  const isLeftTold = told
    .flatMap(({ messages }) => messages.flatMap(actionsOf))
    .some((action) => action.kind === 'retire_feed' && action.feed === feed.feed);
  const isNew = (notice: Notice | null): notice is Notice => notice !== null && !reported.has(notice.text);
  if (feed.left !== null && !isLeftTold) lines.push(feed.left.text);
  if (feed.stopped !== null && !isRefusal(feed.last_pull)) {
    const cause =
      feed.stopped.undone === null ? `undo ${feed.stopped.undo} began` : `pull ${feed.stopped.undone} was undone`;
    const advice = { words: 'once its source is right', action: { kind: 'resume_feed', feed: feed.feed } } as const;
    lines.push(`feed ${feed.feed} is not pulled since ${cause}`, adviceLine(advice, write));
  }
  if (isNew(feed.late)) lines.push(`LATE: ${feed.late.text}`);
  if (isNew(feed.search)) lines.push(`${feed.feed}: ${feed.search.text}`);
  if (feed.restored !== null) lines.push(feed.restored.text);
  const isTold = feed.held > 0 && wordsOf(feed.hold_reason).includes(wordsOf(feed.rekey));
  if (feed.rekey !== null && !isTold) lines.push(feed.rekey.text);
  if (feed.held > 0) {
    const reason = feed.hold_reason === null ? '' : `: ${feed.hold_reason.text}`;
    lines.push(
      `${mark}${feed.feed}: ${plural(feed.held, 'delete')} held for ${spanOf(feed.held_for_seconds)}${reason}`,
      `  see them:     ${write(['review', 'list', feed.feed, '--kind', 'held'])}`,
      ...(feed.held_advice === null ? [] : [adviceLine(feed.held_advice, write)]),
    );
  }
  if (feed.in_doubt > 0) {
    lines.push(
      `${mark}${feed.feed}: ${plural(feed.in_doubt, 'create')} in doubt, the oldest for ${spanOf(feed.in_doubt_for_seconds)}`,
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
  const { last_verify: verified } = feed;
  if (verified !== null && verified.left > 0) {
    const { left, at } = verified;
    const jobs = left === 1 ? '1 job differs' : `${left} jobs differ`;
    lines.push(`${feed.feed}: ${jobs} from what was sent, as of ${formatTime(at)}:  ${write(['verify', feed.feed])}`);
  }
  if (verified?.message !== undefined) lines.push(`${feed.feed}: verify: ${verified.message}`);
  lines.push(...feed.warnings.map((warning) => `${feed.feed}: warning: ${warning}`));
  if (feed.last_pull !== null && !wasRefused(feed, feed.last_pull)) {
    lines.push(...describeTrouble(feed.last_pull, write, reported));
  }
  return lines.length === 0 ? [] : [...lines, ''];
}

const spanOf = (seconds: number | null): string => formatSpan((seconds ?? 0) * 1_000);

/** Without what to do about it. */
const wordsOf = (notice: Notice | null): string => (notice?.messages ?? []).map(textOf).join('; ');

type LastPull = NonNullable<FeedStatus['last_pull']>;

/** The pull was refused because an undo had stopped the feed, which is resumed by now. */
const wasRefused = ({ stopped }: FeedStatus, { actions }: LastPull): boolean =>
  stopped === null && actions.some(({ kind }) => kind === 'resume_feed');

/** The pull says itself that the feed is stopped. */
const isRefusal = (pull: LastPull | null): boolean =>
  pull?.status === 'failed' && pull.actions.some(({ kind }) => kind === 'resume_feed');

/** Why a pull failed or is incomplete. Sending problems are left out: they may be over, and the site's status shows them. */
function describeTrouble(pull: LastPull, write: WriteCommand, reported: ReadonlySet<string>): string[] {
  const failure = pull.status === 'failed' && pull.message !== null ? [pull.message] : [];
  const why = pull.status === 'running' ? [] : [...failure, ...pull.shortfalls].flatMap(({ messages }) => messages);
  const unreported = why.map((message) => say(message, write)).filter((text) => !reported.has(text));
  const weak = pull.weak === null ? [] : [pull.weak];
  return [...unreported, ...weak].map((text) => `${pull.feed}: pull ${pull.pull}: ${text}`);
}

const COLUMNS: readonly RowColumn<FeedStatus>[] = [
  { title: 'FEED', cell: (feed) => (feed.configured ? feed.feed : `${feed.feed} (${whyNotPulledHere(feed)})`) },
  { title: 'SITE', cell: ({ site }) => site },
  { title: 'LIVE', align: 'right', cell: ({ live }) => String(live) },
  { title: 'TO SEND', align: 'right', cell: ({ ready, sending }) => String(ready + sending) },
  { title: 'IN DOUBT', align: 'right', cell: (feed) => String(feed.in_doubt) },
  { title: 'HELD', align: 'right', cell: ({ held }) => String(held) },
  { title: 'REJECTED', align: 'right', cell: ({ rejected }) => String(rejected) },
  { title: 'FAILED', align: 'right', cell: ({ failed }) => String(failed) },
  { title: 'RECORDS', align: 'right', cell: ({ unreadable, duplicates }) => String(unreadable + duplicates) },
  { title: 'LAST PULL', cell: ({ last_pull: pull }) => (pull === null ? 'never' : pullWords(pull)) },
  { title: 'LAST COMPLETE', cell: ({ last_complete: at }) => (at === null ? 'never' : formatTime(at)) },
  { title: 'NEXT RUN', cell: nextRunWords },
];

function nextRunWords({ next_run: at, stopped, pauses, schedule_processes: processes }: FeedStatus): string {
  if (at === null) return 'no schedule';
  if (stopped !== null || pauses.some(({ pulls }) => pulls)) return 'none until it is resumed';
  return processes === 0 ? `${formatTime(at)}, but no process runs it` : formatTime(at);
}

const SAY_SO = ['running', 'failed', 'incomplete'];

function pullWords(pull: LastPull): string {
  const complete = pull.complete || SAY_SO.includes(pull.status) ? '' : ', not complete';
  return `${pull.pull}, ${formatTime(pull.started_at)}, ${pullStatus(pull)}${complete}`;
}

/** Adds what "mirrored" alone would hide: postings that a person discarded, and records that the feed's rule skips. */
export function pullStatus({
  status,
  discarded,
  skipped,
  expired,
}: Pick<ShownPull, 'status' | 'discarded' | 'skipped' | 'expired'>): string {
  const left = [
    ...(discarded === 0 ? [] : [`${discarded} discarded`]),
    ...(skipped === expired ? [] : [`${skipped - expired} skipped`]),
    ...(expired === 0 ? [] : [`${expired} expired`]),
  ];
  return [status.replace('_', ' '), ...left].join(', ');
}
