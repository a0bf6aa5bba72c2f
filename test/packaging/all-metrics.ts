// Every metric of jobmirror, as a process serves it that has pulled, sent, and has one of everything in its database.
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import { gaugeValues } from '../../src/runtime/http/gauges.ts';
import { announceAttempt, announcePull } from '../../src/telemetry/events.ts';
import { startMetrics } from '../../src/telemetry/metrics.ts';

interface NamedMetric {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

const feed = feedName('acme');
const site = siteName('board');
const FACTS: Parameters<typeof gaugeValues>[0] = {
  changes: [{ feed, site, state: 'ready', n: 1, age: 1, since: 1 }],
  pauses: [],
  records: [],
  pulls: [
    {
      feed,
      site,
      startedAt: 1,
      status: 'mirrored',
      completeAt: 1,
      size: 1,
      seen: 1,
      durationMs: 1,
      outcomes: { created: 1 },
    },
  ],
  sites: [{ site, paused: false, refusedTokens: 0, waits: 0, unreachable: 0, learntRate: 1, orphans: 0 }],
  alerts: [],
  verifies: [{ feed, endedAt: 1, result: { same: 1, changed: 0, gone: 0, foreign: 0, untold: 0, left: 0 }, late: 0 }],
  schedules: [{ feed, pattern: '', timeZone: '', nextAt: new Date(0), lateMs: 0, running: undefined, processes: 1 }],
  workers: 1,
  overdue: new Map([[feed, false]]),
  feeds: new Map([[feed, site]]),
  queues: new Map([[site, { waiting: 0, active: 0 }]]),
};

/** All metrics, those of Node and of the process included, in the order in which they are served. */
export async function allMetrics(): Promise<readonly NamedMetric[]> {
  const metrics = startMetrics({ version: '1', node: '20' });
  metrics.setGauges(gaugeValues(FACTS));
  announceAttempt({ site, feed, operation: 'create', outcome: 'created', request: { status: 201, durationMs: 1 } });
  announcePull({ feed, status: 'mirrored', seen: 1, bytes: 1, durationMs: 1 });
  const text = await metrics.text();
  metrics.close();
  return [...text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)\n(?:\w+(?:\{([^}\n]*)\})?)?/gm)].map(
    ([, name = '', help = '', type = '', labels = '']) => ({
      name,
      type,
      help,
      labels: [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label).filter((label) => label !== 'le'),
    }),
  );
}
