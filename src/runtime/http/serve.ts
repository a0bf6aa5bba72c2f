// Starts the HTTP server of `start` with all of its routes.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { addressesIn } from '../../config/build/web-config.ts';
import { packageRoot } from '../../config/package-root.ts';
import { type Metrics, startMetrics } from '../../telemetry/metrics.ts';
import type { App } from '../app.ts';
import { UserError } from '../exit-status.ts';
import { limitConnections } from './connections.ts';
import { cacheBriefly, collectGauges, type ReadQueues } from './gauges.ts';
import { answerJson, healthChecks, healthRoutes } from './health.ts';
import { metricsRoutes } from './metrics-routes.ts';

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
  const metrics = startMetrics(aboutVersion());
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

function aboutVersion(): Readonly<Record<string, string>> {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  return { version, node: process.version };
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
