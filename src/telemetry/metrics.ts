// The metrics of a process in Prometheus' text format: counters of what this process did, beside the gauges of the whole
// installation, which are set from the database each time.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type AttemptEnded, onEnded, type PullEnded } from './events.ts';

/** One value of a gauge with its labels. */
export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A gauge to set. Series that are not in `samples` disappear. */
export interface GaugeValues {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly MetricSample[];
}

export interface Metrics {
  readonly contentType: string;
  /** Replaces the gauges of the installation; `undefined`: they could not be read, and are left out. */
  setGauges(gauges: readonly GaugeValues[]): void;
  text(): Promise<string>;
  /** Stops counting. */
  close(): void;
}

/** Seconds: from a fast answer to the longest timeout of a site. */
const REQUEST_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const PULL_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600];

/** Starts to count. @param about labels of `jobmirror_build_info` */
export function startMetrics(about: Readonly<Record<string, string>>): Metrics {
  const own = new Registry();
  const installation = new Registry();
  collectDefaultMetrics({ register: own });
  new Gauge({
    name: 'jobmirror_build_info',
    help: 'Version of jobmirror and of Node.js; always 1.',
    labelNames: Object.keys(about),
    registers: [own],
  }).set({ ...about }, 1);
  const stop = count(own);
  return {
    contentType: own.contentType,
    setGauges(gauges) {
      installation.clear();
      for (const { name, help, samples } of gauges) {
        const labelNames = Object.keys(samples[0]?.labels ?? {});
        const gauge = new Gauge({ name, help, labelNames, registers: [installation] });
        for (const { labels, value } of samples) gauge.set({ ...labels }, value);
      }
    },
    async text() {
      return `${await own.metrics()}\n${await installation.metrics()}`;
    },
    close: stop,
  };
}

/** Counts attempts and pulls from now on. Returns a function that ends this. */
function count(register: Registry): () => void {
  const registers = [register];
  const postings = new Counter({
    name: 'jobmirror_postings_total',
    help: 'Attempts of this process to mirror a posting, by what became of it.',
    labelNames: ['feed', 'operation', 'outcome'],
    registers,
  });
  const requests = new Counter({
    name: 'jobmirror_site_requests_total',
    help: 'Requests of this process that create, update or delete a site job, by HTTP status; "none": no answer.',
    labelNames: ['site', 'operation', 'status'],
    registers,
  });
  const requestSeconds = new Histogram({
    name: 'jobmirror_site_request_duration_seconds',
    help: 'Duration of these requests, from the connection to the last byte of the answer.',
    labelNames: ['site', 'operation'],
    buckets: REQUEST_SECONDS,
    registers,
  });
  const pulls = new Counter({
    name: 'jobmirror_pulls_total',
    help: 'Pulls that ended in this process, by their status.',
    labelNames: ['feed', 'status'],
    registers,
  });
  const records = new Counter({
    name: 'jobmirror_pulled_postings_total',
    help: 'Postings that the pulls of this process counted in feeds, changed or not, with skipped, unreadable and repeated ones.',
    labelNames: ['feed'],
    registers,
  });
  const bytes = new Counter({
    name: 'jobmirror_pulled_bytes_total',
    help: 'Bytes that the pulls of this process read.',
    labelNames: ['feed'],
    registers,
  });
  const pullSeconds = new Histogram({
    name: 'jobmirror_pull_duration_seconds',
    help: 'Duration of the pulls of this process, until their changes were sent or could not be sent for now.',
    buckets: PULL_SECONDS,
    registers,
  });
  function onAttempt({ site, feed, operation, outcome, request }: AttemptEnded): void {
    if (outcome !== undefined) postings.inc({ feed, operation, outcome });
    if (request === undefined) return;
    requests.inc({ site, operation, status: statusLabel(request.status) });
    requestSeconds.observe({ site, operation }, request.durationMs / 1000);
  }
  function onPull(pull: PullEnded): void {
    const { feed } = pull;
    pulls.inc({ feed, status: pull.status });
    records.inc({ feed }, pull.seen);
    bytes.inc({ feed }, pull.bytes);
    pullSeconds.observe(pull.durationMs / 1000);
  }
  return onEnded(onAttempt, onPull);
}

/** A site chooses its status codes, so only those of HTTP become labels (RFC 9110, 15). */
function statusLabel(status: number): string {
  if (status === 0) return 'none';
  return Number.isInteger(status) && status >= 100 && status <= 599 ? String(status) : 'other';
}
