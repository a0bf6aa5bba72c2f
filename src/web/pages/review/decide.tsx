// The forms that decide on many entries. What was shown is what they act on; otherwise the page comes back with what is there now.
import { type ActInput, actOnReview } from '../../../operations/decisions.ts';
import { OperationRefused } from '../../../operations/operation.ts';
import { asksToConfirm } from '../../../plan/allowed.ts';
import { textOf } from '../../../plan/message.ts';
import { previewBulk, whyTooMany } from '../../../review/bulk/start-bulk.ts';
import { tokenOf } from '../../../review/seen.ts';
import type { App } from '../../../runtime/app.ts';
import type { SelectedAction } from '../../../store/review/bulk-actions.ts';
import { pageAddress } from '../addresses.ts';
import { askedBy, type PageContext, type PageVisit } from '../page.tsx';
import type { Form } from '../read-form.ts';
import { sentence } from '../sentence.ts';
import { Confirm } from './confirm.tsx';
import type { Typed } from './decision-form.tsx';
import { Entries } from './entries.tsx';
import {
  boundToChosen,
  editFrom,
  malformed,
  readAction,
  readBound,
  readChosen,
  readEditOfFeed,
  readReason,
  readTyped,
} from './read-decision.ts';
import { readEntriesPage } from './read-entries.ts';
import { type ReadSelection, readSelection } from './selection.tsx';

type Sent = PageVisit & { readonly form: Form };
type Answer = Response | Promise<Response>;

/** Starts the action and shows its progress, or tells why nothing was done. */
export async function startFromForm(
  context: PageContext,
  { actor, goTo }: PageVisit,
  input: ActInput,
  refused: (why: string, error: OperationRefused) => Promise<Answer>,
): Promise<Response> {
  try {
    return goTo(pageAddress.bulkAction((await actOnReview.run(input, askedBy(context, actor))).bulk));
  } catch (error) {
    if (!(error instanceof OperationRefused) || error.kind === 'unknown') throw error;
    return refused(sentence(textOf(error.reason)), error);
  }
}

/** Entries that a person chose one by one are left alone with a reason if the action can't apply to them. */
function filterOf({ input: { kind, discarded: _, ...filter } }: ReadSelection, ids: readonly number[]) {
  return { ...filter, kinds: kind, ...(ids.length > 0 ? { ids: [...ids] } : {}) };
}

/** The form of a list of entries. */
export async function decide(context: PageContext, sent: Sent) {
  const { form, visit } = sent;
  const selection = await readSelection(context.app, (name) => form.one(name));
  const action = readAction(form.one('action'));
  const entries = form.all('entry');
  const chosen = readChosen(entries);
  if (asksToConfirm(action)) return sent.goTo(pageAddress.confirmAction(action, selection.texts, entries));
  const typed = readTyped(form);
  const filter = filterOf(selection, idsOf(chosen));
  const common = { action, filter, also_new: typed.alsoNew };
  const input =
    action === 'edit'
      ? { ...common, ...boundEdit(form, chosen, typed, filter), edit: editFrom(typed), anyway: typed.anyway }
      : { ...common, ...(chosen.length > 0 ? boundToChosen(chosen) : readBound(form, `-${action}`)) };
  return startFromForm(context, sent, input, async (refused, { kind, now }) => {
    const page = { ...(await readEntriesPage(context.app, selection)), mayInsist: now.may_insist === true };
    const status = kind === 'invalid' ? 422 : 409;
    return sent.c.html(<Entries visit={visit} {...page} refused={refused} typed={typed} />, status);
  });
}

/** Entries that were chosen one by one may be of any feeds. */
function boundEdit(form: Form, chosen: ReturnType<typeof readChosen>, typed: Typed, filter: ActInput['filter']) {
  if (chosen.length > 0) return boundToChosen(chosen);
  const { feed, ...bound } = { feed: undefined, ...readEditOfFeed(form, typed) };
  return { ...bound, filter: feed === undefined ? filter : { ...filter, feed } };
}

const idsOf = (chosen: ReturnType<typeof readChosen>): number[] => chosen.map(({ id }) => id);

/** The page that asks before entries are discarded, deletes approved, or creates in doubt sent again. */
export async function confirmPage({ app }: PageContext, asked: PageVisit) {
  const action = confirmed(asked.query('action'));
  const selection = await readSelection(app, asked.query);
  const entries = asked.c.req.queries('entry') ?? [];
  readChosen(entries);
  return <Confirm visit={asked.visit} {...(await readConfirm(app, action, selection, entries))} />;
}

async function readConfirm(
  app: App,
  action: SelectedAction,
  { texts, query }: ReadSelection,
  entries: readonly string[],
) {
  const ids = idsOf(readChosen(entries));
  const asked = ids.length > 0 ? { ...query, ids } : query;
  const { selected, others, first } = await previewBulk(app.db, app.config, action, asked);
  const refusal = first ?? whyTooMany(query, selected);
  if (refusal !== undefined) {
    const refused = sentence(textOf(refusal));
    return { action, texts, chosen: [], others: [], seen: '', entries, refused, about: refusal };
  }
  return { action, texts, chosen: selected, others, seen: tokenOf(selected), entries };
}

/** The form of that page. */
export async function decideConfirmed(context: PageContext, sent: Sent) {
  const { form, visit } = sent;
  const action = confirmed(sent.query('action'));
  const selection = await readSelection(context.app, (name) => form.one(name));
  const entries = form.all('entry');
  const chosen = readChosen(entries);
  const reason = readReason(form);
  if (form.one('seen') === undefined) throw malformed('seen', 'is missing: open the page again');
  if (action === 'missing' && form.one('confirmed') !== 'true') {
    throw malformed('confirmed', 'must be set: look for the jobs on the site first. Nothing was changed');
  }
  const input = {
    action,
    filter: filterOf(selection, idsOf(chosen)),
    reason,
    also_new: form.one('also_new') === 'true',
    ...(chosen.length > 0 ? { seen: boundToChosen(chosen).seen } : readBound(form)),
  };
  return startFromForm(context, sent, input, async (refused) => {
    const page = await readConfirm(context.app, action, selection, entries);
    return sent.c.html(<Confirm visit={visit} {...page} refused={refused} reason={reason} />, 409);
  });
}

function confirmed(text: string | undefined): SelectedAction {
  const action = readAction(text);
  if (asksToConfirm(action)) return action;
  throw malformed('action', 'needs no confirmation');
}
