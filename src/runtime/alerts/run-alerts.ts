// Watches for alerts and sends their messages, while the process runs. For each destination, one process of those with the same
// configuration evaluates; each process sends.
import { hash } from 'node:crypto';
import { type AlertDestination, namedFeeds } from '../../config/config.ts';
import { endsWithin, type Rounds, startRounds } from '../../flow/pause.ts';
import { setSubscriptions, TOPICS } from '../../store/alert/outbox.ts';
import { lockKey } from '../../store/locks/advisory-locks.ts';
import { type Leadership, standForLead } from '../../store/locks/leadership.ts';
import { describePassing } from '../../store/postgres/transient-error.ts';
import type { App } from '../app.ts';
import { aboutProcess } from '../configurations.ts';
import { tokenDigests } from '../token-digests.ts';
import { evaluateAlerts } from './evaluate.ts';
import { sendMessages } from './send-messages.ts';

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
    return { destination, evaluator, lead: standForLead(db, evaluator) };
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
): Rounds {
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
    ...TOPICS.map((topic) =>
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
): Rounds {
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
