// Watches for alerts and sends their messages, while the process runs. For each destination, one process of those with the same
// configuration evaluates; each process sends.
import { hash } from 'node:crypto';
import { isLoopback } from '../config/build/web-config.ts';
import { type AlertDestination, type Config, namedFeeds } from '../config/config.ts';
import { endsWithin, type RepeatedWork, startRounds } from '../flow/pause.ts';
import { tell } from '../plan/message.ts';
import { type PersonsPause, pausesOf } from '../plan/pause-words.ts';
import {
  type AlertCondition,
  type AlertFacts,
  alertConditions,
  isToldAgain,
  NEW_GROUP_HOURS,
  pageOfAlert,
  recoveryOf,
  subjectParts,
} from '../review/health/alert-conditions.ts';
import { readHeldOffers } from '../review/held-offer.ts';
import { rekeyedFeeds } from '../store/change/rekey/read-rekey.ts';
import { readSchedules } from '../store/feed/feed-schedule.ts';
import { lockKey } from '../store/locks/advisory-locks.ts';
import { createCandidacy, type Leadership } from '../store/locks/leadership.ts';
import { listPauses } from '../store/locks/pauses.ts';
import { countWorkers } from '../store/locks/processes.ts';
import { describePassing } from '../store/postgres/transient-error.ts';
import { readNewGroups } from '../store/review/review-groups.ts';
import { readGauges } from '../store/status/gauges.ts';
import {
  type AlertName,
  changeAlerts,
  listSeenAlerts,
  type OpenAlert,
  type SeenAlert,
} from '../store/status/open-alerts.ts';
import {
  claimMessage,
  MESSAGE_TOPICS,
  noteDelivered,
  noteFailed,
  setSubscriptions,
  type Topic,
} from '../store/status/outbox.ts';
import type { AlertData, AlertKind, AlertMessage, AlertPayload } from '../telemetry/alert-message.ts';
import { type Channel, deliverAlert } from '../telemetry/deliver.ts';
import { createScrub } from '../telemetry/log.ts';
import { oneLine } from '../telemetry/print.ts';
import { type App, configSecrets } from './app.ts';
import { tokenDigests } from './open-site-client.ts';
import { assessRunning } from './read-health.ts';
import { aboutProcess } from './reload.ts';

export interface AlertTiming {
  readonly evaluateEveryMs: number;
  readonly sendEveryMs: number;
  /** How often a process says that it wants events of postings. */
  readonly subscribeEveryMs: number;
}

const TIMING: AlertTiming = { evaluateEveryMs: 10_000, sendEveryMs: 2_000, subscribeEveryMs: 60_000 };

/** What `startAlerts` has started. */
interface RunningAlerts {
  /** Cuts off messages that are still being delivered after this time; they are sent again later. */
  stop(graceMs: number): Promise<void>;
}

/** Starts for all destinations of the configuration. */
export async function startAlerts(app: App, timing: AlertTiming = TIMING): Promise<RunningAlerts> {
  const runningSince = new Date();
  const { config, db, log } = app;
  const cutOff = new AbortController();
  const evaluatorOf = await evaluatorKeys(app);
  async function renewSubscriptions(): Promise<void> {
    const changes = await setSubscriptions(
      db,
      [...namedFeeds(config)],
      [...config.alerts.values()].map(({ name, events, feeds }) => {
        return { destination: name, evaluator: evaluatorOf(name), events, feeds: feeds && [...feeds] };
      }),
    );
    for (const { destination, isFull } of changes) {
      if (isFull) log.error({ destination }, 'too many events of postings are undelivered, no more are written');
      else log.warn({ destination }, 'events of postings are written again; some were not');
    }
  }
  const watched = [...config.alerts.values()].map((destination) => {
    const evaluator = evaluatorOf(destination.name);
    return { destination, evaluator, lead: createCandidacy(db, evaluator) };
  });
  // Until this configuration's locks are held, any process that renews its own subscriptions ends those of this configuration.
  await Promise.all(watched.map(({ lead }) => lead.holds().catch(() => false)));
  try {
    // Events count from the start on.
    await renewSubscriptions();
  } catch (error) {
    await Promise.all(watched.map(({ lead }) => lead.resign()));
    throw error;
  }
  const all = [
    repeat(app, renewSubscriptions, {
      everyMs: timing.subscribeEveryMs,
      trouble: 'events of postings not asked for, will retry',
    }),
    // Apart, so that a slow destination delays no other one.
    ...watched.map((each) => watch(app, each, { runningSince, timing, cutOff: cutOff.signal })),
  ];
  return {
    async stop(graceMs) {
      const ended = Promise.all(all.map((rounds) => rounds.stop()));
      if (!(await endsWithin(ended, graceMs))) cutOff.abort();
      await ended;
      await Promise.all(watched.map(({ lead }) => lead.resign()));
    },
  };
}

interface Watching {
  readonly runningSince: Date;
  readonly timing: AlertTiming;
  readonly cutOff: AbortSignal;
}

interface Watched {
  readonly destination: AlertDestination;
  readonly evaluator: string;
  readonly lead: Leadership;
}

/** Evaluates and sends each topic on its own: neither a slow destination nor a million messages delay the other parts. */
function watch(
  app: App,
  { destination, evaluator, lead }: Watched,
  { runningSince, timing, cutOff }: Watching,
): RepeatedWork {
  const fields = { destination: destination.name };
  async function evaluateIfLeading(): Promise<void> {
    if (await lead.holds()) await evaluateAlerts(app, destination, evaluator, runningSince);
  }
  const all = [
    repeat(app, evaluateIfLeading, {
      everyMs: timing.evaluateEveryMs,
      trouble: 'alerts not checked, will retry',
      fields,
    }),
    ...MESSAGE_TOPICS.map((topic) =>
      repeat(app, (signal) => sendMessages(app, destination, topic, { signal, cutOff }), {
        everyMs: timing.sendEveryMs,
        trouble: 'alerts not sent, will retry',
        fields,
      }),
    ),
  ];
  return {
    async stop() {
      await Promise.all(all.map((rounds) => rounds.stop()));
    },
  };
}

/** Does the work in rounds, whatever fails. */
function repeat(
  { log }: App,
  work: (signal: AbortSignal) => Promise<unknown>,
  { everyMs, trouble, fields = {} }: { readonly everyMs: number; readonly trouble: string; readonly fields?: object },
): RepeatedWork {
  return startRounds(
    async (signal) => {
      try {
        await work(signal);
      } catch (error) {
        const reason = describePassing(error);
        log.warn({ ...fields, ...(reason === undefined ? { err: error } : { reason }) }, trouble);
      }
    },
    { everyMs },
  );
}

/** The key of the lock that the evaluating process holds for a destination. Differs where feeds, sites or tokens do. */
export async function evaluatorKeys({ config, db }: App): Promise<(destination: string) => string> {
  const { parts } = aboutProcess(config, 'start', await tokenDigests(db, config));
  const broken = [...config.brokenFeeds].map(([feed, { complaints }]) => [feed, complaints]);
  const seen = hash('sha256', JSON.stringify([Object.entries(parts).sort(), broken]));
  return (destination) => lockKey('lead', `alerts of ${destination}: ${seen}`);
}

// Compares what needs attention with what a destination was told, and writes a message for each difference.

const LONGEST_DETAIL = 500;

/** What is open now. @param runningSince `undefined`: feeds get no time to catch up after a start. */
async function readAlertFacts(app: App, runningSince: Date | undefined): Promise<AlertFacts> {
  const [schedules, workers, { changes, pulls }, newGroups, rekeyed, heldOffers, pauses] = await Promise.all([
    readSchedules(app.db),
    countWorkers(app.db),
    readGauges(app.db.prepared),
    readNewGroups(app.db.prepared, NEW_GROUP_HOURS),
    rekeyedFeeds(app.db.prepared),
    readHeldOffers(app.db.prepared, app.config),
    listPauses(app.db.prepared),
  ]);
  const { failing } = await assessRunning(app, schedules, workers, runningSince);
  return {
    failing,
    changes,
    pulls,
    newGroups,
    rekeyed: rekeyed.flatMap(({ feed, isRetired, isAll }) => (isRetired || !isAll ? [] : [feed])),
    heldOffers,
    pauses,
  };
}

/**
 * @param evaluator the key of the lock that this process holds to evaluate for the destination
 * @returns the number of messages written
 */
export async function evaluateAlerts(
  app: App,
  destination: AlertDestination,
  evaluator: string,
  runningSince: Date,
): Promise<number> {
  const { name, kinds, feeds, rejectedPercent } = destination;
  const conditionsNow = async (since: Date | undefined) =>
    alertConditions(await readAlertFacts(app, since), app.config, rejectedPercent);
  const concerns = (kind: string, subject: string): boolean => {
    const { feed } = subjectParts(subject);
    return kinds.has(kind as AlertKind) && (feeds === undefined || feed === null || feeds.has(feed));
  };
  const now = (await conditionsNow(runningSince)).filter(({ kind, subject }) => concerns(kind, subject));
  const open = new Map((await listSeenAlerts(app.db, name)).map((alert) => [idOf(alert), alert]));
  const nowIds = new Set(now.map(idOf));
  const missing = [...open.values()].filter((alert) => !nowIds.has(idOf(alert)));
  // A process that has just started gives feeds time, which must not look like a recovery.
  const strict = missing.some(({ kind }) => kind === 'overdue')
    ? new Set((await conditionsNow(undefined)).map(idOf))
    : nowIds;
  const over = missing.filter((alert) => !strict.has(idOf(alert)));
  const pauses = over.length === 0 ? [] : await listPauses(app.db.prepared);
  const scrub = createScrub(configSecrets(app.config));
  return changeAlerts<AlertCondition>(app.db, name, {
    evaluator,
    opened: now.filter((condition) => !open.has(idOf(condition))),
    repeated: now.flatMap((condition) => {
      const told = open.get(idOf(condition));
      return told !== undefined && isWorse(told, condition) ? [{ alert: condition, messages: told.messages }] : [];
    }),
    lowered: now.filter(({ count, ...name }) => (count ?? 0) < (open.get(idOf(name))?.count ?? 0)),
    confirmed: now.filter((condition) => needsConfirming(open.get(idOf(condition)), evaluator)),
    ended: over.filter((alert) => canTell(app.config, alert)),
    unknown: over.filter((alert) => alert.isStale && !canTell(app.config, alert)),
    openedPayload: (condition, since) => ({
      type: 'alert.opened',
      timestamp: since.toISOString(),
      data: openData(app, condition, since, scrub),
    }),
    repeatedPayload: (condition, since, at) => ({
      type: 'alert.updated',
      timestamp: at.toISOString(),
      data: openData(app, condition, since, scrub),
    }),
    endedPayload: (alert, at, isUnknown) =>
      concerns(alert.kind, alert.subject)
        ? endedPayload(alert, at, isUnknown, isPausedNow(app.config, pauses, alert))
        : undefined,
  });
}

const idOf = ({ kind, subject }: AlertName): string => `${kind} ${subject}`;

const isWorse = ({ count: told, toldAt: at, toldSecondsAgo: agoSeconds }: SeenAlert, now: AlertCondition): boolean => {
  const { kind, count, oldestAt } = now;
  return (
    told !== null && count !== undefined && isToldAgain(kind, { count: told, at, agoSeconds }, { count, oldestAt })
  );
};

const needsConfirming = (alert: SeenAlert | undefined, evaluator: string): boolean =>
  alert !== undefined && (alert.isStale || !alert.evaluators.includes(evaluator));

/** Whether this process would see the alert: of other feeds it sees only what needs no setting, of other sites nothing. */
function canTell({ sites, feeds, brokenFeeds }: Config, { kind, subject }: AlertName): boolean {
  const { site, feed } = subjectParts(subject);
  if (site !== null) return sites.has(site);
  return feed !== null && (feeds.has(feed) || brokenFeeds.has(feed) || kind === 'held');
}

function openData(
  { writeAction, config }: App,
  { kind, subject, message, detail, count }: AlertCondition,
  since: Date,
  scrub: (text: string) => string,
): AlertData {
  return {
    alert: kind,
    ...subjectParts(subject),
    message: scrub(tell(message, writeAction)),
    detail: detail === undefined ? null : oneLine(scrub(tell(detail, writeAction)), LONGEST_DETAIL),
    count: count ?? null,
    since: since.toISOString(),
    ...linkTo(config, kind, subject),
  };
}

/** The page of the alert, where people reach the pages. */
const linkTo = ({ web: { publicUrl } }: Config, kind: AlertKind, subject: string): Pick<AlertData, 'link'> =>
  publicUrl === undefined ? {} : { link: publicUrl + pageOfAlert(kind, subject) };

/** These end with what a person decides, whether or not the feed is paused. */
const AFTER_REVIEW: ReadonlySet<AlertKind> = new Set(['held', 'escalation', 'rejected_share', 'new_group', 'in_doubt']);

function isPausedNow({ feeds }: Config, pauses: readonly PersonsPause[], { subject }: AlertName): boolean {
  const { site, feed } = subjectParts(subject);
  const of = feed === null ? { site: site ?? undefined } : { feed, site: feeds.get(feed)?.siteName };
  return pausesOf(pauses, of).length > 0;
}

/** @param isUnknown no running process knows its feed or site any more. */
function endedPayload(
  { kind, subject, since }: OpenAlert,
  at: Date,
  isUnknown: boolean,
  isPaused: boolean,
): AlertPayload {
  const alert = kind as AlertKind;
  const message = isUnknown
    ? `${subject} is not watched any more: no running process has it in its configuration`
    : recoveryOf(alert, subject, isPaused && !AFTER_REVIEW.has(alert));
  const data = { alert, ...subjectParts(subject), message, detail: null, count: null };
  return { type: 'alert.recovered', timestamp: at.toISOString(), data: { ...data, since: since.toISOString() } };
}

// Sends the messages of a destination that are due, each until it is delivered or has failed too often.

const MINUTE = 60_000;
/** Waits after each failed attempt, as the Standard Webhooks specification suggests: over a day in all. */
const RETRY_AFTER_MS = [
  5_000,
  30_000,
  2 * MINUTE,
  10 * MINUTE,
  30 * MINUTE,
  120 * MINUTE,
  360 * MINUTE,
  1_080 * MINUTE,
];
/** An endpoint may ask for more time, but not for ever. */
const LONGEST_WAIT_MS = 24 * 60 * MINUTE;

export interface SentMessages {
  readonly delivered: number;
  readonly failed: number;
}

/**
 * Sends the messages on a topic until none is due, or an attempt fails: the destination is probably down, and the rest waits
 * for the next round. An event of a posting that the destination refuses fails alone.
 * @param signal lets the message that is being delivered end; `cutOff` does not.
 * @param claim which messages: those that are due, or only those that a person asked for.
 */
export async function sendMessages(
  { config, db, log }: Pick<App, 'config' | 'db' | 'log'>,
  { name, channel }: AlertDestination,
  topic: Topic,
  { signal, cutOff }: { readonly signal: AbortSignal; readonly cutOff?: AbortSignal },
  claim = claimMessage,
): Promise<SentMessages> {
  const scrub = scrubPayload(config);
  let delivered = 0;
  let failed = 0;
  while (!signal.aborted) {
    const message = await claim(db, name, topic);
    if (message === undefined) break;
    const { id, payload, attempt, left } = message;
    const end = await deliverAlert(openChannel(channel, left ?? undefined), { id, payload: scrub(payload) }, cutOff);
    if (end.kind === 'delivered') {
      await noteDelivered(db, id);
      if (end.note !== undefined)
        log.warn({ destination: name, message: id, reason: end.note }, 'alert delivered in part');
      delivered++;
      continue;
    }
    const failsAlone = topic === 'posting' && end.isRefused === true;
    const planned = failsAlone || end.isFinal === true ? undefined : RETRY_AFTER_MS[attempt - 1];
    const waitMs = planned && Math.min(LONGEST_WAIT_MS, Math.max(planned, end.retryAfterMs ?? 0));
    await noteFailed(db, message, end.reason, waitMs, end.left);
    failed++;
    const fields = { destination: name, message: id, attempt, reason: end.reason };
    if (waitMs === undefined) log.error(fields, 'alert not delivered, it is listed as dead');
    else log.warn(fields, 'alert not delivered yet, will retry');
    // What took the message for others is not at fault.
    if (!failsAlone && end.left === undefined) break;
  }
  return { delivered, failed };
}

/** Removes the configuration's secrets from payloads: the database writes those of events, from texts of feeds and sites. */
export function scrubPayload(config: Config): (payload: unknown) => AlertMessage['payload'] {
  const scrub = createScrub(configSecrets(config));
  return (payload) => JSON.parse(scrub(JSON.stringify(payload)));
}

/** Reveals the secrets of a destination; they are used at once. @param left of its recipients, those that have not got the mail yet. */
export function openChannel(channel: AlertDestination['channel'], left?: readonly string[]): Channel {
  switch (channel.kind) {
    case 'webhook':
      return { ...channel, url: channel.url.reveal(), secret: channel.secret.reveal() };
    case 'slack':
      return { ...channel, url: channel.url.reveal() };
    case 'email': {
      const smtp = channel.smtp.reveal();
      const to = left === undefined ? channel.to : channel.to.filter((each) => left.includes(each));
      return { ...channel, to, smtp, isLocal: isLoopback(new URL(smtp).hostname) };
    }
    default:
      return channel satisfies never;
  }
}
