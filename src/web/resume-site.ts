// Resumes a paused site for somebody who asks for it, on a page or through the API.
import { describeMove } from '../apply/confirm-address.ts';
import type { SiteConfig } from '../config/config.ts';
import { tell } from '../plan/message.ts';
import { resumePausedSite } from '../review/resume-paused-site.ts';
import { addressOf } from '../site/base-address.ts';
import { findMove } from '../store/site/known-address.ts';
import { ProblemError } from './problem.ts';
import type { PullAsker } from './start-pull.ts';

/** Returns whether it was paused. @throws {ProblemError} 409 if its jobs were created at another address */
export async function resumeSiteFor(
  { app, control, actor }: PullAsker,
  { name, options }: SiteConfig,
  emptied: boolean,
): Promise<boolean> {
  const move = await findMove(app.db, name, addressOf(options.baseUrl));
  if (move !== undefined) {
    throw new ProblemError({ status: 409, detail: tell(describeMove(name, move), app.writeAction) });
  }
  const wasPaused = await resumePausedSite(app.db, name, { actor, emptied });
  control.wake();
  return wasPaused;
}
