// The forms that decide on many entries. What was shown is what they act on; otherwise the page comes back with what is there now.

import { text } from '../../../operations/scalars.ts';
import { textOf } from '../../../plan/message.ts';
import { answerFirstAmong } from '../../../review/answer-first.ts';
import { KINDS_OF_ACTION } from '../../../review/bulk/kinds-of-action.ts';
import { countNow, markOf, startBulk, whyTooMany } from '../../../review/bulk/start-bulk.ts';
import type { App } from '../../../runtime/app.ts';
import type { BulkDetail, SelectedAction } from '../../../store/review/bulk-actions.ts';
import type { EntryQuery } from '../../../store/review/entry-query.ts';
import type { SelectedCount } from '../../../store/review/selected-counts.ts';
import { pageAddress } from '../addresses.ts';
import type { PageContext, PageVisit } from '../page.tsx';
import type { Form } from '../read-form.ts';
import { sentence } from '../sentence.ts';
import { Confirm, type Confirmed, isConfirmed } from './confirm.tsx';
import { Entries } from './entries.tsx';
import { editFrom, malformed, readAction, readCount, readSeenEntries, readTyped } from './read-decision.ts';
import { readEntriesPage } from './read-entries.ts';
import { type ReadSelection, readSelection } from './selection.tsx';

type Sent = PageVisit & { readonly form: Form };

/** Entries that a person chose one by one are left alone with a reason if the action can't apply to them. */
const queryFor = (query: EntryQuery, ids: readonly number[]): EntryQuery =>
  ids.length > 0 ? { ...query, ids } : query;

/** The form of a list of entries. */
export async function decide({ app, control }: PageContext, sent: Sent) {
  const { form, actor, visit } = sent;
  const selection = await readSelection(app, (name) => form.one(name));
  const action = readAction(form.one('action'));
  const entries = form.all('entry');
  const seen = readSeenEntries(entries);
  if (isConfirmed(action)) {
    return sent.goTo(pageAddress.confirmAction(action, selection.texts, entries));
  }
  const typed = readTyped(form);
  const start = await startBulk(app.db, {
    action,
    actor,
    ...boundTo(form, action, seen),
    alsoNew: typed.alsoNew,
    detail: {
      query: queryFor(selection.query, idsOf(seen)),
      unattended: true,
      ...(action === 'edit' ? { edit: editFrom(typed) } : {}),
    },
  });
  if (start.kind === 'started') {
    control.bulk(start.bulk.id);
    return sent.goTo(pageAddress.bulkAction(start.bulk.id));
  }
  const page = await readEntriesPage(app, selection);
  return sent.c.html(<Entries visit={visit} {...page} refused={sentence(textOf(start.message))} typed={typed} />, 409);
}

const idsOf = (seen: ReturnType<typeof readSeenEntries>): number[] => seen.map(({ id }) => id);

function boundTo(form: Form, action: SelectedAction, seen: ReturnType<typeof readSeenEntries>) {
  if (seen.length > 0) return { seen, expected: seen.length };
  return { expected: readCount(form, `expected-${action}`), mark: form.one(`mark-${action}`) };
}

/** The page that asks before entries are discarded, deletes approved, or creates in doubt sent again. */
export async function confirmPage({ app }: PageContext, asked: PageVisit) {
  const action = confirmed(asked.query('action'));
  const selection = await readSelection(app, asked.query);
  const entries = asked.c.req.queries('entry') ?? [];
  readSeenEntries(entries);
  return <Confirm visit={asked.visit} {...(await readConfirm(app, action, selection, entries))} />;
}

async function readConfirm(app: App, action: Confirmed, { texts, query }: ReadSelection, entries: readonly string[]) {
  const ids = idsOf(readSeenEntries(entries));
  const all = await countNow(app.db, { ...queryFor(query, ids), discarded: false });
  const refusal = whyTooMany(query, all) ?? (await answerFirstAmong(app.db, action, kindsFor(action, all)));
  if (refusal !== undefined) {
    return { action, texts, chosen: [], others: [], mark: '', entries, refused: sentence(textOf(refusal)) };
  }
  const chosen = kindsFor(action, all);
  const others = all.filter(({ kind }) => !KINDS_OF_ACTION[action].includes(kind));
  return { action, texts, chosen, others, mark: markOf(chosen), entries };
}

const kindsFor = (action: Confirmed, counts: readonly SelectedCount[]): SelectedCount[] =>
  counts.filter(({ kind }) => KINDS_OF_ACTION[action].includes(kind));

/** The form of that page. */
export async function decideConfirmed({ app, control }: PageContext, sent: Sent) {
  const { form, actor, visit } = sent;
  const action = confirmed(sent.query('action'));
  const selection = await readSelection(app, (name) => form.one(name));
  const entries = form.all('entry');
  const seen = readSeenEntries(entries);
  const reason = (form.one('reason') ?? '').trim();
  if (!text(1_000).safeParse(reason).success) throw malformed('reason', 'may have at most 1000 characters');
  const mark = form.one('mark');
  if (mark === undefined) throw malformed('mark', 'is missing: open the page again');
  if (action === 'missing' && form.one('confirmed') !== 'true') {
    throw malformed('confirmed', 'must be set: look for the jobs on the site first. Nothing was changed');
  }
  const detail: BulkDetail = {
    query: queryFor(selection.query, idsOf(seen)),
    unattended: true,
    ...(reason === '' ? {} : { reason }),
  };
  const bound = seen.length > 0 ? { seen } : { mark, expected: readCount(form, 'expected') };
  const start = await startBulk(app.db, {
    action,
    actor,
    ...bound,
    alsoNew: form.one('also_new') === 'true',
    detail,
  });
  if (start.kind === 'started') {
    control.bulk(start.bulk.id);
    return sent.goTo(pageAddress.bulkAction(start.bulk.id));
  }
  const page = await readConfirm(app, action, selection, entries);
  return sent.c.html(
    <Confirm visit={visit} {...page} refused={sentence(textOf(start.message))} reason={reason} />,
    409,
  );
}

function confirmed(action: string | undefined): Confirmed {
  if (isConfirmed(action)) return action;
  throw malformed('action', 'must be discard, approve or missing');
}
