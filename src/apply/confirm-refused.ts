// Double-checks a site that says "not authorised": it may say so of one job although it accepts the token.
import type { Outcome } from '../site/exchange.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { wasRefusedAlone } from '../store/site/recent-requests.ts';
import type { SiteContext } from './site-context.ts';

/**
 * Returns the outcome unchanged; or `forbidden` if the site has answered 401 for the posting before and has accepted other changes since.
 * A create that a list has shown as not made stays in doubt: the list may have been read without the rights of the token.
 * Otherwise each such posting would pause its site again whenever it is resumed.
 */
export async function confirmRefused(outcome: Outcome, attempt: Attempt, { db, site }: SiteContext): Promise<Outcome> {
  if (outcome.kind !== 'unauthorized' || attempt.wasDoubted === true) return outcome;
  const isAlone = await wasRefusedAlone(db, site, attempt).catch(() => false);
  if (!isAlone) return outcome;
  const message =
    'The site answered 401 again, and has accepted other changes since the first time: it refuses this one, not the token';
  return { kind: 'forbidden', problems: [{ message }] };
}
