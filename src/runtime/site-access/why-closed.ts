// Tells why a command must not ask a site about its jobs.
import { describeMove, takeAddress } from '../../apply/confirm-address.ts';
import type { SiteConfig } from '../../config/config.ts';
import { type Message, messageOf, textOf } from '../../plan/message.ts';
import { addressOf } from '../../site/base-address.ts';
import { readSiteState, stateAt } from '../../store/site/site-state.ts';
import type { App } from '../app.ts';
import { tokenDigests } from '../token-digests.ts';

/**
 * The site is paused, or its jobs were made at another address; `undefined`: it may be asked. Records the address, as the
 * database is about to know jobs there.
 * @param otherwise another way to go on while it is paused.
 */
export async function whyClosed(
  { db, config }: App,
  { name, options }: SiteConfig,
  otherwise?: string,
): Promise<Message | undefined> {
  const address = addressOf(options);
  const taken = await takeAddress(db, name, address);
  if (taken.kind === 'moved') return describeMove(name, taken.move);
  const token = (await tokenDigests(db, config)).get(name);
  const { pausedSince, pauseCause } = stateAt(address, await readSiteState(db, name, token));
  if (pausedSince === undefined) return undefined;
  const cause = pauseCause === undefined ? '' : ` (${textOf(pauseCause)})`;
  return messageOf(`site ${name} is paused${cause} and was not asked: resume it with`, [
    { action: { kind: 'resume_site', site: name } },
    ...(otherwise === undefined ? [] : [{ words: otherwise }]),
  ]);
}
