// Answers GET /healthz, for monitoring, and GET /readyz, for supervisors that restart the process.
import { Hono } from 'hono';

/** The result of a check: `ok` decides the status, the rest is shown. Must contain no secrets. */
export interface Health {
  readonly ok: boolean;
  readonly [detail: string]: unknown;
}

export interface HealthChecks {
  /** Runs on each request, but never twice at the same time. A throw counts as unhealthy. */
  readonly check: () => Promise<Health>;
  /** The same for `/readyz`: whether the process itself can work. Default: `check`. */
  readonly ready?: () => Promise<Health>;
  /** A check that takes longer than this, in milliseconds, counts as unhealthy; 5 s by default. */
  readonly checkTimeoutMs?: number;
}

/** Answers with 200 or 503 and the check's result as JSON; everything that is not mounted beside it with 404. */
export function healthRoutes({ check, ready = check, checkTimeoutMs = 5_000 }: HealthChecks): Hono {
  const routes = new Hono();
  for (const [path, run] of [
    ['/healthz', check],
    ['/readyz', ready],
  ] as const) {
    const inTime = oneAtATime(() => checkInTime(run, checkTimeoutMs));
    routes.get(path, async () => {
      const health = await inTime();
      return answer(health.ok ? 200 : 503, health);
    });
  }
  routes.notFound(() => answer(404, { error: 'only GET /healthz, /readyz and /metrics are answered here' }));
  return routes;
}

async function checkInTime(check: () => Promise<Health>, timeoutMs: number): Promise<Health> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Health>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, error: `no result after ${timeoutMs} ms` }), timeoutMs);
    // A pending check must not keep the process alive.
    timer.unref();
  });
  try {
    return await Promise.race([check(), late]);
  } catch {
    // Hide the thrown error, which may name hosts and users: it belongs in the log of the part that failed, not on a page.
    return { ok: false, error: 'the check failed' };
  } finally {
    clearTimeout(timer);
  }
}

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

function answer(status: number, body: object): Response {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
  return new Response(`${JSON.stringify(body)}\n`, { status, headers });
}
