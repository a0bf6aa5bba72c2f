// A site context whose site and database answer as the test says, to produce every path of the create protocol.
import pino, { type Logger } from 'pino';
import type { SiteContext } from '../../src/apply/site-context.ts';
import { semaphoreFor } from '../../src/flow/semaphore.ts';
import { UNKNOWN_PLACES } from '../../src/plan/match/likeness.ts';
import { feedName, postingKey, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import type { Exchange } from '../../src/site/exchange.ts';
import type { Attempt } from '../../src/store/change/attempt.ts';

/** One line of the log. */
export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [field: string]: unknown;
}

export function logInto(lines: LogLine[]): Logger {
  return pino({ level: 'trace' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
}

const REQUESTS = {
  create: { kind: 'create', fields: { title: 'Nurse' } },
  update: { kind: 'update', siteJobId: siteJobId('7'), fields: { title: 'Nurse' } },
  delete: { kind: 'delete', siteJobId: siteJobId('7') },
} as const;

export const attemptOf = (operation: keyof typeof REQUESTS): Attempt => ({
  feed: feedName('acme'),
  key: postingKey('k'),
  site: siteName('board'),
  token: 'a',
  number: 1,
  pull: 1,
  revision: 1,
  request: REQUESTS[operation],
  accepted: undefined,
  approved: false,
});

export const exchangeOf = (outcome: Exchange['outcome'], status?: number): Exchange => ({
  outcome,
  request: { method: 'POST', url: 'http://site/jobs.xml' },
  response: status === undefined ? undefined : { status, body: '' },
  durationMs: 1.4,
});

/** A site context with these parts; its database answers every statement with `rows(statement)`. */
export function siteContextWith(
  parts: Partial<SiteContext>,
  rows: (statement: string) => readonly object[] = () => [],
): SiteContext {
  const query = async (statement: string) => rows(statement);
  return {
    site: siteName('board'),
    address: 'jobs.example.com',
    tokenDigest: 'digest',
    policy: {
      timeoutMs: 1_000,
      requestsPerSecond: 10,
      retry: { attempts: 3, firstDelayMs: 1_000, maxDelayMs: 10_000 },
      doubts: { resolveAfterMs: 60_000, listChecks: 2, escalateAfterMs: 3_600_000 },
      canary: { requests: 0, percent: 50, until: 0 },
      onMissing: 'create',
      referenceField: 'number',
      places: UNKNOWN_PLACES,
      canList: true,
    },
    inFlight: semaphoreFor(8),
    requestSlots: semaphoreFor(4),
    rateLimiter: { take: async () => undefined, spend: () => undefined },
    rewrites: { learn: async () => undefined, isRewritten: async () => false },
    db: { query },
    claim: async () => ({ kind: 'nothing' }),
    writeOutcome: async () => 'recorded',
    log: logInto([]),
    writeAction: ({ kind }) => kind,
    ...parts,
  } as SiteContext;
}
