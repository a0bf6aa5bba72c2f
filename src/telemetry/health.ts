// Serves GET /healthz, for monitoring, and GET /readyz, for supervisors that restart the process.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The result of a check: `ok` decides the status, the rest is shown. Must contain no secrets. */
export interface Health {
  readonly ok: boolean;
  readonly [detail: string]: unknown;
}

export interface HealthServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Runs on each request, but never twice at the same time. A throw counts as unhealthy. */
  readonly check: () => Promise<Health>;
  /** The same for `/readyz`: whether the process itself can work. Default: `check`. */
  readonly ready?: () => Promise<Health>;
  /** A check that takes longer than this, in milliseconds, counts as unhealthy. */
  readonly checkTimeoutMs?: number;
}

export interface HealthServer {
  /** `http://host:port` with the actual port. */
  readonly url: string;
  /** Also ends open connections. */
  close(): Promise<void>;
}

/**
 * Answers GET and HEAD of `/healthz` and `/readyz` with 200 or 503 and the check's result as JSON, everything else with 404.
 * @throws if it can't listen on the address
 */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const timeoutMs = options.checkTimeoutMs ?? 5_000;
  const inTime = (check: () => Promise<Health>) => oneAtATime(() => checkInTime(check, timeoutMs));
  const checks = new Map([
    ['/healthz', inTime(options.check)],
    ['/readyz', inTime(options.ready ?? options.check)],
  ]);
  const server = createServer((request, response) => {
    const check = checks.get(request.url?.split('?', 1)[0] ?? '');
    const reads = request.method === 'GET' || request.method === 'HEAD';
    if (check === undefined || !reads)
      return answer(response, 404, { error: 'only GET /healthz and /readyz are answered here' });
    void check().then((health) => answer(response, health.ok ? 200 : 503, health));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
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

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(`${JSON.stringify(body)}\n`);
}
