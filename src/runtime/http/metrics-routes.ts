// Answers GET /metrics for Prometheus, to loopback or to whoever sends the configured token.
import { createHash, timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import type { GaugeValues, Metrics } from '../../telemetry/metrics.ts';

export interface MetricsOptions {
  readonly metrics: Metrics;
  /** Reads the gauges of the installation. */
  readonly gauges: () => Promise<readonly GaugeValues[]>;
  /** What the request has to send; without one, only `isLocal` servers answer. */
  readonly token: string | undefined;
  /** The server listens on loopback only. */
  readonly isLocal: boolean;
  /** Gauges that take longer than this, in milliseconds, are left out; 5 s by default. */
  readonly timeoutMs?: number;
}

const NOT_LOCAL =
  'metrics are not served on an address beyond loopback without a token: set metrics.token in the configuration, and let Prometheus send it (authorization: credentials)';

const DOWN: GaugeValues = {
  name: 'jobmirror_database_up',
  help: 'Whether the database answered; if not, there is no gauge of the installation.',
  samples: [{ labels: {}, value: 0 }],
};

export function metricsRoutes(options: MetricsOptions): Hono {
  const { metrics, gauges, token, isLocal, timeoutMs = 5_000 } = options;
  const routes = new Hono();
  routes.get('/metrics', async ({ req }) => {
    if (token === undefined && !isLocal) return refuse(403, NOT_LOCAL);
    if (token !== undefined && !isSame(req.header('authorization') ?? '', `Bearer ${token}`)) {
      const reason = 'send the token of metrics.token as "Authorization: Bearer TOKEN"';
      return refuse(401, reason, { 'WWW-Authenticate': 'Bearer' });
    }
    const values = await inTime(gauges(), timeoutMs).catch(() => undefined);
    metrics.setGauges(values ?? [DOWN]);
    return new Response(await metrics.text(), {
      headers: { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' },
    });
  });
  return routes;
}

/** Compares digests, so that the time says nothing about the token. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

async function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no result after ${timeoutMs} ms`)), timeoutMs);
    timer.unref();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function refuse(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(`${JSON.stringify({ error })}\n`, {
    status,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
  });
}
