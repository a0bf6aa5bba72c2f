// Concludes pulls whose process has ended before it could: whoever reads such a pull, or maintains its site, finds that.
import { AccountingError } from '../../plan/accounting.ts';
import type { Message } from '../../plan/message.ts';
import type { FeedName } from '../../posting/identifiers.ts';
import { lockKey } from '../locks/advisory-locks.ts';
import { HELD_KEYS } from '../locks/processes.ts';
import { type Database, IS_WRITABLE } from '../postgres/database.ts';
import { toJsonb } from '../postgres/jsonb.ts';
import type { PullStatus } from '../pull/pull-row.ts';
import { notesOfState, statusOfPull, summarisePull } from './pull-summary.ts';

interface RunningPull {
  readonly id: number;
  readonly feed: FeedName;
  readonly committed: boolean;
  /** It is no pull of the source, but the undo of one. */
  readonly isUndo: boolean;
  /** Nothing of its feed is being sent, and nothing was for a while. */
  readonly idle: boolean;
}

/** A process that reports on a pull while it sends pauses for less; if it pauses for longer, its own report replaces this one. */
const IDLE_SECONDS = 60;
const ENDED = 'the process ended during the pull';
/** Until the rest has been sent, by whatever process. */
const LEFT = 'the process ended before everything was sent';

/**
 * A process holds the lock of a feed from before its pull begins until it is committed or has failed.
 *
 * | the pull       | lock of its feed | changes are left                   | becomes                                |
 * | -------------- | ---------------- | ---------------------------------- | -------------------------------------- |
 * | any            | held             | any                                | it is running                          |
 * | not committed  | free             |                                    | failed                                 |
 * | committed      | free             | none                               | as its postings are: mirrored, review… |
 * | committed      | free             | some, and one was sent a while ago | it is running                          |
 * | committed      | free             | some, and none was sent for long   | pending, until nothing is left         |
 *
 * @param of only pulls of this feed
 */
export async function concludeAbandonedPulls(db: Database, of?: FeedName): Promise<void> {
  const running = await readRunning(db, of);
  if (running.length === 0) return;
  const held = new Set((await db.query<{ key: string }>(HELD_KEYS)).map(({ key }) => key));
  for (const pull of running) {
    if (held.has(lockKey('pull', pull.feed)) || held.has(lockKey('details', pull.feed))) continue;
    await conclude(db, pull, pull.idle);
  }
}

/** The caller holds the feed's lock, for a pull that takes over what these have left. */
export async function concludeFormerPulls(db: Database, feed: FeedName, current: number): Promise<void> {
  for (const pull of await readRunning(db, feed)) if (pull.id < current) await conclude(db, pull, true);
}

const readRunning = (db: Database, of: FeedName | undefined): Promise<RunningPull[]> =>
  db.query<RunningPull>(
    `select id, feed, committed_at is not null as committed, undoes is not null as "isUndo",
       coalesce(committed_at < now() - interval '${IDLE_SECONDS} seconds', false)
         and not exists (select from change c where c.feed = p.feed and c.state = 'sending')
         and not exists (select from request r where r.at > now() - interval '${IDLE_SECONDS} seconds' and r.feed = p.feed) as idle
     from pull p where (status = 'running' or status = 'pending' and taken_over_by is null and notes = $2::jsonb)
       and ($1::text is null or feed = $1) and ${IS_WRITABLE} order by id`,
    [of ?? null, toJsonb([LEFT])],
  );

async function conclude(db: Database, { id, committed, isUndo }: RunningPull, mayBePending: boolean): Promise<void> {
  const { status, notes } = committed ? await stateNow(db, id, isUndo) : { status: 'failed', notes: [] };
  if (status === 'pending' && !mayBePending) return;
  await db.query(
    `update pull set status = $2, notes = $3, finished_at = coalesce(finished_at, now())
     where id = $1 and status in ('running', 'pending') and status <> $2`,
    [id, status, toJsonb(status === 'failed' ? [ENDED] : status === 'pending' ? [LEFT] : notes)],
  );
}

/** Counts that do not add up are reported where the feed is mirrored; here they must not keep others from going on. */
async function stateNow(
  db: Database,
  pull: number,
  isUndo: boolean,
): Promise<{ readonly status: PullStatus; readonly notes: readonly Message[] }> {
  try {
    const state = await summarisePull(db, pull);
    const status = statusOfPull(state, isUndo ? 'undone' : 'committed', state.unsent > 0);
    return { status, notes: notesOfState(state) };
  } catch (error) {
    if (error instanceof AccountingError) return { status: 'pending', notes: [] };
    throw error;
  }
}
