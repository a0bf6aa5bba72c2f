// Tries and plans the text of a feed before it is saved, within bounds that a browser can wait for.
import type { Config } from '../config/config.ts';
import { publicNetwork } from '../feed/source/sources.ts';
import { semaphoreFor } from '../flow/semaphore.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { FeedSetup } from '../pull/feed-setup.ts';
import { type PlanEnd, planFeed } from '../pull/preview/dry-run.ts';
import { type Trial, tryFeed } from '../pull/preview/try-feed.ts';
import type { PlannedChange } from '../store/backlog/planned-changes.ts';
import type { App } from './app.ts';
import { chooseFeeds } from './feed-setups.ts';
import type { KeptSample } from './kept-samples.ts';

interface DraftRequest {
  /** A configuration that has the draft as this feed. */
  readonly config: Config;
  readonly feed: FeedName;
  /** Only public addresses are connected to. */
  readonly publicOnly: boolean;
  readonly signal: AbortSignal | undefined;
}

export interface FeedTrial {
  readonly trial: Trial;
  readonly setup: FeedSetup;
  /** It was tried on the sample, not on its source. */
  readonly onSample: boolean;
}

/** Longer, and browsers and proxies give up. */
const MOST_SECONDS = 45;
const MOST_BYTES = 64 * 1024 * 1024;
/** The process is there for pulls. */
const AT_A_TIME = 2;
const slots = semaphoreFor(AT_A_TIME);

/** A text: why the feed can't be used, such as a secret that this process does not have. Throws only the reason of the signal. */
export async function tryDraft({
  sample,
  samples,
  onlySample,
  ...request
}: DraftRequest & {
  readonly sample: KeptSample | undefined;
  /** How many postings are shown. */
  readonly samples: number;
  /** Why the source must not be read; `undefined`: it may. */
  readonly onlySample: string | undefined;
}): Promise<FeedTrial | string> {
  const setup = setupOf(request);
  if (typeof setup === 'string') return setup;
  const onSample = sample !== undefined && (sample.isUpload || canUseBeginning(setup));
  if (!onSample && onlySample !== undefined) return onlySample;
  const used = onSample ? { ...setup, source: sourceOf(setup, sample) } : setup;
  const trial = await withinBounds(request, ({ signal, network }) =>
    tryFeed(used, { signal, network, samples, showsRecords: true, mostBytes: MOST_BYTES }),
  );
  return { trial: typeof trial === 'string' ? { kind: 'failed', message: trial } : trial, setup, onSample };
}

/** What postings need besides the document itself, a sample of it does not have: details, and the addresses of pages. */
const canUseBeginning = ({ source: { format, details } }: FeedSetup): boolean =>
  details === undefined && format !== 'json-ld' && format !== 'html';

function sourceOf({ source }: FeedSetup, { path, isUpload }: KeptSample): FeedSetup['source'] {
  const from = { kind: 'file', path } as const;
  return isUpload ? { ...source, from } : { ...source, from, encoding: 'utf-8' };
}

export interface DraftPlan {
  readonly end: Extract<PlanEnd, { kind: 'planned' }>;
  /** The first ones. */
  readonly changes: readonly PlannedChange[];
  readonly counts: Readonly<Record<PlannedChange['operation'], number>>;
}

/** What a sync would send with the draft; nothing is changed. Otherwise why it can't be planned. */
export async function planDraft(
  { db, log }: Pick<App, 'db' | 'log'>,
  { mostChanges, ...request }: DraftRequest & { readonly mostChanges: number },
): Promise<DraftPlan | Exclude<PlanEnd, { kind: 'planned' }>> {
  const setup = setupOf(request);
  if (typeof setup === 'string') return { kind: 'failed', message: setup };
  const changes: PlannedChange[] = [];
  const counts = { create: 0, update: 0, delete: 0 };
  const end = await withinBounds(request, ({ signal, network }) =>
    planFeed(setup, { db, log, signal, network }, (line) => {
      if (line.operation === 'none') return;
      counts[line.operation]++;
      if (changes.length < mostChanges) changes.push(line);
    }),
  );
  if (typeof end === 'string') return { kind: 'failed', message: end };
  return end.kind === 'planned' ? { end, changes, counts } : end;
}

function setupOf({ config, feed }: DraftRequest): FeedSetup | string {
  const { setups, broken } = chooseFeeds(config, [feed]);
  const [setup] = setups;
  if (setup === undefined) return broken.map(({ message }) => message).join('; ');
  return { ...setup, source: { ...setup.source, from: withoutRetries(setup.source.from) } };
}

/** Somebody waits for the answer, and can ask again. */
function withoutRetries(from: FeedSetup['source']['from']): FeedSetup['source']['from'] {
  if (from.kind === 'http') return { ...from, retry: undefined };
  if (from.kind === 'pages') return { ...from, retry: { ...from.retry, attempts: 1 } };
  return from;
}

/** A text: it took too long. */
async function withinBounds<Result>(
  { publicOnly, signal }: DraftRequest,
  work: (context: {
    readonly signal: AbortSignal;
    readonly network: typeof publicNetwork | undefined;
  }) => Promise<Result>,
): Promise<Result | string> {
  const release = await slots.take();
  const timeout = AbortSignal.timeout(MOST_SECONDS * 1_000);
  try {
    const both = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    return await work({ signal: both, network: publicOnly ? publicNetwork : undefined });
  } catch (error) {
    signal?.throwIfAborted();
    if (!timeout.aborted) throw error;
    return `it took longer than ${MOST_SECONDS} seconds to read; the command line waits longer`;
  } finally {
    release?.();
  }
}
