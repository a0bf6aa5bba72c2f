// Compares what needs attention with what a destination was told, and writes a message for each difference.
import type { AlertDestination, Config } from '../../config/config.ts';
import { tell } from '../../plan/message.ts';
import { type PersonsPause, pausesOf } from '../../plan/pause-words.ts';
import {
  type AlertCondition,
  type AlertFacts,
  alertConditions,
  NEW_GROUP_HOURS,
  pageOfAlert,
  recoveryOf,
  subjectParts,
} from '../../review/alert-conditions.ts';
import { isToldAgain } from '../../review/alert-growth.ts';
import { readHeldOffers } from '../../review/held-offer.ts';
import {
  type AlertName,
  changeAlerts,
  listSeenAlerts,
  type OpenAlert,
  type SeenAlert,
} from '../../store/alert/open-alerts.ts';
import { rekeyedFeeds } from '../../store/change/rekey/read-rekey.ts';
import { readSchedules } from '../../store/feed/feed-schedule.ts';
import { listPauses } from '../../store/locks/pauses.ts';
import { countWorkers } from '../../store/locks/processes.ts';
import { readNewGroups } from '../../store/review/new-groups.ts';
import { readGauges } from '../../store/status/gauges.ts';
import type { AlertData, AlertKind, AlertPayload } from '../../telemetry/alerts/alert-message.ts';
import { oneLine } from '../../telemetry/print.ts';
import { createScrub } from '../../telemetry/scrub-secrets.ts';
import { type App, configSecrets } from '../app.ts';
import { assessRunning } from '../read-health.ts';

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
