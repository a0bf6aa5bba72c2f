// Reduces a site's recorded state to one word.
import type { SiteState } from '../store/site/site-state.ts';

/** `paused`: until the site answers a probe or a person resumes it; the other states end by themselves. */
export type SiteStatus = 'sending' | 'paused' | 'out_of_reach' | 'waiting';

export function siteStatusOf(state: SiteState): SiteStatus {
  if (state.pausedSince !== undefined) return 'paused';
  if (state.unreachableStreak > 0) return 'out_of_reach';
  return state.waitsMs > 0 ? 'waiting' : 'sending';
}
