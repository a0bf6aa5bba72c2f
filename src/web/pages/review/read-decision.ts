// Reads from the form of a list of entries what a person decided.
import { z } from 'zod';
import type { ActInput } from '../../../operations/decisions.ts';
import { fieldName, text } from '../../../operations/scalars.ts';
import type { FeedName } from '../../../posting/identifiers.ts';
import { readValueTable } from '../../../review/csv.ts';
import { SELECTED_ACTIONS, type SelectedAction } from '../../../store/review/bulk-actions.ts';
import { type Form, malformed } from '../parts/read-form.ts';
import { EVERY_FEED, type TypedDecision } from './decision-form.tsx';

export function readAction(text: string | undefined): SelectedAction {
  const action = SELECTED_ACTIONS.find((each) => each === text);
  if (action === undefined) throw malformed('action', `must be one of ${SELECTED_ACTIONS.join(', ')}`);
  return action;
}

/** More than a page lists. */
const MOST_ENTRIES = 200;
const SEEN = /^([1-9]\d{0,14})\.([0-9a-f]{10})$/;

/** An entry that was chosen, as it was shown. */
interface ChosenEntry {
  readonly id: number;
  readonly seen: string;
}

/** The entries that were chosen one by one: `12.0123456789`. */
export function readChosen(texts: readonly string[]): ChosenEntry[] {
  if (texts.length > MOST_ENTRIES) throw malformed('entry', `may be given at most ${MOST_ENTRIES} times`);
  const chosen = texts.map((text) => {
    const [, id, seen] = SEEN.exec(text) ?? [];
    if (id === undefined || seen === undefined)
      throw malformed('entry', 'must be the number of an entry and what it was like');
    return { id: Number(id), seen };
  });
  if (new Set(chosen.map(({ id }) => id)).size < chosen.length) throw malformed('entry', 'is given twice');
  return chosen;
}

/** The same, as a form writes it. */
export const writeChosen = (id: number, seen: string): string => `${id}.${seen}`;

/** What was chosen, and that nothing else is decided. */
export const boundToChosen = (chosen: readonly ChosenEntry[]) => ({
  expected: chosen.length,
  seen: chosen.map(({ seen }) => seen),
});

const countSchema = z.coerce.number().int().min(1).max(1e9);

/** How many entries the page counted, and which ones. */
export function readBound(form: Form, suffix = ''): Pick<ActInput, 'expected' | 'seen'> {
  const count = countSchema.safeParse(form.one(`expected${suffix}`));
  if (!count.success) throw malformed(`expected${suffix}`, 'must be the number of entries that were shown');
  return { expected: count.data, seen: form.one(`seen${suffix}`) };
}

/** The feed whose entries are edited, and how many the page counted: of all that are selected, if it has no choice or all are meant. */
export function readEditOfFeed(form: Form, { feed }: Pick<TypedDecision, 'feed'>) {
  if (feed === '' || feed === EVERY_FEED) return { ...readBound(form, '-edit'), all_feeds: feed === EVERY_FEED };
  return { ...readBound(form, `-edit.${feed}`), feed: feed as FeedName };
}

/** Why it is decided, for the record. */
export function readReason(form: Form): string | undefined {
  const reason = (form.one('reason') ?? '').trim();
  if (!text(1_000).safeParse(reason).success) throw malformed('reason', 'may have at most 1000 characters');
  return reason === '' ? undefined : reason;
}

export function readTyped(form: Form): Omit<TypedDecision, 'chosen'> {
  const values = new Map<string, string>();
  for (const at of form.namesAfter('old-')) {
    const to = form.one(`new-${at}`) ?? '';
    if (to !== '') values.set(form.one(`old-${at}`) ?? '', to);
  }
  return {
    field: (form.one('field') ?? '').trim(),
    value: form.one('value') ?? '',
    remove: form.one('remove') === 'true',
    values,
    table: (form.one('table') ?? '').trim(),
    alsoNew: form.one('also_new') === 'true',
    feed: form.one('edit_feed') ?? '',
    anyway: form.one('anyway') === 'true',
  };
}

/** Either one value for all entries, or a new value for some of the old ones; a text: what a person has to type otherwise. */
export function editFrom({
  field,
  value,
  remove,
  values,
  table,
}: Omit<TypedDecision, 'chosen'>): NonNullable<ActInput['edit']> | string {
  if (!fieldName.safeParse(field).success) return 'the field must be the name of a field of the site';
  const replaces = values.size > 0 || table !== '';
  if ([replaces, value !== '', remove].filter(Boolean).length > 1) {
    return 'type one value, or replace values by the table, or remove the field: only one of these';
  }
  if (!replaces) {
    if (value === '' && !remove) return 'the value is missing: type the new one';
    return { set: { [field]: value } };
  }
  const read = table === '' ? undefined : readValueTable(table);
  if (read?.kind === 'unusable') return `the table can't be used: ${read.message}`;
  const rows = new Map(Object.entries(read?.values ?? {}));
  for (const [of, to] of values) {
    const other = rows.get(of);
    if (other !== undefined && other !== to) return `two new values are typed for ${of}: ${to} and ${other}`;
    rows.set(of, to);
  }
  return { map: { field, values: Object.fromEntries(rows) } };
}
