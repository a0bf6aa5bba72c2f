// Shows on a terminal what a decision is about, asks, and binds it to what was shown. Where nobody can be asked, it tells how to bind it.
import { openSiteOfEntry } from '../operations/adoption.ts';
import { entryQuery } from '../operations/review.ts';
import { siteJobIdText } from '../operations/scalars.ts';
import { effectOnState } from '../plan/allowed.ts';
import { isOfFoundJob, messageOfReason } from '../plan/desired-change.ts';
import { plural, textOf } from '../plan/message.ts';
import type { FeedName, SiteJobId } from '../posting/identifiers.ts';
import { excerpt } from '../posting/markup.ts';
import { countNamed, type Named, presentFor } from '../review/act-on-entries.ts';
import { previewBulk, whyTooMany } from '../review/bulk/start-bulk.ts';
import { readDoubt, type ShownDoubt } from '../review/compare-doubt.ts';
import { countByKind, describeKinds, describeSelected } from '../review/describe-selected.ts';
import { checkVerdict } from '../review/health/check-verdict.ts';
import { type Seen, seenIn, sumOf, tokenOf, tokenOfChange } from '../review/seen.ts';
import type { App } from '../runtime/app.ts';
import { UserError } from '../runtime/stop-signal.ts';
import { findEntries } from '../store/change/act-in-review.ts';
import { reviewPage } from '../store/review/review-page.ts';
import { type HeldDelete, heldReasons, readHeldDeletes } from '../store/review/review-totals.ts';
import { printNotice } from '../telemetry/print.ts';
import { formatTime } from '../telemetry/times.ts';
import type { WriteCommand } from './adapter/command-line.ts';
import { expectAgreement, isAgreed } from './adapter/with-app.ts';
import { say } from './adapter/write-action.ts';
import type { EntryFilter } from './bulk-command.ts';

interface Question {
  /** Fewer entries need no confirmation. */
  readonly from: number;
  /** What happens to so many entries of these kinds. */
  readonly effect: (total: number, kinds: string) => string;
  readonly ask: string;
  readonly refused: string;
  /** How to act without being asked. */
  readonly unasked: (total: number, token: string) => string;
}

const QUESTIONS = {
  approve: {
    from: 1,
    effect: (total) => `This deletes ${plural(total, 'job')} whose deletes are held.`,
    ask: 'Delete them?',
    refused: 'Nothing was approved.',
    unasked: (total) => `To approve exactly so many without being asked: --count ${total}`,
  },
  discard: {
    from: 2,
    effect: (total, kinds) => `This discards ${plural(total, 'entry', 'entries')}: ${kinds}.`,
    ask: 'Discard them?',
    refused: 'Nothing was discarded.',
    unasked: () => 'To discard them without being asked: --yes',
  },
  missing: {
    from: 1,
    effect: (total) =>
      `This sends ${plural(total, 'create')} in doubt again, except those for which a job was found on the site or whose list still decides. ` +
      'Each whose job the site has made after all gets a second job: look for them on the site first.',
    ask: 'Has the site none of these jobs?',
    refused: 'Nothing was sent again.',
    unasked: (_, token) => `To send exactly these again without being asked: --mark ${token}`,
  },
} as const satisfies Record<string, Question>;

/**
 * Asks about a selection. Returns how many entries the person agreed to, and which ones.
 * @throws {UserError} if nobody can be asked, or the answer is no
 */
export async function askAboutSelected(
  app: App,
  action: keyof typeof QUESTIONS,
  filter: EntryFilter,
  write: WriteCommand,
): Promise<{ readonly total: number; readonly seen: string }> {
  const question: Question = QUESTIONS[action];
  const query = await entryQuery(app, filter);
  const { selected, first } = await previewBulk(app.db, app.config, action, query);
  const refusal = first === undefined ? whyTooMany(query, selected) : say(first, write);
  if (refusal !== undefined) throw new UserError(refusal);
  const total = sumOf(selected);
  const seen = tokenOf(selected);
  if (total < question.from) return { total, seen };
  const effect = question.effect(total, describeKinds(countByKind(selected)));
  const shown = [effect, ...describeSelected(selected)].join('\n  ');
  await expectAgreement([shown], question.ask, question.refused, ` ${question.unasked(total, seen)}`);
  return { total, seen };
}

/** Entries that are named one by one, or told how to bind. */
const SHOWN = 20;
const EXAMPLES = 10;

/**
 * Asks about held deletes of named feeds and entries. `undefined`: nobody was asked.
 * @throws {UserError} if the answer is no
 */
export async function askToApprove(
  { db, config }: App,
  selection: Named,
  write: WriteCommand,
): Promise<Seen | undefined> {
  // Bound before it is read for showing: what comes in between is refused.
  const seen = seenIn(await presentFor(db, config, selection));
  const ofFeeds = (await countNamed(db, config, selection)).filter(({ byName }) => byName);
  const named = await readHeldDeletes(db, selection.numbers);
  if (ofFeeds.length === 0 && named.length === 0) return undefined;
  const lines = named.length === 0 ? [] : describeNamed(named);
  for (const { feed, n } of ofFeeds) lines.push(...(await describeHeld(db, feed, n)));
  if (await isAgreed(lines, 'Delete them?', 'Nothing was approved.')) return seen;
  const warn = (what: string, words: readonly string[]) =>
    printNotice(
      `warning: this approves ${what} now. To approve only what you saw: ${write(['review', 'approve', ...words])}`,
    );
  for (const { feed, n } of ofFeeds) warn(`whatever is held for feed ${feed}`, [feed, '--count', String(n)]);
  for (const entry of await findEntries(
    db,
    named.slice(0, SHOWN).map(({ id }) => id),
  )) {
    const id = String(entry.id);
    warn(`the delete of entry ${id} as it is`, [id, '--if-version', tokenOfChange(entry)]);
  }
  return undefined;
}

const describeNamed = (named: readonly HeldDelete[]): string[] => [
  `This deletes ${plural(named.length, 'job')}:`,
  ...named.slice(0, SHOWN).map((held) => `${lineOf(held)}  (entry ${held.id})`),
  ...(named.length > SHOWN ? [`    … and ${named.length - SHOWN} more`] : []),
];

const lineOf = ({ key, title }: Pick<HeldDelete, 'key' | 'title'>): string =>
  `    ${excerpt(key, 60)}${title === null ? '' : `  ${excerpt(title, 60)}`}`;

async function describeHeld(db: App['db'], feed: FeedName, n: number): Promise<string[]> {
  const reasons = await heldReasons(db, feed);
  const { entries } = await reviewPage(db, { feed, kinds: ['held'] }, EXAMPLES);
  const deletes = await readHeldDeletes(
    db,
    entries.map(({ id }) => id),
  );
  return [
    `This deletes ${plural(n, 'job')} of feed ${feed} whose ${n === 1 ? 'delete is' : 'deletes are'} held:`,
    ...reasons.map(({ count, reason }) => `  ${count}: ${textOf(reason)}`),
    ...deletes.map(lineOf),
    ...(n > deletes.length ? [`    … and ${n - deletes.length} more`] : []),
  ];
}

/**
 * Asks before a discard that covers several entries of a feed, or entries of several kinds. `undefined`: whatever there is.
 * @throws {UserError} if nobody can be asked, or the answer is no
 */
export async function askToDiscard(
  { db, config }: Pick<App, 'db' | 'config'>,
  selection: Named,
  write: WriteCommand,
): Promise<Seen | undefined> {
  const seen = seenIn(await presentFor(db, config, selection));
  const chosen = await countNamed(db, config, selection);
  const { numbers, feeds } = selection;
  // A pull may add entries to a feed before they are discarded, but none to those given by number.
  if (!coversMuch(chosen)) return feeds.length === 0 ? undefined : seen;
  const lines = describeChosen(chosen);
  const names = [...numbers.map(String), ...feeds];
  const ways = [
    `\n  see them:       ${write(['review', 'list', ...feeds.slice(0, 1)])}`,
    `\n  one kind only:  ${write(['review', 'discard', ...names, '--kind', 'KIND'])}`,
    `\n  all of them:    ${write(['review', 'discard', ...names, '--yes'])}`,
  ];
  await expectAgreement(lines, 'Discard them?', 'Nothing was discarded.', ways.join(''));
  return seen;
}

/** Whether a feed's name selects several entries, or the selection covers several kinds. */
function coversMuch(chosen: Awaited<ReturnType<typeof countNamed>>): boolean {
  const byName = new Map<string, number>();
  for (const { feed, byName: named, n } of chosen) if (named) byName.set(feed, (byName.get(feed) ?? 0) + n);
  return new Set(chosen.map(({ kind }) => kind)).size > 1 || [...byName.values()].some((n) => n > 1);
}

/** One line per feed with the count of each kind, then what discarding each kind means. */
const describeChosen = (chosen: Awaited<ReturnType<typeof countNamed>>): string[] => [
  ...[...new Set(chosen.map(({ feed }) => feed))].map((feed) => {
    const own = chosen.filter((each) => each.feed === feed);
    return `This discards ${plural(sumOf(own), 'entry', 'entries')} of feed ${feed}: ${describeKinds(countByKind(own))}.`;
  }),
  ...[...new Set(chosen.map(({ kind }) => kind))].map((kind) => `  ${kind}: ${effectOnState('discard', kind)?.many}`),
];

/**
 * Asks before a create in doubt is sent again. Returns what it is bound to; `undefined`: it can't be, and deciding tells why.
 * @throws {UserError} if the answer is no
 */
export async function askToSendAgain(app: App, id: number, write: WriteCommand): Promise<string | undefined> {
  const doubt = await readDoubt(app.db, app.config, id);
  if (doubt === undefined) return undefined;
  const { version: seen } = doubt;
  const site = await openSiteOfEntry(app, id);
  await site?.client.close();
  const checked = await checkVerdict(app.db, id, { kind: 'missing' }, { site, seen: { tokens: [seen] } });
  if (checked.kind === 'refused') return seen;
  const shown = describeDoubt(doubt, write).join('\n  ');
  const warning = 'If the site has made its job after all, the posting is there twice: look for it on the site first.';
  if (await isAgreed([shown, warning], 'Has the site no job of this posting?', 'Nothing was sent again.')) return seen;
  const bound = write(['review', 'settle', String(id), '--missing', '--if-version', seen]);
  printNotice(
    `warning: this decides about the create as it is now: ${shown}\nTo decide only about what you saw: ${bound}`,
  );
  return seen;
}

/** The posting, when it was sent, and what the site answered. */
function describeDoubt({ change, sent, startedAt, candidateIds }: ShownDoubt, write: WriteCommand): string[] {
  const { id, key, feed, site, reason } = change;
  const title = sent.title === undefined ? '' : `, "${excerpt(sent.title, 60)}"`;
  const why = reason === undefined ? [] : [`reason: ${say(messageOfReason(reason), write)}`];
  const note = reason?.note === undefined ? [] : [`last check for its job: ${reason.note}`];
  const known = candidateIds.map((job) => `job ${job}`).join(', ');
  return [
    `entry ${id}: posting ${excerpt(key, 60)} of feed ${feed}${title}, site ${site}`,
    `${isOfFoundJob(reason) ? 'in doubt since' : 'sent at'} ${formatTime(startedAt)}`,
    ...why,
    ...note,
    ...(known === '' ? [] : [`jobs that it may have made: ${known}`]),
  ];
}

// Reads the ID of a job on a site from what a person writes.

/** Accepts an ID, or a URL as other commands print it. @throws {UserError} if it is neither */
export function siteJobIdOf(text: string): SiteJobId {
  const read = siteJobIdText.safeParse(text);
  if (read.success) return read.data;
  throw new UserError(`"${text}" can't be the ID of a job`);
}
