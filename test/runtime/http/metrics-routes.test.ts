// GET /metrics over real HTTP: what it counts, and what it says while the database is down.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { cacheBriefly } from '../../../src/runtime/http/gauges.ts';
import { type HttpServer, metricsRoutes, startHttpServer } from '../../../src/runtime/http/serve.ts';
import { announceAttempt, announcePull } from '../../../src/telemetry/events.ts';
import { type Metrics, startMetrics } from '../../../src/telemetry/metrics.ts';

let metrics: Metrics;
let server: HttpServer | undefined;
beforeEach(() => {
  metrics = startMetrics({ version: '1.2.3' });
});
afterEach(async () => {
  metrics.close();
  await server?.close();
  server = undefined;
});

const WORKERS = { name: 'jobmirror_workers', help: 'Live processes.', samples: [{ labels: {}, value: 3 }] };

async function get(options: Partial<Parameters<typeof metricsRoutes>[0]> = {}): Promise<Response> {
  const routes = metricsRoutes({ metrics, gauges: async () => [WORKERS], ...options });
  await server?.close();
  server = await startHttpServer({ host: '127.0.0.1', port: 0, routes });
  return fetch(`${server.url}/metrics`);
}

it('answers in the format of Prometheus', async () => {
  const response = await get();
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const text = await response.text();
  expect(text).toContain('jobmirror_build_info{version="1.2.3"} 1\n');
  expect(text).toContain('jobmirror_workers 3\n');
  expect(text).toMatch(/^nodejs_eventloop_lag_seconds \d/m);
  expect(text).toMatch(/^process_resident_memory_bytes \d/m);
});

const attempt = { site: 'board', feed: 'acme', operation: 'create' } as const;

it('counts attempts by outcome, and requests by status', async () => {
  announceAttempt({ ...attempt, outcome: 'created', request: { status: 201, durationMs: 40 } });
  announceAttempt({ ...attempt, outcome: 'in_doubt', request: { status: 0, durationMs: 30_000 } });
  announceAttempt({ ...attempt, outcome: undefined, request: { status: 201, durationMs: 4 } });
  announceAttempt({ ...attempt, outcome: 'created', request: undefined });
  announceAttempt({ ...attempt, outcome: 'retried', request: { status: 99_999, durationMs: 4 } });
  const text = await (await get()).text();
  expect(text).toContain('jobmirror_postings_total{feed="acme",operation="create",outcome="created"} 2\n');
  expect(text).toContain('jobmirror_postings_total{feed="acme",operation="create",outcome="in_doubt"} 1\n');
  expect(text).toContain('jobmirror_site_requests_total{site="board",operation="create",status="201"} 2\n');
  expect(text).toContain('jobmirror_site_requests_total{site="board",operation="create",status="none"} 1\n');
  expect(text).toContain('jobmirror_site_requests_total{site="board",operation="create",status="other"} 1\n');
  expect(text).toContain(
    'jobmirror_site_request_duration_seconds_bucket{le="0.05",site="board",operation="create"} 3\n',
  );
  expect(text).toContain('jobmirror_site_request_duration_seconds_count{site="board",operation="create"} 4\n');
});

it('counts pulls', async () => {
  announcePull({ feed: 'acme', status: 'mirrored', seen: 12, bytes: 3_000, durationMs: 700 });
  announcePull({ feed: 'acme', status: 'failed', seen: 0, bytes: 10, durationMs: 100 });
  const text = await (await get()).text();
  expect(text).toContain('jobmirror_pulls_total{feed="acme",status="mirrored"} 1\n');
  expect(text).toContain('jobmirror_pulls_total{feed="acme",status="failed"} 1\n');
  expect(text).toContain('jobmirror_pulled_postings_total{feed="acme"} 12\n');
  expect(text).toContain('jobmirror_pulled_bytes_total{feed="acme"} 3010\n');
  expect(text).toContain('jobmirror_pull_duration_seconds_count 2\n');
});

it.each([
  ['fails', () => Promise.reject(new Error('postgres://user:password@db is down'))],
  ['does not answer', () => new Promise<never>(() => {})],
])('says that the database %s, and still shows the counters of the process', async (_name, gauges) => {
  announcePull({ feed: 'acme', status: 'mirrored', seen: 12, bytes: 3_000, durationMs: 700 });
  await get();
  const response = await get({ gauges, timeoutMs: 20 });
  expect(response.status).toBe(200);
  const text = await response.text();
  expect(text).toContain('jobmirror_database_up 0\n');
  expect(text).toContain('jobmirror_pulled_postings_total{feed="acme"} 12\n');
  // Former values would look like present ones.
  expect(text).not.toContain('jobmirror_workers');
  expect(text).not.toContain('password');
});

it('reads the database once for many requests, but again after a failure', async () => {
  let reads = 0;
  const read = cacheBriefly(async () => ++reads, 60_000);
  expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1]);
  expect(await read()).toBe(1);
  let fails = true;
  const failing = cacheBriefly(async () => {
    reads++;
    if (fails) throw new Error('down');
    return 'up';
  });
  await expect(failing()).rejects.toThrow('down');
  fails = false;
  expect(await failing()).toBe('up');
  expect(reads).toBe(3);
});
