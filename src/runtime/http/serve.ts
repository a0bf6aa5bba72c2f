// Starts the HTTP server of `start` with all of its routes.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { packageRoot } from '../../config/package-root.ts';
import { startMetrics } from '../../telemetry/metrics.ts';
import type { App } from '../app.ts';
import { UserError } from '../exit-status.ts';
import { cacheBriefly, collectGauges, type ReadQueues } from './gauges.ts';
import { healthChecks, healthRoutes } from './health.ts';
import { metricsRoutes } from './metrics-routes.ts';

/**
 * @param pages further routes, for what health and metrics do not answer
 * @throws {UserError} if the configured address cannot be listened on
 */
export async function startHttp(app: App, readQueues: ReadQueues, pages?: Hono): Promise<HttpServer> {
  const { listen, metricsToken } = app.config;
  const { host, port } = listen;
  const metrics = startMetrics(aboutVersion());
  const since = new Date();
  const gauges = cacheBriefly(() => collectGauges(app, since, readQueues));
  const routes = healthRoutes(await healthChecks(app));
  routes.route('/', metricsRoutes({ metrics, gauges, token: metricsToken?.reveal(), isLocal: isLoopback(host) }));
  if (pages !== undefined) routes.route('/', pages);
  try {
    const server = await startHttpServer({ host, port, routes });
    return {
      url: server.url,
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

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);

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
  readonly routes: Hono;
}

/** Somebody who sends slowly keeps a connection no longer than this. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
const MOST_CONNECTIONS = 1_000;

/** @throws the system's error if it cannot listen on the address, such as EADDRINUSE */
export async function startHttpServer({ host, port, routes }: HttpServerOptions): Promise<HttpServer> {
  const server = createAdaptorServer({
    fetch: routes.fetch,
    serverOptions: { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, connectionsCheckingInterval: 1_000 },
  }) as Server;
  server.maxConnections = MOST_CONNECTIONS;
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
