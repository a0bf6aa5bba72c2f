// Shows on a terminal which create in doubt would be sent again, and asks. Where nobody can be asked, only tells how to bind it.
import { messageOfReason } from '../plan/desired-change.ts';
import { excerpt } from '../posting/xml-characters.ts';
import { type CheckOptions, checkVerdict } from '../review/check-verdict.ts';
import { readDoubt, type ShownDoubt } from '../review/compare-doubt.ts';
import type { App } from '../runtime/app.ts';
import { UserError } from '../runtime/exit-status.ts';
import { ask, printNotice } from '../telemetry/print.ts';
import { formatTime } from '../telemetry/times.ts';
import type { WriteCommand } from './command-line.ts';
import { say } from './write-action.ts';

interface AskOptions {
  readonly site: CheckOptions['site'];
  readonly write: WriteCommand;
}

/**
 * Returns the version of the create to send again; `undefined`: it can't be, and deciding tells why. Throws a UserError if the
 * answer is no.
 */
export async function askToSendAgain(
  { db, config }: App,
  id: number,
  { site, write }: AskOptions,
): Promise<string | undefined> {
  const doubt = await readDoubt(db, config, id);
  if (doubt === undefined) return undefined;
  const { version } = doubt;
  const checked = await checkVerdict(db, id, { kind: 'missing' }, { site, version });
  if (checked.kind === 'refused') return version;
  const shown = describeDoubt(doubt, write).join('\n  ');
  const answer = await ask(
    `${shown}\nIf the site has made its job after all, the posting is there twice: look for it on the site first.\n` +
      'Has the site no job of this posting? [y/N] ',
  );
  if (answer === undefined) {
    const bound = write(['review', 'settle', String(id), '--missing', '--if-version', version]);
    printNotice(
      `warning: this decides about the create as it is now: ${shown}\nTo decide only about what you saw: ${bound}`,
    );
    return version;
  }
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new UserError('Nothing was sent again.');
  return version;
}

/** The posting, when it was sent, and what the site answered. */
function describeDoubt({ change, sent, startedAt, candidateIds }: ShownDoubt, write: WriteCommand): string[] {
  const { id, key, feed, site, reason } = change;
  const isFound = reason?.kind === 'found_on_site' || reason?.kind === 'resembles_on_site';
  const title = sent.title === undefined ? '' : `, "${excerpt(sent.title, 60)}"`;
  const why = reason === undefined ? [] : [`reason: ${say(messageOfReason(reason), write)}`];
  const note = reason?.note === undefined ? [] : [`last check for its job: ${reason.note}`];
  const known = candidateIds.map((job) => `job ${job}`).join(', ');
  return [
    `entry ${id}: posting ${excerpt(key, 60)} of feed ${feed}${title}, site ${site}`,
    `${isFound ? 'in doubt since' : 'sent at'} ${formatTime(startedAt)}`,
    ...why,
    ...note,
    ...(known === '' ? [] : [`jobs that it may have made: ${known}`]),
  ];
}
