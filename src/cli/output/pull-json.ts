// The JSON form of a pull, for scripts.

import type { PullRow } from '../../store/pull/pull-row.ts';
import type { WriteCommand } from '../command-line.ts';
import { say, sayAll } from '../write-action.ts';

/** Uses the names of `sync --json` for the values that both have. */
export function pullJson(pull: PullRow, write: WriteCommand): object {
  return {
    pull: pull.id,
    feed: pull.feed,
    status: pull.status,
    complete: pull.complete,
    started_at: pull.startedAt,
    finished_at: pull.finishedAt ?? null,
    seen: pull.seen,
    unchanged: pull.unchanged,
    duplicates: pull.duplicates,
    unreadable: pull.unreadable,
    gone: pull.gone,
    grace: pull.grace,
    discarded: pull.discarded,
    bytes: pull.bytes,
    duration_ms: pull.durationMs ?? null,
    shortfalls: pull.shortfalls.map((shortfall) => say(shortfall, write)),
    message: pull.notes.length === 0 ? null : sayAll(pull.notes, write),
  };
}
