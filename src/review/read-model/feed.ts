// The status of a feed as scripts see it.
import { actionsOf, type Message, tell, type WriteAction } from '../../plan/message.ts';
import type { ScheduleState } from '../../store/feed/feed-schedule.ts';
import type { LastVerify } from '../../store/feed/feed-verify.ts';
import type { PullHistory } from '../../store/pull/pull-history.ts';
import type { FeedOverview } from '../../store/status/feed-overview.ts';
import type { HealthCondition } from '../assess-health.ts';
import { pullJson } from './pull.ts';

/** A feed's overview, with its schedule and whether its held or in-doubt changes have waited too long. */
export interface FeedStatus extends FeedOverview {
  readonly configured: boolean;
  /** A running process has it in its configuration. */
  readonly served: boolean;
  /** Its schedule, as running processes recorded it; `undefined`: none. */
  readonly schedule: ScheduleState | undefined;
  readonly escalated: boolean;
  /** The last run of verify; `undefined`: none. */
  readonly verified: LastVerify | undefined;
  readonly history: PullHistory | undefined;
  /** What to know of jobs that were made since the backup from which the database was restored. */
  readonly restored: Message | undefined;
  /** `undefined`: it has no schedule. */
  readonly nextRun: Date | undefined;
}

const seconds = (ms: number | undefined): number | null => (ms === undefined ? null : Math.floor(ms / 1000));

export function feedJson(feed: FeedStatus, failing: readonly HealthCondition[], write: WriteAction) {
  const own = failing.filter((condition) => condition.feed === feed.feed);
  return {
    kind: 'feed',
    feed: feed.feed,
    site: feed.site,
    configured: feed.configured,
    retired: feed.retired,
    escalated: feed.escalated,
    live: feed.live,
    ready: feed.ready,
    sending: feed.sending,
    in_doubt: feed.in_doubt,
    held: feed.held,
    rejected: feed.rejected,
    failed: feed.failed,
    unreadable: feed.unreadable,
    duplicates: feed.duplicates,
    discarded: feed.discarded,
    hold_reason: feed.holdReason === undefined ? null : tell(feed.holdReason, write),
    rekey: feed.rekey === undefined ? null : tell(feed.rekey, write),
    restored: feed.restored === undefined ? null : tell(feed.restored, write),
    held_for_seconds: seconds(feed.heldForMs),
    in_doubt_for_seconds: seconds(feed.inDoubtForMs),
    schedule: feed.schedule?.pattern ?? null,
    next_run: feed.nextRun ?? null,
    last_run: feed.history?.lastRunAt ?? null,
    last_complete: feed.history?.lastComplete?.at ?? null,
    late_seconds: feed.schedule === undefined ? null : Math.floor(feed.schedule.lateMs / 1000),
    last_verify: feed.verified ?? null,
    warnings: feed.warnings,
    failing: own.map(({ message }) => tell(message, write)),
    actions: [
      ...actionsOf(feed.rekey ?? ''),
      ...actionsOf(feed.holdReason ?? ''),
      ...actionsOf(feed.restored ?? ''),
      ...own.flatMap(({ message }) => actionsOf(message)),
    ],
    last_pull: feed.lastPull === undefined ? null : pullJson(feed.lastPull, write),
  };
}
