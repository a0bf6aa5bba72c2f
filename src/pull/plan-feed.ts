// Plans one feed as a pull would, reports what would be sent, and rolls everything back.
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { readFeed } from '../feed/read-feed.ts';
import type { Message } from '../plan/message.ts';
import type { CommonReason } from '../plan/nothing-mirrored.ts';
import type { FeedName } from '../posting/identifiers.ts';
import {
  commonReason,
  countPlanned,
  type PlannedChange,
  plannedChanges,
  type UnsentPosting,
  unsentPostings,
} from '../store/backlog/planned-changes.ts';
import { readFeedState } from '../store/feed/feed-state.ts';
import { lockFeed } from '../store/locks/feed-locks.ts';
import type { Session } from '../store/postgres/database.ts';
import { PullTransaction } from '../store/pull/pull-transaction.ts';
import { clearRecordProblems, noteUnreadable, type UnreadableRecords } from '../store/pull/record-problems.ts';
import type { FeedSetup, PullContext } from './feed-setup.ts';
import { prepareMerge } from './merge-pull.ts';
import { RecordPlanner } from './record-planner.ts';
import { refuseFeed } from './refuse-feed.ts';

/** The result of planning a feed. */
export type PlanEnd =
  | {
      readonly kind: 'planned';
      readonly seen: number;
      readonly unchanged: number;
      readonly rejected: number;
      readonly failed: number;
      readonly discarded: number;
      readonly inDoubt: number;
      readonly unreadable: number;
      readonly duplicates: number;
      readonly skipped: number;
      /** Live site jobs of the feed. */
      readonly live: number;
      /** The most frequent reason for not sending a posting. */
      readonly common: CommonReason | undefined;
      readonly shortfalls: readonly Message[];
      readonly holdReason: Message | undefined;
    }
  | { readonly kind: 'failed'; readonly message: Message }
  | { readonly kind: 'busy' };

/** Not the number of any pull. */
const NO_PULL = 0;

/** One line of a printed plan: first each change, then each posting or record that is not sent. */
export type PlanLine = PlannedChange | UnsentPosting;

/**
 * Plans one feed. `print` receives the lines once the database is released. Until then they are in a temporary file,
 * because a slow reader of the output must never hold up a worker.
 */
export async function planFeed(
  setup: FeedSetup,
  context: PullContext,
  print: (line: PlanLine) => void | Promise<void>,
): Promise<PlanEnd> {
  const lock = await lockFeed(context.db, setup.feed);
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
  const { feed, site, source } = setup;
  const state = await readFeedState(db, feed);
  const refusal = await refuseFeed(db, state, setup);
  if (refusal !== undefined) return { kind: 'failed', message: refusal };
  const pullTx = await PullTransaction.open(db, { pull: NO_PULL, feed, site });
  try {
    const recordPlanner = await RecordPlanner.open(setup, pullTx, db);
    const reading = await readFeed(source, recordPlanner, {
      signal,
      onProgress,
      prefetchMapping: recordPlanner.prefetchMapping,
    });
    signal.throwIfAborted();
    if (reading.kind === 'failed') return reading;
    if (reading.kind === 'not_modified')
      return { kind: 'failed', message: 'the source answered "not modified" to an unconditional request' };
    await recordPlanner.finish();
    const { findings, holdReason } = await prepareMerge(setup, pullTx, recordPlanner, reading);
    const { records } = recordPlanner.unusable.unreadable();
    // Replace the entries within the rolled-back transaction, so only the records of this reading are counted.
    await clearRecordProblems(pullTx.session, feed, { unreadable: [], others: [] });
    await noteUnreadable(
      pullTx.session,
      feed,
      NO_PULL,
      records.map((each) => ({ records: each, entry: undefined })),
    );
    await spoolLines(spool, planLines(pullTx.session, feed, records));
    const counts = await countPlanned(pullTx.session, feed);
    const common = await commonReason(pullTx.session, feed);
    return { kind: 'planned', ...findings, ...counts, common, holdReason };
  } finally {
    await pullTx.abandon();
  }
}

async function* planLines(
  session: Session,
  feed: FeedName,
  unreadable: readonly UnreadableRecords[],
): AsyncGenerator<PlanLine> {
  yield* plannedChanges(session, feed);
  yield* unsentPostings(session, feed);
  for (const { key, problems, excerpt, count } of unreadable) {
    const reason = problems.map(({ message }) => message).join('; ');
    yield {
      feed,
      key: key ?? null,
      operation: 'none',
      fields: {},
      kind: 'unreadable',
      reason,
      problems,
      excerpt,
      records: count,
    };
  }
}

async function spoolLines(spool: string, lines: AsyncIterable<PlanLine>): Promise<void> {
  const out = createWriteStream(spool);
  for await (const line of lines) {
    if (!out.write(`${JSON.stringify(line)}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'close');
}

async function printSpool(spool: string, print: (line: PlanLine) => void | Promise<void>): Promise<void> {
  await pipeline(createReadStream(spool, 'utf8'), async (chunks: AsyncIterable<string>) => {
    let rest = '';
    for await (const chunk of chunks) {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) await print(JSON.parse(line) as PlanLine);
    }
  });
}
