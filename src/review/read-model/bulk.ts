// A bulk action as scripts see it.
import type { BulkRow, SkippedCount } from '../../store/review/bulk-actions.ts';

export function bulkJson(bulk: BulkRow, skipped: readonly SkippedCount[]) {
  const { id, action, actor, state, startedAt, touchedAt, total, done, remaining, detail } = bulk;
  return {
    bulk: id,
    action,
    actor,
    state,
    started_at: startedAt,
    touched_at: touchedAt,
    total,
    done,
    still_rejected: remaining,
    left_alone: bulk.skipped,
    to_do: total - done - bulk.skipped,
    reasons: [...skipped],
    waits_for: bulk.waitsFor,
    rule: bulk.rule,
    edit: detail.edit ?? null,
    reason: detail.reason ?? null,
    unattended: detail.unattended === true,
  };
}
