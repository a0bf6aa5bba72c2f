// Tries and plans the text of a feed before it is saved, within bounds that a browser can wait for.
import { randomBytes } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Config } from '../config/config.ts';
import { completeSave } from '../config/feed-files.ts';
import type { Network } from '../feed/source/sources.ts';
import { semaphoreFor } from '../flow/semaphore.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { FeedSetup } from '../pull/feed-setup.ts';
import { type PlanEnd, planFeed } from '../pull/preview/dry-run.ts';
import { type Trial, tryFeed } from '../pull/preview/try-feed.ts';
import type { PlannedChange } from '../store/backlog/planned-changes.ts';
import { findUpload } from '../store/feed/feed-uploads.ts';
import type { App } from './app.ts';
import { setupOfFeed } from './feed-setups.ts';

interface DraftRequest {
  /** A configuration that has the draft as this feed. */
  readonly config: Config;
  readonly feed: FeedName;
  /** Where its source may be; `undefined`: anywhere. */
  readonly network: Network | undefined;
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
  db,
  sample,
  samples,
  onlySample,
  piped = false,
  ...request
}: DraftRequest & {
  /** Has what was uploaded. */
  readonly db: App['db'];
  readonly sample: KeptSample | undefined;
  /** How many postings are shown. */
  readonly samples: number;
  /** Why the source must not be read; `undefined`: it may. */
  readonly onlySample: string | undefined;
  /** The sample came through a pipe, which may have ended in the middle. */
  readonly piped?: boolean;
}): Promise<FeedTrial | string> {
  const setup = setupOf(request);
  if (typeof setup === 'string') return setup;
  const onSample = sample !== undefined && (sample.isUpload || canUseBeginning(setup));
  if (!onSample && onlySample !== undefined) return onlySample;
  const read = onSample ? { ...setup, source: sourceOf(setup, sample) } : setup;
  const used = piped && onSample ? { ...read, source: { ...read.source, from: { kind: 'stdin' } as const } } : read;
  const { network } = request;
  const uploads = async (feed: string) => {
    await completeSave(db, request.feed, request.config.feedFiles.get(request.feed));
    return findUpload(db, feed as FeedName);
  };
  const trial = await withinBounds(request, (signal) =>
    tryFeed(used, {
      signal,
      network,
      uploads,
      samples,
      showsRecords: true,
      mostBytes: MOST_BYTES,
      ...(piped && onSample ? { stdin: Readable.from(bytesOf(sample)) } : {}),
    }),
  );
  return { trial: typeof trial === 'string' ? { kind: 'failed', message: trial } : trial, setup, onSample };
}

/** Opens the file when it is read: one that is gone by then fails the reading alone. */
async function* bytesOf({ path }: KeptSample): AsyncGenerator<Buffer> {
  yield* createReadStream(path);
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
  {
    mostChanges,
    sample,
    ...request
  }: DraftRequest & {
    readonly mostChanges: number;
    /** An uploaded one is read instead of the source. */
    readonly sample: KeptSample | undefined;
  },
): Promise<DraftPlan | Exclude<PlanEnd, { kind: 'planned' }>> {
  const setup = setupOf(request);
  if (typeof setup === 'string') return { kind: 'failed', message: setup };
  const changes: PlannedChange[] = [];
  const counts = { create: 0, update: 0, delete: 0 };
  const { network } = request;
  const read = sample?.isUpload === true ? { ...setup, source: sourceOf(setup, sample) } : setup;
  const end = await withinBounds(request, (signal) =>
    planFeed(read, { db, log, signal, network }, (line) => {
      if (line.operation === 'none') return;
      counts[line.operation]++;
      if (changes.length < mostChanges) changes.push(line);
    }),
  );
  if (typeof end === 'string') return { kind: 'failed', message: end };
  return end.kind === 'planned' ? { end, changes, counts } : end;
}

function setupOf({ config, feed }: DraftRequest): FeedSetup | string {
  const setup = setupOfFeed(config, feed);
  if (typeof setup === 'string') return setup;
  // What was uploaded is read as the draft says, whatever the file has.
  const file = setup.file && { ...setup.file, isAsRead: async () => true };
  return { ...setup, file, source: { ...setup.source, from: withoutRetries(setup.source.from) } };
}

/** Somebody waits for the answer, and can ask again. */
function withoutRetries(from: FeedSetup['source']['from']): FeedSetup['source']['from'] {
  if (from.kind === 'http') return { ...from, retry: undefined };
  if (from.kind === 'pages') return { ...from, retry: { ...from.retry, attempts: 1 } };
  return from;
}

/** A text: it took too long. */
async function withinBounds<Result>(
  { signal }: DraftRequest,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | string> {
  const release = await slots.take();
  const timeout = AbortSignal.timeout(MOST_SECONDS * 1_000);
  try {
    const both = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
    return await work(both);
  } catch (error) {
    signal?.throwIfAborted();
    if (!timeout.aborted) throw error;
    return `it took longer than ${MOST_SECONDS} seconds to read; the command line waits longer`;
  } finally {
    release?.();
  }
}

// Keeps samples of feeds for those who set them up: uploaded files, and the beginnings of sources. Each has a random name, which only who
// kept it may use, and is removed after a while.

export interface KeptSample {
  readonly id: string;
  /** The name of the uploaded file, or the address of the source, for people. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  /** As somebody uploaded it; otherwise the beginning of a source, unpacked and in UTF-8. */
  readonly isUpload: boolean;
  /** It is the whole document. */
  readonly isWhole: boolean;
}

interface Kept extends KeptSample {
  readonly actor: string;
  usedAtMs: number;
}

export const MOST_SAMPLE_BYTES = 32 * 1024 * 1024;
const MOST_SAMPLES = 40;
const MOST_KEPT_BYTES = 256 * 1024 * 1024;
const LIFE_MS = 2 * 3_600_000;

let folder: Promise<string> | undefined;
const samples = new Map<string, Kept>();

async function makeFolder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'jobmirror-samples-'));
  process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** `undefined`: it is too large. */
export async function keepSample(
  bytes: Buffer,
  { actor, ...described }: Pick<Kept, 'actor' | 'name' | 'isUpload' | 'isWhole'>,
): Promise<KeptSample | undefined> {
  if (bytes.length > MOST_SAMPLE_BYTES) return undefined;
  folder ??= makeFolder();
  const id = randomBytes(18).toString('base64url');
  const path = join(await folder, id);
  await writeFile(path, bytes, { mode: 0o600, flag: 'wx' });
  samples.set(id, { ...described, id, path, bytes: bytes.length, actor, usedAtMs: performance.now() });
  await removeOld();
  return samples.get(id);
}

/** `undefined`: there is none by that name, or none of theirs. */
export async function findSample(id: string, actor: string): Promise<KeptSample | undefined> {
  await removeOld();
  const kept = samples.get(id);
  if (kept === undefined || kept.actor !== actor) return undefined;
  kept.usedAtMs = performance.now();
  return kept;
}

/** @throws {Error} if it was removed meanwhile */
export const readSample = ({ path }: KeptSample): Promise<Buffer> => readFile(path);

/** Those whose time is over, and beyond the bounds those that were not used for longest. */
async function removeOld(): Promise<void> {
  const byUse = [...samples.values()].sort((a, b) => b.usedAtMs - a.usedAtMs);
  const oldestMs = performance.now() - LIFE_MS;
  let bytes = 0;
  for (const [at, kept] of byUse.entries()) {
    bytes += kept.bytes;
    if (at < MOST_SAMPLES && (at === 0 || bytes <= MOST_KEPT_BYTES) && kept.usedAtMs > oldestMs) continue;
    samples.delete(kept.id);
    await rm(kept.path, { force: true });
  }
}
