// Resumes a paused site for somebody who asks for it, on a page or through the API.
import { describeMove } from '../apply/confirm-address.ts';
import type { SiteConfig } from '../config/config.ts';
import type { OperationContext } from '../operations/operation.ts';
import { tell } from '../plan/message.ts';
import { resumePausedSite, type SeenPause } from '../review/resume-paused-site.ts';
import { tokenDigests } from '../runtime/token-digests.ts';
import { addressOf } from '../site/base-address.ts';
import { findMove } from '../store/site/known-address.ts';
import { ProblemError } from './problem.ts';

/**
 * Returns whether it was paused.
 * @throws {ProblemError} 409 if its jobs were created at another address, or it is another pause than the one that was seen
 */
export async function resumeSiteFor(
  { app, control, actor }: OperationContext,
  { name, options }: SiteConfig,
  { emptied, seen }: { readonly emptied: boolean; readonly seen: Pick<SeenPause, 'since'> | undefined },
): Promise<boolean> {
  const address = addressOf(options);
  const move = await findMove(app.db, name, address);
  if (move !== undefined) {
    throw new ProblemError({ status: 409, detail: tell(describeMove(name, move), app.writeAction) });
  }
  const token = (await tokenDigests(app.db, app.config)).get(name);
  const end = await resumePausedSite(app.db, name, { actor, emptied, seen: seen && { ...seen, address, token } });
  if (end.kind === 'refused') throw new ProblemError({ status: 409, detail: end.message });
  control.wake();
  return end.wasPaused;
}
