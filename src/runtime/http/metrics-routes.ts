// Answers GET /metrics for Prometheus.
import { Hono } from 'hono';
import type { GaugeValues, Metrics } from '../../telemetry/metrics.ts';

interface MetricsOptions {
  readonly metrics: Metrics;
  /** Reads the gauges of the installation. */
  readonly gauges: () => Promise<readonly GaugeValues[]>;
  /** Gauges that take longer than this, in milliseconds, are left out; 5 s by default. */
  readonly timeoutMs?: number;
}

const DOWN: GaugeValues = {
  name: 'jobmirror_database_up',
  help: 'Whether the database answered; if not, there is no gauge of the installation.',
  samples: [{ labels: {}, value: 0 }],
};

export function metricsRoutes(options: MetricsOptions): Hono {
  const { metrics, gauges, timeoutMs = 5_000 } = options;
  const routes = new Hono();
  routes.get('/metrics', async () => {
    const values = await inTime(gauges(), timeoutMs).catch(() => undefined);
    metrics.setGauges(values ?? [DOWN]);
    return new Response(await metrics.text(), {
      headers: { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' },
    });
  });
  return routes;
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
