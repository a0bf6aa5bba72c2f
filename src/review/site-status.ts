// Turns what the books know of a site into the one word for how it stands.
import type { SiteState } from '../store/site/site-state.ts';

/** `paused`: until it answers a probe, or a person resumes it; the others pass by themselves. */
export type SiteStatus = 'sending' | 'paused' | 'out_of_reach' | 'waiting';

export function siteStatusOf(state: SiteState): SiteStatus {
  if (state.pausedSince !== undefined) return 'paused';
  if (state.unreachableStreak > 0) return 'out_of_reach';
  return state.waitsMs > 0 ? 'waiting' : 'sending';
}
