// Starts the HTTP server of `start` with all of its routes.

import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { addressesIn, networkOf, plainAddress } from '../../config/build/web-config.ts';
import { programVersion } from '../../config/package-root.ts';
import { tell, type WriteAction } from '../../plan/message.ts';
import type { HealthCondition } from '../../review/health/assess-health.ts';
import { readSchedules } from '../../store/feed/feed-schedule.ts';
import { countWorkers } from '../../store/locks/processes.ts';
import { listSiteStates } from '../../store/site/site-state.ts';
import { type GaugeValues, type Metrics, startMetrics } from '../../telemetry/metrics.ts';
import type { App } from '../app.ts';
import { tokenDigests } from '../open-site-client.ts';
import { assessRunning } from '../read-health.ts';
import { isLate } from '../schedule/next-run.ts';
import { UserError } from '../stop-signal.ts';
import { cacheBriefly, collectGauges, databaseUp, type ReadQueues } from './gauges.ts';

/** Why a request may not read health or metrics, which name feeds and sites. `undefined`: it may. */
export type MayMonitor = (
  request: IncomingMessage,
  what: 'health' | 'metrics',
) => Promise<
  { readonly status: number; readonly reason: string; readonly headers: Readonly<Record<string, string>> } | undefined
>;

interface Served {
  readonly mayMonitor: MayMonitor;
  /** Further routes, for what health and metrics do not answer. */
  readonly pages?: Hono | undefined;
}

interface ReplaceableServer extends HttpServer {
  /** Answers by another configuration from now on; requests that run end as they began. */
  replace(app: App, served: Served): Promise<void>;
}

/**
 * @throws {UserError} if the configured address cannot be listened on
 */
export async function startHttp(app: App, readQueues: ReadQueues, served: Served): Promise<ReplaceableServer> {
  const { listen, web } = app.config;
  const { host, port } = listen;
  const metrics = startMetrics({ version: programVersion(), node: process.version });
  const since = new Date();
  let routes = await allRoutes(app, readQueues, served, { metrics, since });
  try {
    const server = await startHttpServer({
      host,
      port,
      routes: { fetch: (...request) => routes.fetch(...request) },
      trustedProxies: web.trustedProxies,
    });
    return {
      url: server.url,
      async replace(next, nextServed) {
        routes = await allRoutes(next, readQueues, nextServed, { metrics, since });
      },
      close() {
        metrics.close();
        return server.close();
      },
    };
  } catch (cause) {
    metrics.close();
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? 'another process uses it' : message;
    throw new UserError(
      `listen: ${host}:${port} is not available: ${reason}. Set another one, for example: listen: { port: ${port + 1} }`,
      { cause },
    );
  }
}

async function allRoutes(
  app: App,
  readQueues: ReadQueues,
  { mayMonitor, pages }: Served,
  { metrics, since }: { readonly metrics: Metrics; readonly since: Date },
): Promise<Hono> {
  const gauges = cacheBriefly(() => collectGauges(app, since, readQueues));
  const routes = new Hono<{ Bindings: HttpBindings }>();
  routes.use(async (c, next) => {
    await next();
    c.res.headers.set('X-Content-Type-Options', 'nosniff');
  });
  for (const [path, what] of [
    ['/healthz', 'health'],
    ['/metrics', 'metrics'],
  ] as const) {
    routes.use(path, async ({ env }, next) => {
      const refusal = await mayMonitor(env.incoming, what);
      return refusal === undefined ? next() : answerJson(refusal.status, { error: refusal.reason }, refusal.headers);
    });
  }
  routes.route('/', healthRoutes(await healthChecks(app)));
  routes.route('/', metricsRoutes({ metrics, gauges }));
  if (pages !== undefined) routes.route('/', pages);
  routes.notFound(() => answerJson(404, { error: 'only GET /healthz, /readyz and /metrics are answered here' }));
  routes.onError((err) => {
    app.log.error({ err }, 'request failed');
    return answerJson(503, { ok: false, error: 'the check failed' });
  });
  return routes as unknown as Hono;
}

// The one HTTP server of a running process, for whatever routes it is given.

export interface HttpServer {
  /** `http://host:port` with the actual port. */
  readonly url: string;
  /** Also ends open connections. */
  close(): Promise<void>;
}

interface HttpServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly routes: Pick<Hono, 'fetch'>;
  /** Addresses from which many clients come. */
  readonly trustedProxies?: readonly string[];
}

/** Somebody who sends slowly keeps a connection no longer than this. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
const MOST_CONNECTIONS = 1_000;

/** @throws the system's error if it cannot listen on the address, such as EADDRINUSE */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port, routes, trustedProxies = [] } = options;
  const server = createAdaptorServer({
    fetch: routes.fetch,
    serverOptions: { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, connectionsCheckingInterval: 1_000 },
  }) as Server;
  limitConnections(server, MOST_CONNECTIONS, addressesIn(trustedProxies));
  server.listen(port, host);
  await once(server, 'listening');
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

// Bounds the connections of the HTTP server, so that those who open many, and send nothing or slowly, keep nobody out.

/**
 * Where there are more than `most`, one of the network that has most of them closes: the oldest on which no request is being answered,
 * otherwise the oldest; but the new one, if it is of this network or if many clients share its address, as they do that of a proxy.
 */
function limitConnections(server: Server, most: number, isShared: (address: string) => boolean): void {
  /** In the order in which they were opened, with how many requests each is answering. */
  const answering = new Map<Socket, number>();
  const ofNetwork = new Map<string, Set<Socket>>();
  const forgetting = new WeakMap<Socket, () => void>();

  function makeRoom(newest: Socket, own: Set<Socket>): Socket {
    const [network = '', largest = own] = [...ofNetwork].toSorted(([, a], [, b]) => b.size - a.size)[0] ?? [];
    const others = [...largest].filter((socket) => socket !== newest);
    const idle = others.find((socket) => answering.get(socket) === 0);
    return idle ?? (largest === own || isShared(network) ? newest : (others[0] ?? newest));
  }

  server.on('connection', (socket) => {
    const address = plainAddress(socket.remoteAddress ?? '');
    const network = isShared(address) ? address : networkOf(address);
    const own = ofNetwork.get(network) ?? new Set();
    ofNetwork.set(network, own.add(socket));
    answering.set(socket, 0);
    const forget = (): void => {
      answering.delete(socket);
      own.delete(socket);
      if (own.size === 0 && ofNetwork.get(network) === own) ofNetwork.delete(network);
    };
    forgetting.set(socket, forget);
    socket.once('close', forget);
    if (answering.size <= most) return;
    const surplus = makeRoom(socket, own);
    // It closes only later; until then it would be chosen again.
    forgetting.get(surplus)?.();
    surplus.destroy();
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const count = (change: number): void => {
      const before = answering.get(socket);
      if (before !== undefined) answering.set(socket, before + change);
    };
    count(1);
    response.once('close', () => count(-1));
  });
}

// Answers GET /metrics for Prometheus.

interface MetricsOptions {
  readonly metrics: Metrics;
  /** Reads the gauges of the installation. */
  readonly gauges: () => Promise<readonly GaugeValues[]>;
  /** Gauges that take longer than this, in milliseconds, are left out; 5 s by default. */
  readonly timeoutMs?: number;
}

export function metricsRoutes(options: MetricsOptions): Hono {
  const { metrics, gauges, timeoutMs = 5_000 } = options;
  const routes = new Hono();
  routes.get('/metrics', async () => {
    metrics.setGauges(await inTime(gauges, timeoutMs).catch(() => [databaseUp(0)]));
    return new Response(await metrics.text(), {
      headers: { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' },
    });
  });
  return routes;
}

class TooLateError extends Error {}

async function inTime<T>(work: () => Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TooLateError(`no result after ${timeoutMs} ms`)), timeoutMs);
    // What is waited for must not keep the process alive.
    timer.unref();
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}

// Answers GET /healthz, for monitoring: healthy while nothing fails; and GET /readyz, for supervisors that restart the
// process: ready while the database answers.

/** The result of a check: `ok` decides the status, the rest is shown. Must contain no secrets. */
export interface Health {
  readonly ok: boolean;
  readonly [detail: string]: unknown;
}

interface HealthChecks {
  /** Runs on each request, but never twice at the same time. A throw counts as unhealthy. */
  readonly check: () => Promise<Health>;
  /** The check of `/readyz`: whether the process itself can work. Default: `check`. */
  readonly ready?: () => Promise<Health>;
  /** A check that takes longer than this, in milliseconds, counts as unhealthy; 5 s by default. */
  readonly checkTimeoutMs?: number;
}

/** Answers with 200 or 503 and the check's result as JSON. */
export function healthRoutes({ check, ready = check, checkTimeoutMs = 5_000 }: HealthChecks): Hono {
  const routes = new Hono();
  for (const [path, run] of [
    ['/healthz', check],
    ['/readyz', ready],
  ] as const) {
    const checked = oneAtATime(() => checkInTime(run, checkTimeoutMs));
    routes.get(path, async () => {
      const health = await checked();
      return answerJson(health.ok ? 200 : 503, health);
    });
  }
  return routes;
}

/** Hides other errors, which may name hosts and users: they belong in the log of the part that failed, not on a page. */
const checkInTime = (check: () => Promise<Health>, timeoutMs: number): Promise<Health> =>
  inTime(check, timeoutMs).catch((error: unknown) => {
    return { ok: false, error: error instanceof TooLateError ? error.message : 'the check failed' };
  });

/** Concurrent calls share one result, so many probes cost one check. */
function oneAtATime<Result>(run: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () => {
    running ??= run().finally(() => {
      running = undefined;
    });
    return running;
  };
}

const answerJson = (status: number, body: object, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(`${JSON.stringify(body)}\n`, {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
  });

/** How many late feeds and failures are listed; a thousand would help nobody. */
const MOST_NAMED = 20;

async function healthChecks(app: App): Promise<HealthChecks> {
  const { config, db } = app;
  const runningSince = new Date();
  const tokens = await tokenDigests(db, config);
  const check = async () => {
    const sites = await listSiteStates(db, tokens);
    const paused = sites.filter((site) => site.pausedSince !== undefined).map((site) => site.site);
    const schedules = await readSchedules(db);
    const late = schedules.filter((schedule) => schedule.processes > 0 && isLate(schedule));
    const late_feeds = late.slice(0, MOST_NAMED).map(({ feed }) => feed);
    const workers = await countWorkers(db);
    const { failing } = await assessRunning(app, schedules, workers, runningSince);
    return {
      ok: failing.length === 0,
      workers,
      paused,
      late: late.length,
      late_feeds,
      failing: failing.slice(0, MOST_NAMED).map((condition) => publicCondition(condition, app.writeAction)),
      failures: failing.length,
    };
  };
  const ready = async () => {
    await db.query('select 1');
    return { ok: true };
  };
  return { check, ready };
}

/** Omits text from sources, sites and the configuration: who monitors need not be one who may read them. */
const publicCondition = ({ kind, site, feed, message }: HealthCondition, write: WriteAction): object => ({
  kind,
  ...(site === undefined ? {} : { site }),
  ...(feed === undefined ? {} : { feed }),
  message: tell(message, write),
});
