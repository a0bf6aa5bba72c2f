// Carries out actions on many review entries that somebody started over HTTP, also those that an ended process left undone, and
// applies rules to the new entries of their groups.
import type { Config } from '../config/config.ts';
import { endsWithin } from '../flow/ends-within.ts';
import { startRounds } from '../flow/rounds.ts';
import { runBulk } from '../review/bulk/run-bulk.ts';
import { editableFeed } from '../review/plan-edit.ts';
import { startRules } from '../review/rules/apply-rules.ts';
import { type BulkKind, openUnattended, type UnattendedBulk } from '../store/review/bulk-actions.ts';
import type { App } from './app.ts';

export interface BulkRunner {
  /** Carries out this action now. */
  begin(id: number): void;
  /** Ends after the present batches; what is left is continued by another process, or the next time. */
  stop(graceMs: number): Promise<void>;
}

/** These need the settings of their feeds and sites: without them they would leave the entries alone for good. */
const BY_SETTINGS: ReadonlySet<BulkKind> = new Set(['edit', 'missing', 'check']);

const isForUs = (config: Config, { action, feeds }: UnattendedBulk): boolean =>
  !BY_SETTINGS.has(action) || feeds.every((feed) => typeof editableFeed(config, feed) !== 'string');

/** How long actions must have had no progress for another process to continue them. */
const LEFT_MS = 15_000;
/** How often to look for new entries of groups with rules, and for actions that were left. */
const EVERY_MS = 5_000;

/** @param wake changes became ready to be sent */
export function startBulkRunner({ db, config, log }: App, wake: () => void): BulkRunner {
  const stopping = new AbortController();
  const running = new Map<number, Promise<void>>();
  const begin = (id: number): void => {
    if (stopping.signal.aborted || running.has(id)) return;
    const run = runBulk(db, config, id, { signal: stopping.signal, onProgress: wake })
      .then((end) => {
        if (end?.bulk.state !== 'done') return;
        const { action, actor, done, skipped } = end.bulk;
        log.info({ bulk: id, action, actor, done, leftAlone: skipped }, 'action on many entries done');
      })
      .catch((error: unknown) =>
        log.error({ err: error, bulk: id }, 'action on many entries failed, will be continued'),
      )
      .finally(() => running.delete(id));
    running.set(id, run);
  };
  const rounds = startRounds(
    async () => {
      try {
        for (const id of await startRules(db, config, config.feeds.keys())) begin(id);
        for (const bulk of await openUnattended(db, LEFT_MS)) if (isForUs(config, bulk)) begin(bulk.id);
      } catch (error) {
        log.warn({ err: error }, 'actions on many entries could not be looked for, will be retried');
      }
    },
    { everyMs: EVERY_MS },
  );
  return {
    begin,
    async stop(graceMs) {
      stopping.abort();
      await endsWithin(Promise.all([rounds.stop(), ...running.values()]), graceMs);
    },
  };
}
