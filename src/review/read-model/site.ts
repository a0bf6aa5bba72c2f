// The status of a site as scripts see it.
import { actionsOf, type Message, tell, type WriteAction } from '../../plan/message.ts';
import type { LiveProcess } from '../../store/locks/processes.ts';
import type { ReferenceState } from '../../store/site/kept-values.ts';
import type { Move } from '../../store/site/known-address.ts';
import type { RefusedToken } from '../../store/site/refused-token.ts';
import type { SiteState } from '../../store/site/site-state.ts';
import type { HealthCondition } from '../assess-health.ts';
import { siteStatusOf } from '../site-status.ts';

/** The status of one site. */
export interface SiteOverview {
  readonly state: SiteState;
  /** Orphan site jobs that are still to be deleted. */
  readonly orphans: number;
  /** Tokens of other processes that the site refuses. */
  readonly otherRefused?: readonly RefusedToken[];
  /** Running processes that use one of these tokens. */
  readonly refusedProcesses?: readonly LiveProcess[];
  /** Present if its jobs were created at another address than the configured one. */
  readonly move: Move | undefined;
  /** Whether it keeps `reference_field`; `undefined`: none is configured. */
  readonly references?: ReferenceState | undefined;
  /** What people should know of that. */
  readonly referenceNote?: Message | undefined;
  /** For an hour, it has answered every request that it asks to wait. */
  readonly asksToWait: boolean;
}

/** What applies to all sites. */
export interface AroundSites {
  /** Number of processes that send. */
  readonly workers: number;
  /** How the configurations of running processes differ; `undefined`: they do not. */
  readonly differences: string | undefined;
  readonly failing: readonly HealthCondition[];
}

export function siteJson(
  { state, orphans, move, otherRefused, references }: SiteOverview,
  { workers, differences, failing }: AroundSites,
  write: WriteAction,
) {
  const from = (ms: number | undefined) => (ms === undefined ? null : new Date(Date.now() + Math.max(0, ms)));
  const own = failing.filter(({ site }) => site === state.site);
  return {
    kind: 'site',
    site: state.site,
    state: siteStatusOf(state),
    paused_since: state.pausedSince ?? null,
    pause_cause: state.pauseCause === undefined ? null : tell(state.pauseCause, write),
    next_probe: from(state.probeInMs),
    waits_until: state.waitsMs > 0 ? from(state.waitsMs) : null,
    learnt_requests_per_second: state.learntRate ?? null,
    token_refused: state.tokenRefused,
    other_refused_tokens: (otherRefused ?? []).map(({ since, notedBy }) => ({ since, noted_by: notedBy })),
    unreachable_streak: state.unreachableStreak,
    last_message: state.lastMessage === undefined ? null : tell(state.lastMessage, write),
    address: state.address ?? null,
    moved_to: move?.to ?? null,
    orphans,
    references: references ?? null,
    workers,
    configurations_differ: differences ?? null,
    failing: own.map(({ message }) => tell(message, write)),
    actions: actionsOf(state.pauseCause ?? ''),
  };
}
