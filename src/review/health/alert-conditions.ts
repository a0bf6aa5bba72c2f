// Decides which alerts are open: from what is failing, as /healthz sees it, and from the changes that wait for a person.
import type { Config } from '../../config/config.ts';
import { type Advice, type Message, messageOf, plural, textOf } from '../../plan/message.ts';
import { type PersonsPause, pauseInBrief, pauseInFull } from '../../plan/pause-words.ts';
import type { FeedName, SiteName } from '../../posting/identifiers.ts';
import type { EntryKind } from '../../store/backlog/open-counts.ts';
import type { ChangeState } from '../../store/change/life-cycle.ts';
import type { NewGroups } from '../../store/review/review-groups.ts';
import type { ChangeGauge, Gauges } from '../../store/status/gauges.ts';
import type { AlertKind } from '../../telemetry/alert-message.ts';
import { formatTime } from '../../telemetry/times.ts';
import { adviceOnHeld, canApprove, type HeldOffer } from '../held-offer.ts';
import { groupTitle } from '../list-groups.ts';
import { type HealthCondition, keysSeemChanged } from './assess-health.ts';

/** One alert that is open now. */
export interface AlertCondition {
  readonly kind: AlertKind;
  /** Such as `site board` or `feed acme`. */
  readonly subject: string;
  readonly message: Message;
  /** Text from sources or sites. */
  readonly detail?: Message;
  /** How many changes it is about, for those that count some: it is told again if they are far more. */
  readonly count?: number;
  /** When the oldest of them began, in Unix time in seconds by the database's clock. */
  readonly oldestAt?: number;
}

export interface AlertFacts {
  /** What `/healthz` calls a failure. */
  readonly failing: readonly HealthCondition[];
  readonly changes: readonly ChangeGauge[];
  readonly pulls: Gauges['pulls'];
  readonly newGroups: readonly NewGroups[];
  /** Feeds whose creates and deletes wait, as their keys seem to have changed. */
  readonly rekeyed: readonly FeedName[];
  /** What people have paused. */
  readonly pauses?: readonly PersonsPause[];
  /** What can be done about the held deletes of each feed. */
  readonly heldOffers: ReadonlyMap<FeedName, HeldOffer>;
}

/** Which alert each failure is; `null`: none, mostly because it passes or another alert follows. */
const OF_FAILURE: Record<HealthCondition['kind'], AlertKind | null> = {
  paused: 'paused',
  moved: 'paused',
  out_of_reach: 'unreachable',
  configuration: 'feed_failed',
  pulls_failing: 'feed_failed',
  unsearched: 'feed_failed',
  undeleted: 'feed_failed',
  stalled: 'feed_failed',
  stale: 'overdue',
  late: null,
  left: null,
  not_sent: null,
  restored: null,
  // Told of each pause that is in force, with its sites.
  paused_by_person: null,
  review: null,
};

/** For so long a group of review entries counts as new. */
export const NEW_GROUP_HOURS = 24;

/** With this many rejected postings or fewer, their share says little. */
const FEW_REJECTED = 5;

/** All open alerts, at most one of each kind for a subject. */
export function alertConditions(
  { failing, changes, pulls, newGroups, rekeyed, heldOffers, pauses = [] }: AlertFacts,
  config: Pick<Config, 'sites'>,
  rejectedPercent: number,
): AlertCondition[] {
  // An incomplete pull saw only some of its feed.
  const sizes = new Map(pulls.map(({ feed, size }) => [feed, size ?? 0]));
  const all = [
    // A pause of everything is one of each site.
    ...pauses.flatMap((pause) => pausedByPerson(pause, [...config.sites.keys()])),
    // The last one of a kind is told, and the most important one comes first.
    ...failing.toReversed().flatMap(ofFailure),
    // Deletes that are held for it say so themselves.
    ...rekeyed.map(undecided),
    ...changes.flatMap((change) => [
      ...waiting(change, config, heldOffers.get(change.feed)),
      ...rejected(change, sizes.get(change.feed) ?? 0, rejectedPercent),
    ]),
    ...newGroups.map(appeared),
  ];
  return [...new Map(all.map((one) => [`${one.kind} ${one.subject}`, one])).values()];
}

function ofFailure({ kind, site, feed, message, detail }: HealthCondition): AlertCondition[] {
  const alert = OF_FAILURE[kind];
  const subject = feed !== undefined ? `feed ${feed}` : site !== undefined ? `site ${site}` : undefined;
  if (alert === null || subject === undefined) return [];
  const next =
    kind === 'paused' && site !== undefined
      ? messageOf(textOf(message), [{ words: 'once its cause is gone, run', action: { kind: 'resume_site', site } }])
      : message;
  return [{ kind: alert, subject, message: next, ...(detail === undefined ? {} : { detail }) }];
}

function pausedByPerson(pause: PersonsPause, sites: readonly SiteName[]): AlertCondition[] {
  const { site, feed } = pause;
  const subjects =
    feed !== undefined ? [`feed ${feed}`] : (site === undefined ? sites : [site]).map((each) => `site ${each}`);
  return subjects.map((subject) => ({
    kind: 'paused',
    subject,
    message: pauseInBrief(pause, formatTime),
    detail: pauseInFull(pause, formatTime),
  }));
}

function waiting(
  { feed, site, state, n, age, since }: ChangeGauge,
  config: Pick<Config, 'sites'>,
  heldOffer: HeldOffer | undefined,
): AlertCondition[] {
  if (state !== 'held' && state !== 'in_doubt') return [];
  const subject = `feed ${feed}`;
  const isLong = needsAnotherAlert({ kind: state, site, ageMs: age * 1000 }, config);
  const list = { kind: 'list_entries', feed, ...(state === 'held' ? { entryKind: 'held' as const } : {}) } as const;
  if (state === 'in_doubt') {
    if (!isLong) return [];
    const rest = n === 1 ? 'is in doubt and did not resolve in time' : 'are in doubt, and not all resolved in time';
    const text = `feed ${feed}: ${plural(n, 'create')} ${rest}`;
    return [{ kind: 'in_doubt', subject, message: messageOf(text, [{ words: 'see', action: list }]), count: n }];
  }
  const held = `feed ${feed}: ${plural(n, 'change')} ${n === 1 ? 'is' : 'are'} held`;
  const isAsked = heldOffer?.inQuestion === true;
  const see: readonly Advice[] = isAsked
    ? [{ words: 'to decide, run', action: { kind: 'rekey_feed', feed } }]
    : heldOffer === undefined || canApprove(heldOffer)
      ? [{ words: 'to see and approve them', action: list }]
      : [adviceOnHeld(heldOffer), { words: 'to see them', action: list }];
  const waitsFor = isAsked ? 'an answer, as the keys of the feed seem to have changed' : 'approval';
  const escalated = `${held}, and nobody has decided in time`;
  return [
    {
      kind: 'held',
      subject,
      message: messageOf(`${held} and wait${n === 1 ? 's' : ''} for ${waitsFor}`, see),
      count: n,
      oldestAt: since,
    },
    ...(isLong ? [{ kind: 'escalation' as const, subject, message: messageOf(escalated, see) }] : []),
  ];
}

/** Its creates wait, also while no delete of it is held: within the grace, or of a feed that deletes nothing. */
function undecided(feed: FeedName): AlertCondition {
  const next = [{ words: 'to decide, run', action: { kind: 'rekey_feed', feed } as const }];
  return { kind: 'held', subject: `feed ${feed}`, message: messageOf(keysSeemChanged(feed), next) };
}

function rejected({ feed, state, n }: ChangeGauge, size: number, percent: number): AlertCondition[] {
  if (state !== 'rejected' || n <= FEW_REJECTED || size === 0 || (n / size) * 100 <= percent) return [];
  const text = `feed ${feed}: ${plural(n, 'posting')} of ${size} are rejected, more than ${percent} %`;
  const action = { kind: 'list_entries', feed } as const;
  const message = messageOf(text, [{ words: 'see', action }]);
  return [{ kind: 'rejected_share', subject: `feed ${feed}`, message, count: n }];
}

function appeared({ feed, n, since, largest }: NewGroups): AlertCondition {
  const of = n === 1 ? 'with' : 'the largest with';
  const entries = plural(largest.n, 'entry', 'entries');
  const text = `feed ${feed}: ${plural(n, 'new group')} in review, ${of} ${entries}`;
  return {
    kind: 'new_group',
    subject: `feed ${feed}`,
    message: messageOf(text, [{ words: 'see', action: { kind: 'list_entries', feed } }]),
    detail: `${largest.kind}: ${groupTitle({ ...largest, values: [], valueCount: 0 })}`,
    count: n,
    oldestAt: since,
  };
}

/** How the end of an alert is told. @param isPaused a person has paused its subject since, which says nothing about its cause */
export function recoveryOf(kind: AlertKind, subject: string, isPaused = false): string {
  if (isPaused && kind !== 'paused') return `${subject}: not watched while a person has paused it`;
  switch (kind) {
    case 'paused':
      return `${subject} is no longer paused`;
    case 'unreachable':
      return `${subject} answers again`;
    case 'held':
      return `${subject}: no change is held any more`;
    case 'escalation':
      return `${subject}: no held change has waited too long any more`;
    case 'in_doubt':
      return `${subject}: no create has been in doubt for too long any more`;
    case 'feed_failed':
      return `${subject}: what had failed works again`;
    case 'overdue':
      return `${subject}: there was a complete pull again`;
    case 'rejected_share':
      return `${subject}: fewer postings are rejected`;
    case 'new_group':
      return `${subject}: no group in review is new any more`;
    default:
      return kind satisfies never;
  }
}

/** The parts of a subject. */
export function subjectParts(subject: string): { readonly site: SiteName | null; readonly feed: FeedName | null } {
  const [kind, name = ''] = subject.split(' ');
  return { site: kind === 'site' ? (name as SiteName) : null, feed: kind === 'feed' ? (name as FeedName) : null };
}

/** Of alerts of feeds that are not about the feed as a whole. */
const PAGES: Partial<Record<AlertKind, string>> = {
  held: '/held',
  escalation: '/review',
  in_doubt: '/doubts',
  rejected_share: '/review',
  new_group: '/review',
};

/** The page that shows what an alert is about, below the address of all pages. */
export function pageOfAlert(kind: AlertKind, subject: string): string {
  const { site, feed } = subjectParts(subject);
  if (feed === null) return site === null ? '/' : `/sites/${encodeURIComponent(site)}`;
  return `${PAGES[kind] ?? '/feed'}?${new URLSearchParams({ feed })}`;
}

// Decides when an open alert is told again, because far more is wrong than was told.

/** What is wrong now. */
export interface AlertCount {
  readonly count: number;
  /** When the oldest began, in Unix time in seconds by the database's clock; `undefined`: it does not matter. */
  readonly oldestAt?: number | undefined;
}

/** What was told last. */
export interface LastAlertCount {
  /** The fewest since then: what was decided meanwhile is not counted as told. */
  readonly count: number;
  /** When, in Unix time in seconds by the database's clock: ages that are read one after the other can't be compared. */
  readonly at: number;
  readonly agoSeconds: number;
}

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 24 * HOUR_SECONDS;

/**
 * | what                                               | told again              |
 * |----------------------------------------------------|-------------------------|
 * | as many or fewer, some of them older than the last message | no              |
 * | twice as many or more                              | yes                     |
 * | all are newer than the last message                | yes                     |
 * | some more, and each needs a person                 | once a day              |
 * | more new groups                                    | once an hour            |
 */
export function isToldAgain(kind: AlertKind, told: LastAlertCount, now: AlertCount): boolean {
  if (now.count >= 2 * told.count) return true;
  if (now.oldestAt !== undefined && now.oldestAt > told.at) return true;
  if (now.count <= told.count) return false;
  const needsPerson = kind === 'held' || kind === 'in_doubt';
  return (needsPerson && told.agoSeconds >= DAY_SECONDS) || (kind === 'new_group' && told.agoSeconds >= HOUR_SECONDS);
}

// Decides which entries have waited too long for a person.

/** Holds and doubts escalate: while they wait, jobs stay open or may exist twice. */
export function needsAnotherAlert(
  entry: { readonly kind: EntryKind | ChangeState; readonly site: SiteName | undefined; readonly ageMs: number },
  config: Pick<Config, 'sites'>,
): boolean {
  if (entry.kind !== 'held' && entry.kind !== 'in_doubt') return false;
  const site = entry.site === undefined ? undefined : config.sites.get(entry.site);
  return site !== undefined && entry.ageMs > site.doubts.escalateAfterMs;
}
