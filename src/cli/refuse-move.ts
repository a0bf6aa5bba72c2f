// Refuses to act on a site whose jobs were made at another address than the one that is configured now.
import { describeMove } from '../../jobs/guard-address.ts';
import type { SiteConfig } from '../config/config.ts';
import { addressOf } from '../site/site-address.ts';
import { findMove } from '../store/site-address.ts';
import type { App } from './books.ts';
import { commandWriter, completeCommands } from './command-line.ts';
import { UserError } from './exit-status.ts';

/** @throws UserError that says where the jobs were made, how many, and the ways to go on. */
export async function refuseMove(
  { db }: Pick<App, 'db'>,
  { name, options }: SiteConfig,
  configFile: string | undefined,
): Promise<void> {
  const move = await findMove(db, name, addressOf(options.baseUrl));
  if (move !== undefined) throw new UserError(completeCommands(describeMove(name, move), commandWriter(configFile)));
}
