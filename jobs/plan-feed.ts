// Plans one feed as a pull would, and rolls everything back: what would be sent, field by field. Sends and keeps nothing.
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { readFeed } from '../src/feed/read-feed.ts';
import { PullLedger } from '../src/plan/pull-ledger.ts';
import { readFeedState } from '../src/store/feed-state.ts';
import { lockKey, tryLock } from '../src/store/locks.ts';
import { countPlanned, type PlannedChange, plannedChanges } from '../src/store/planned-changes.ts';
import { PullBooks } from '../src/store/pull-books.ts';
import type { FeedSetup } from './feed-setup.ts';
import { prepareMerge } from './merge-pull.ts';
import type { PullContext } from './pull-feed.ts';
import { RecordDesk } from './record-desk.ts';
import { refuseFeed } from './refuse-feed.ts';

/** What planning a feed came to. */
export type PlanEnd =
  | {
      readonly kind: 'planned';
      readonly seen: number;
      readonly unchanged: number;
      readonly rejected: number;
      readonly unreadable: number;
      readonly duplicates: number;
      readonly shortfalls: readonly string[];
      readonly holdReason: string | undefined;
    }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'busy' };

/** No pull has this number. */
const NO_PULL = 0;

/**
 * Plans one feed. `print` gets each change as soon as the database is released: changes wait in a temporary file until
 * then, so that a slow reader of the output never holds up a worker.
 */
export async function planFeed(
  setup: FeedSetup,
  context: PullContext,
  print: (change: PlannedChange) => void | Promise<void>,
): Promise<PlanEnd> {
  const lock = await tryLock(context.db, lockKey('pull', setup.feed));
  if (lock === undefined) return { kind: 'busy' };
  const folder = await mkdtemp(join(tmpdir(), 'jobmirror-plan-'));
  try {
    const spool = join(folder, 'changes.jsonl');
    const end = await planInto(spool, setup, context);
    if (end.kind === 'planned') await printSpool(spool, print);
    return end;
  } finally {
    await rm(folder, { recursive: true, force: true });
    await lock.release();
  }
}

async function planInto(spool: string, setup: FeedSetup, context: PullContext): Promise<PlanEnd> {
  const { db, signal, onProgress } = context;
  const { feed, site, source, interpretation } = setup;
  const state = await readFeedState(db, feed);
  const refusal = await refuseFeed(db, state, setup);
  if (refusal !== undefined) return { kind: 'failed', message: refusal };
  const books = await PullBooks.open(db, { pull: NO_PULL, feed, site });
  try {
    const ledger = new PullLedger(await books.loadIndex(), interpretation);
    const desk = await RecordDesk.open(setup, books, ledger, db);
    const reading = await readFeed(source, desk, { signal, onProgress, readAheadBy: desk.readAheadBy });
    signal.throwIfAborted();
    if (reading.kind === 'failed') return reading;
    if (reading.kind === 'not_modified')
      return { kind: 'failed', message: 'the source answered "not modified" unasked' };
    await desk.finish();
    const { findings, holdReason } = await prepareMerge(setup, books, desk, reading);
    const out = createWriteStream(spool);
    for await (const change of plannedChanges(books.session, feed)) {
      if (!out.write(`${JSON.stringify(change)}\n`)) await once(out, 'drain');
    }
    out.end();
    await once(out, 'close');
    return { kind: 'planned', ...findings, ...(await countPlanned(books.session, feed)), holdReason };
  } finally {
    await books.abandon();
  }
}

async function printSpool(spool: string, print: (change: PlannedChange) => void | Promise<void>): Promise<void> {
  await pipeline(createReadStream(spool, 'utf8'), async (chunks: AsyncIterable<string>) => {
    let rest = '';
    for await (const chunk of chunks) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) await print(JSON.parse(line) as PlannedChange);
    }
  });
}
