// A pull as scripts see it.
import { actionsOf, tell, tellAll, type WriteAction } from '../../plan/message.ts';
import type { CountedPull } from '../../store/pull/pull-history.ts';
import type { PullRow } from '../../store/pull/pull-row.ts';

/** Uses the names of `sync --json` for the values that both have. */
export function pullJson(pull: PullRow, write: WriteAction) {
  const { notes, shortfalls } = pull;
  return {
    pull: pull.id,
    feed: pull.feed,
    undoes: pull.undoes ?? null,
    status: pull.status,
    complete: pull.complete,
    started_at: pull.startedAt,
    finished_at: pull.finishedAt ?? null,
    seen: pull.seen,
    unchanged: pull.unchanged,
    duplicates: pull.duplicates,
    unreadable: pull.unreadable,
    skipped: pull.skipped,
    expired: pull.expired,
    gone: pull.gone,
    grace: pull.grace,
    discarded: pull.discarded,
    bytes: pull.bytes,
    duration_ms: pull.durationMs ?? null,
    weak: pull.weak ?? null,
    shortfalls: shortfalls.map((shortfall) => tell(shortfall, write)),
    message: notes.length === 0 ? null : tellAll(notes, write),
    actions: [...shortfalls, ...notes].flatMap(actionsOf),
  };
}

export function countedPullJson(pull: CountedPull, write: WriteAction) {
  const { created, updated, deleted, requests } = pull;
  return { ...pullJson(pull, write), created, updated, deleted, requests };
}
