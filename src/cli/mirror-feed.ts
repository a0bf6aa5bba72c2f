// Mirrors one feed once: pulls it, has its changes sent, and reports what became of each posting.
import type { FeedSetup } from '../../jobs/feed-setup.ts';
import { type PullEnd, pullFeed } from '../../jobs/pull-feed.ts';
import { countUnsent } from '../store/standing.ts';
import { awaitQuiet } from './await-quiet.ts';
import type { Books } from './books.ts';
import type { Engine } from './engine.ts';
import { formatBytes, formatSeconds, type Progress } from './progress.ts';
import { type PullReport, reportPull } from './pull-report.ts';

export interface MirrorOptions {
  readonly signal: AbortSignal;
  readonly progress?: Progress;
}

const BUSY_RETRY_MS = 1_000;

/**
 * Pulls, sends and reports one feed. Waits while another process pulls the same feed.
 * @param sending starts sending, or gives what sends already. It is asked for once the pull has ended, so that what was
 * left over is sent as the feed wants it now, and counts towards this pull.
 */
export async function mirrorFeed(
  books: Books,
  sending: () => Promise<Engine>,
  setup: FeedSetup,
  options: MirrorOptions,
): Promise<PullReport> {
  const startedAt = performance.now();
  const end = await pullWhenFree(books, setup, options);
  const engine = await sending();
  engine.wake();
  const waiting = await sendAll(books, engine, setup, options);
  return reportPull(books.db, setup.feed, end, waiting, performance.now() - startedAt);
}

async function pullWhenFree(
  books: Books,
  setup: FeedSetup,
  { signal, progress }: MirrorOptions,
): Promise<Exclude<PullEnd, { kind: 'busy' }>> {
  const startedAt = performance.now();
  for (;;) {
    const end = await pullFeed(setup, {
      db: books.db,
      log: books.log,
      signal,
      onProgress: ({ bytes, records, compressedBytes, totalCompressedBytes }) => {
        const seconds = (performance.now() - startedAt) / 1000;
        const share = totalCompressedBytes === undefined ? undefined : compressedBytes / totalCompressedBytes;
        const left = share === undefined || share === 0 ? '' : `, ${formatSeconds(seconds / share - seconds)} left`;
        progress?.show(
          `${setup.feed}: reading, ${records} records, ${formatBytes(bytes)}, ${formatBytes(bytes / seconds)}/s${left}`,
        );
      },
    });
    if (end.kind !== 'busy') return end;
    progress?.show(`${setup.feed}: another process pulls this feed, waiting for it`);
    signal.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS));
  }
}

async function sendAll(
  books: Books,
  engine: Engine,
  setup: FeedSetup,
  { signal, progress }: MirrorOptions,
): Promise<string | undefined> {
  const startedAt = performance.now();
  const first = progress === undefined ? 0 : await countUnsent(books.db, [setup.feed]);
  const onLook = async () => {
    if (progress === undefined) return;
    const left = await countUnsent(books.db, [setup.feed]);
    const seconds = (performance.now() - startedAt) / 1000;
    const rate = (first - left) / seconds;
    const estimate = rate > 0 ? `, ${formatSeconds(left / rate)} left` : '';
    progress.show(`${setup.feed}: sending, ${left} of ${first} left, ${rate.toFixed(0)}/s${estimate}`);
  };
  const rest = await awaitQuiet(books, engine, setup.site, [setup.feed], { signal, onLook });
  return rest.kind === 'waiting' ? rest.message : undefined;
}
