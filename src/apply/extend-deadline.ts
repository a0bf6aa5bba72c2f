// Gives an update or delete more time if the site was slow to show its job: nothing was sent for it yet.
import { type Deadline, deadlineIn } from '../site/http/deadline.ts';
import type { Attempt } from '../store/change/attempt.ts';
import { renewAttempt } from '../store/change/claim.ts';
import { SEND_WITHIN_MS, type SiteContext } from './site-context.ts';

/** Returns until when the request may be sent; `undefined`: the attempt was given up meanwhile, so nothing may be sent. */
export async function extendDeadline(
  attempt: Attempt,
  { db }: SiteContext,
  notAfter: Deadline,
): Promise<Deadline | undefined> {
  if (attempt.request.kind === 'create' || !notAfter.passed()) return notAfter;
  const renewed = deadlineIn(SEND_WITHIN_MS);
  return (await renewAttempt(db, attempt)) ? renewed : undefined;
}
