// Refuses to act on a site whose jobs were created at another address than the configured one.
import { describeMove } from '../apply/confirm-address.ts';
import type { SiteConfig } from '../config/config.ts';
import type { App } from '../runtime/app.ts';
import { UserError } from '../runtime/exit-status.ts';
import { addressOf } from '../site/base-address.ts';
import { findMove } from '../store/site/known-address.ts';
import { commandWriter } from './command-line.ts';
import { say } from './write-action.ts';

/** @throws UserError with the address where the jobs were created, their number, and the ways to go on. */
export async function refuseMove(
  { db }: Pick<App, 'db'>,
  { name, options }: SiteConfig,
  configFile: string | undefined,
): Promise<void> {
  const move = await findMove(db, name, addressOf(options));
  if (move !== undefined) throw new UserError(say(describeMove(name, move), commandWriter(configFile)));
}
