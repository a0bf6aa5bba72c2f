// Starts the HTTP server of `start` with all of its routes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { packageRoot } from '../../config/package-root.ts';
import { startMetrics } from '../../telemetry/metrics.ts';
import type { App } from '../app.ts';
import { UserError } from '../exit-status.ts';
import { healthChecks } from './health.ts';
import { healthRoutes } from './health-routes.ts';
import { type HttpServer, startHttpServer } from './http-server.ts';
import { metricsRoutes } from './metrics-routes.ts';
import { collectGauges, keepBriefly, type ReadQueues } from './read-gauges.ts';

/**
 * @param pages further routes, for what health and metrics do not answer
 * @throws {UserError} if the configured address cannot be listened on
 */
export async function startHttp(app: App, readQueues: ReadQueues, pages?: Hono): Promise<HttpServer> {
  const { listen, metricsToken } = app.config;
  const { host, port } = listen;
  const metrics = startMetrics(aboutVersion());
  const since = new Date();
  const gauges = keepBriefly(() => collectGauges(app, since, readQueues));
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
