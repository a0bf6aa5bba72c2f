// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration contains literal ${NAME}.
// An installation whose alerts go to a real receiver, and its processes, with one configuration or several.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { AlertDestination } from '../../src/config/config.ts';
import { type App, openApp } from '../../src/runtime/app.ts';
import { type AlertTiming, evaluateAlerts, evaluatorKeys, startAlerts } from '../../src/runtime/run-alerts.ts';
import type { AlertPayload } from '../../src/telemetry/alert-message.ts';
import { type HttpReceiver, startReceiver } from './http-receiver.ts';
import { type Mirror, openMirror } from './mirror.ts';
import { withEnv } from './with-env.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
export const FAST_ALERTS: AlertTiming = { evaluateEveryMs: 50, sendEveryMs: 50, subscribeEveryMs: 1_000 };
/** Asks for events, and does nothing more. */
export const IDLE_ALERTS: AlertTiming = { evaluateEveryMs: 1e9, sendEveryMs: 1e9, subscribeEveryMs: 1e9 };

/** A process that may send alerts. */
export interface AlertingProcess {
  readonly app: App;
  readonly ops: AlertDestination;
  /** Compares once, as a running process does. Returns the number of messages written. */
  evaluate(runningSince?: Date): Promise<number>;
  /** Watches and sends from now on. */
  start(timing?: AlertTiming): Promise<void>;
  /** Ends as a stop of the process would. */
  stop(): Promise<void>;
}

export interface Alerting {
  readonly mirror: Mirror;
  readonly receiver: HttpReceiver;
  /** Opens a process; `change` makes its configuration from the text of the common one. */
  process(change?: (text: string) => string): Promise<AlertingProcess>;
  /** What the receiver got, in short, each message verified. */
  told(): string[];
  close(): Promise<void>;
}

/** @param settings of the destination `ops`, such as `, on: [held]`. */
export async function openAlerting(settings = '', feed: Record<string, string> = {}): Promise<Alerting> {
  const mirror = await openMirror({ feed });
  await mirror.app();
  const receiver = await startReceiver();
  const env = { ...mirror.env, OPS_SECRET: SECRET, OPS_URL: receiver.url };
  const common =
    (await readFile(mirror.configPath, 'utf8')) +
    `alerts: { ops: { url: "\${OPS_URL}", secret: "\${OPS_SECRET}"${settings} } }\n`;
  const processes: AlertingProcess[] = [];
  return {
    mirror,
    receiver,
    async process(change = (text) => text) {
      const path = join(mirror.folder, `process-${processes.length}.yaml`);
      await writeFile(path, change(common));
      const opened = await openProcess(path, env);
      processes.push(opened);
      return opened;
    },
    told: () => receiver.received.map(({ body, headers }) => shortOf(body, headers as Record<string, string>)),
    async close() {
      for (const opened of processes) await opened.stop();
      await mirror.close();
      await receiver.close();
    },
  };
}

async function openProcess(path: string, env: Readonly<Record<string, string>>): Promise<AlertingProcess> {
  const app = await withEnv(env, () => openApp({ config: path, quiet: true }));
  app.log.level = 'silent';
  let stopped: Promise<void> | undefined;
  let stopAlerts = async (): Promise<void> => undefined;
  return {
    app,
    get ops() {
      return opsOf(app);
    },
    evaluate: async (runningSince = new Date(0)) =>
      evaluateAlerts(app, opsOf(app), (await evaluatorKeys(app))('ops'), runningSince),
    async start(timing = FAST_ALERTS) {
      const running = await startAlerts(app, timing);
      stopAlerts = () => running.stop(100);
    },
    stop() {
      stopped ??= stopAlerts().then(() => app.close());
      return stopped;
    },
  };
}

function opsOf({ config }: App): AlertDestination {
  const found = config.alerts.get('ops');
  if (found === undefined) throw new Error('no destination ops');
  return found;
}

/** Such as `alert.opened held acme` or `posting.mirrored a`. */
function shortOf(body: string, headers: Record<string, string>): string {
  const { type, data } = new Webhook(SECRET).verify(body, headers) as AlertPayload & {
    data: { readonly key?: string };
  };
  return data.key === undefined ? `${type} ${data.alert} ${data.site ?? data.feed}` : `${type} ${data.key}`;
}

/** Writes events of postings, as a pull with this many changes does. */
export async function writeEvents(app: App, type: string, keys: readonly string[]): Promise<void> {
  await app.db.query(
    `insert into alert_message (destination, topic, payload) select 'ops', 'posting', jsonb_build_object('type', $1::text,
       'timestamp', '2026-03-20T10:00:00.000Z', 'data', jsonb_build_object('feed', 'acme', 'key', key, 'site', 'board'))
     from unnest($2::text[]) with ordinality k(key, n) order by n`,
    [type, keys],
  );
}

/** Pauses a site, as a refused token does. */
export const pauseSite = (app: App, site = 'board') =>
  app.db.query(
    `insert into site_state (site, paused_since, pause_cause) values ($1, now(), '"the token is refused"')
     on conflict (site) do update set paused_since = now(), pause_cause = excluded.pause_cause`,
    [site],
  );

export const resumeSite = (app: App, site = 'board') =>
  app.db.query('update site_state set paused_since = null, pause_cause = null where site = $1', [site]);
