// Shows on a terminal which held deletes would be approved, and asks. Where nobody can be asked, only tells how to bind it.
import { textOf } from '../plan/message.ts';
import { plural } from '../plan/plural.ts';
import type { FeedName } from '../posting/identifiers.ts';
import { excerpt } from '../posting/xml-characters.ts';
import { configuredFeeds } from '../review/configured-policy.ts';
import { changeVersion } from '../review/entry-version.ts';
import type { App } from '../runtime/app.ts';
import { UserError } from '../runtime/exit-status.ts';
import { countHeld, type HeldCount } from '../store/change/act-in-review.ts';
import { readChanges } from '../store/change/open-change.ts';
import type { Queryable } from '../store/postgres/database.ts';
import { type HeldDelete, heldReasons, readHeldDeletes } from '../store/review/held-deletes.ts';
import { ask, printNotice } from '../telemetry/print.ts';
import type { WriteCommand } from './command-line.ts';

/** The deletes that the person agreed to, and no others. Empty: nobody was asked. */
export interface AgreedDeletes {
  readonly expectDeletes?: readonly HeldCount[];
  /** Of the named entries. */
  readonly version?: ReadonlyMap<number, string>;
}

interface ToApprove {
  readonly feeds: readonly FeedName[];
  readonly ids: readonly number[];
}

/** Throws a UserError if the answer is no. */
export async function askToApprove(
  { db, config }: Pick<App, 'db' | 'config'>,
  { feeds, ids }: ToApprove,
  write: WriteCommand,
): Promise<AgreedDeletes> {
  const held = await countHeld(db, feeds, configuredFeeds(config, feeds));
  const version = await versionsOf(db, ids);
  const named = await readHeldDeletes(db, ids);
  if (held.length === 0 && named.length === 0) return {};
  const lines = named.length === 0 ? [] : describeNamed(named);
  for (const each of held) lines.push(...(await describeHeld(db, each)));
  const answer = await ask(`${lines.join('\n')}\nDelete them? [y/N] `);
  if (answer === undefined) {
    for (const { feed, n } of held) {
      const bound = write(['review', 'approve', feed, '--count', String(n)]);
      printNotice(
        `warning: this approves whatever is held for feed ${feed} now. To approve only what you saw: ${bound}`,
      );
    }
    for (const { id } of named.slice(0, SHOWN)) {
      const bound = write(['review', 'approve', String(id), '--if-version', version.get(id) ?? '']);
      printNotice(
        `warning: this approves the delete of entry ${id} as it is now. To approve only what you saw: ${bound}`,
      );
    }
    return {};
  }
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new UserError('Nothing was approved.');
  return { ...(feeds.length === 0 ? {} : { expectDeletes: held }), ...(ids.length === 0 ? {} : { version }) };
}

/** Deletes that are named one by one, or told how to bind. */
const SHOWN = 20;

/** Of all that are open: one that is not held yet may be by the time of the answer. */
async function versionsOf(db: Queryable, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const changes = await readChanges(db, ids);
  return new Map([...changes].map(([id, change]) => [id, changeVersion(change)]));
}

function describeNamed(named: readonly HeldDelete[]): string[] {
  return [
    `This deletes ${plural(named.length, 'job')}:`,
    ...named.slice(0, SHOWN).map(({ id, ...shown }) => `${lineOf(shown)}  (entry ${id})`),
    ...(named.length > SHOWN ? [`    … and ${named.length - SHOWN} more`] : []),
  ];
}

const lineOf = ({ key, title }: Pick<HeldDelete, 'key' | 'title'>): string =>
  `    ${excerpt(key, 60)}${title === null ? '' : `  ${excerpt(title, 60)}`}`;

async function describeHeld(db: Queryable, { feed, n, examples }: HeldCount): Promise<string[]> {
  const reasons = await heldReasons(db, feed);
  const deletes = await readHeldDeletes(db, examples);
  return [
    `This deletes ${plural(n, 'job')} of feed ${feed} whose ${n === 1 ? 'delete is' : 'deletes are'} held:`,
    ...reasons.map(({ count, reason }) => `  ${count}: ${textOf(reason)}`),
    ...deletes.map(lineOf),
    ...(n > deletes.length ? [`    … and ${n - deletes.length} more`] : []),
  ];
}
