// Limits this process to the rate that the site has taught, which all processes share through the database.
import { pause } from '../flow/pause.ts';
import { type RateLimiter, rateLimiterFor } from '../flow/rate-limiter.ts';
import type { SiteName } from '../posting/identifiers.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { hasLearntRate, takeSiteSlot } from '../store/site/site-state.ts';

/** How often the database is asked for a learnt rate while none is known. */
const CHECK_EVERY_MS = 1_000;
/** Slots further away than this are not reserved yet. */
const NEAR_MS = 2_000;
/** `spend` reserves a slot however far away it is. */
const FAR_MS = 3_600_000;

const NEVER = new AbortController().signal;

/**
 * Also limits the process to the configured rate, whatever the site has taught.
 * @param isStopping once it returns true, nobody waits any longer.
 */
export function learntRateLimiter(
  db: Queryable,
  { name: site, requestsPerSecond }: { readonly name: SiteName; readonly requestsPerSecond: number },
  isStopping: () => boolean = () => false,
): RateLimiter {
  const local = rateLimiterFor(requestsPerSecond);
  let learnt = false;
  let checkedAt = Number.NEGATIVE_INFINITY;

  async function isLearnt(): Promise<boolean> {
    if (!learnt && performance.now() - checkedAt >= CHECK_EVERY_MS) {
      checkedAt = performance.now();
      learnt = await hasLearntRate(db, site);
    }
    return learnt;
  }

  /** Milliseconds until the caller may continue, and whether it has its slot then. */
  async function ask(nearMs: number): Promise<{ inMs: number; given: boolean }> {
    try {
      if (!(await isLearnt())) return { inMs: 0, given: true };
      const slot = await takeSiteSlot(db, site, requestsPerSecond, nearMs);
      if (slot !== undefined) return slot;
      learnt = false;
    } catch {
      // Without the database nothing can be claimed, so nothing is sent.
    }
    return { inMs: 0, given: true };
  }

  return {
    async take(signal = NEVER) {
      await local.take(signal);
      while (!signal.aborted && !isStopping()) {
        const { inMs, given } = await ask(NEAR_MS);
        if (inMs > 0) await pause(Math.min(inMs, NEAR_MS), signal);
        if (given) return;
      }
    },
    spend() {
      local.spend();
      void ask(FAR_MS);
    },
    slowDown() {
      checkedAt = Number.NEGATIVE_INFINITY;
    },
  };
}
