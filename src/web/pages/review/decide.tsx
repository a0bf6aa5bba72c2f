// The forms that decide on many entries. What was shown is what they act on; otherwise the page comes back with what is there now.
import { type ActInput, actOnReview } from '../../../operations/decisions.ts';
import { OperationRefused } from '../../../operations/operation.ts';
import { asksToConfirm, effectOnState, questionOf, whyNoRule } from '../../../plan/allowed.ts';
import { type Message, plural, textOf } from '../../../plan/message.ts';
import { previewBulk, whyTooMany } from '../../../review/bulk/start-bulk.ts';
import { countByKind, describeSelected, type LeftAlone } from '../../../review/describe-selected.ts';
import { sumOf, tokenOf } from '../../../review/seen.ts';
import type { App } from '../../../runtime/app.ts';
import type { EntryKind } from '../../../store/backlog/open-counts.ts';
import type { SelectedCount } from '../../../store/change/act-in-review.ts';
import type { SelectedAction } from '../../../store/review/bulk-actions.ts';
import { linkTo, mayReview, pageAddress, type ReviewSelection } from '../parts/addresses.ts';
import { Layout, PostForm } from '../parts/layout.tsx';
import { askedBy, type PageContext, type PageVisit } from '../parts/page.tsx';
import { Check, NoticeText, sentence, TextField } from '../parts/parts.tsx';
import { type Form, malformed } from '../parts/read-form.ts';
import { EVERY_FEED, type TypedDecision } from './decision-form.tsx';
import { Entries, readEntriesPage } from './entries.tsx';
import {
  boundToChosen,
  editFrom,
  readAction,
  readBound,
  readChosen,
  readEditOfFeed,
  readReason,
  readTyped,
} from './read-decision.ts';
import { canHaveRule, type ReadSelection, readSelection } from './selection.tsx';

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
export async function decisionsPage(context: PageContext, sent: Sent) {
  const { form } = sent;
  const selection = await readSelection(context.app, (name) => form.one(name));
  const action = readAction(form.one('action'));
  const entries = form.all('entry');
  const chosen = readChosen(entries);
  if (asksToConfirm(action)) return sent.goTo(pageAddress.confirmAction(action, selection.texts, entries));
  const typed = { ...readTyped(form), chosen: new Set(idsOf(chosen)) };
  const filter = filterOf(selection, idsOf(chosen));
  const common = { action, filter, also_new: typed.alsoNew };
  const again = async (refused: string, status: 400 | 409 | 422, mayInsist = false) => {
    const page = { ...(await readEntriesPage(context.app, selection)), mayInsist };
    return sent.html(<Entries {...page} refused={refused} typed={typed} />, status);
  };
  let input: ActInput;
  if (action === 'edit') {
    const bound = boundEdit(form, chosen, typed, filter);
    const edit = editFrom(typed);
    if (typeof edit === 'string') return again(sentence(edit), 400);
    input = { ...common, ...bound, edit, anyway: typed.anyway };
  } else {
    input = { ...common, ...(chosen.length > 0 ? boundToChosen(chosen) : readBound(form, `-${action}`)) };
  }
  return startFromForm(context, sent, input, (refused, { kind, now }) =>
    again(refused, kind === 'invalid' ? 422 : 409, now.may_insist === true),
  );
}

function boundEdit(
  form: Form,
  chosen: ReturnType<typeof readChosen>,
  typed: TypedDecision,
  filter: ActInput['filter'],
) {
  if (chosen.length > 0) return { ...boundToChosen(chosen), all_feeds: typed.feed === EVERY_FEED };
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
  return <Confirm {...(await readConfirm(app, action, selection, entries))} />;
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
  const { form } = sent;
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
    return sent.html(<Confirm {...page} refused={refused} reason={reason} />, 409);
  });
}

function confirmed(text: string | undefined): SelectedAction {
  const action = readAction(text);
  if (asksToConfirm(action)) return action;
  throw malformed('action', 'needs no confirmation');
}

// Asks before entries are discarded, deletes approved, or creates in doubt sent again: what would happen to which entries, and what would not.

export interface ConfirmProps {
  readonly action: SelectedAction;
  readonly texts: ReviewSelection;
  /** What it would act on, and what else is selected. */
  readonly chosen: readonly SelectedCount[];
  readonly others: readonly LeftAlone[];
  readonly seen: string;
  /** The chosen entries as they were shown, if they were chosen one by one. */
  readonly entries: readonly string[];
  readonly refused?: string | undefined;
  /** What to do about the refusal. */
  readonly about?: Message | undefined;
  readonly reason?: string | undefined;
}

const Confirm = (props: ConfirmProps) => {
  const { action, texts, chosen, others, seen, entries, refused, about, reason = '' } = props;
  const { doIt = '', noun = '', nouns = '' } = questionOf(action) ?? {};
  const total = sumOf(chosen);
  const back = linkTo(pageAddress.entries(texts));
  return (
    <Layout title={`${doIt} ${plural(total, noun, nouns)}?`} section="review">
      {refused !== undefined && (
        <p role="alert" class="notice bad text">
          <NoticeText notice={{ messages: about === undefined ? [] : [about], text: refused }} />
        </p>
      )}
      {total === 0 ? (
        <p>{refused === undefined ? 'This can be done with no selected entry.' : 'Nothing can be done now.'}</p>
      ) : (
        <>
          <ul>
            {kindsOf(chosen).map(([kind, n]) => (
              <li>{`${n} ${kind.replace('_', ' ')}: ${effectOnState(action, kind)?.many}`}</li>
            ))}
          </ul>
          <ul class="quiet">
            {describeSelected(chosen).map((line) => (
              <li>{line}</li>
            ))}
          </ul>
        </>
      )}
      {others.flatMap(({ why, entries: left }) =>
        kindsOf(left).map(([kind, n]) => <Left {...{ texts, why, kind, n }} />),
      )}
      {total > 0 && mayReview() && (
        <PostForm action={pageAddress.confirmAction(action, {})} hidden={{ ...texts, expected: total, seen }}>
          {entries.map((entry) => (
            <input type="hidden" name="entry" value={entry} />
          ))}
          {action === 'missing' && (
            <>
              <p class="notice bad">
                Each of them whose job the site has made after all gets a second job. Those for which a job was found on
                the site, or that its list still decides, are left alone.
              </p>
              <Check name="confirmed" required>
                I have looked on the site: it has none of these jobs
              </Check>
            </>
          )}
          {action === 'discard' && (
            <TextField name="reason" label="Reason, for the record" value={reason} maxlength={1_000} />
          )}
          {action === 'discard' && canHaveRule(texts) && mayHaveRule(chosen) && (
            <Check name="also_new">Discard new entries of this group as well: makes a rule</Check>
          )}
          <p class="row">
            <button type="submit" class="danger">
              {`${doIt} ${plural(total, noun, nouns)}`}
            </button>
            <a href={back}>Cancel</a>
          </p>
        </PostForm>
      )}
      {(total === 0 || !mayReview()) && (
        <p>
          <a href={back}>Back to the entries</a>
        </p>
      )}
    </Layout>
  );
};

const kindsOf = (counts: readonly SelectedCount[]) => Object.entries(countByKind(counts)) as [EntryKind, number][];

const mayHaveRule = (counts: readonly SelectedCount[]): boolean =>
  counts.every(({ kind }) => whyNoRule('discard', kind) === undefined);

interface LeftProps extends Pick<ConfirmProps, 'texts'>, Pick<LeftAlone, 'why'> {
  readonly kind: EntryKind;
  readonly n: number;
}

const Left = ({ texts, why, kind, n }: LeftProps) => (
  <p class={kind === 'in_doubt' ? 'notice' : 'quiet'}>
    {`${n} ${kind.replace('_', ' ')} ${n === 1 ? 'is left as it is' : 'are left as they are'}: ${why}. `}
    {kind === 'in_doubt' && <a href={linkTo(pageAddress.doubts(texts.feed))}>Resolve doubts</a>}
  </p>
);
