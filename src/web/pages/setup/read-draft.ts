// Reads what the forms of a feed's setup say: its draft, and the changes of single settings.
import { delimiterOf } from '../../../config/build/map-files.ts';
import type { DraftEdit, FieldChoice, FieldStepChoice, StepName } from '../../../config/feed-draft.ts';
import { DRAFT_STEPS, editDraft, fieldChoiceOf, settingsOfDraft } from '../../../config/feed-draft.ts';
import { AS_CRON, BY_HAND, cronOfChoice, scheduleChoiceOf } from '../../../config/schedule-choice.ts';
import { CREDENTIAL_FORMS } from '../../../config/schema/credentials-schema.ts';
import { UPLOADED_FILE } from '../../../feed/source/sources.ts';
import { FIELD_NAME } from '../../../posting/site-rules.ts';
import type { Form } from '../parts/read-form.ts';

/** What each form carries to the next. */
export interface SetupDraft {
  readonly feed: string;
  /** The settings as YAML. */
  readonly text: string;
  /** Of the file as it was shown; empty: the feed is new, or has no file of its own. */
  readonly seen: string;
  /** The name of the sample; empty: none. */
  readonly sample: string;
  /** As it was typed; empty: a file was uploaded, or the feed is changed. */
  readonly source: string;
  readonly isUpload: boolean;
  readonly isNew: boolean;
}

/** A text: what is wrong with the form. */
export async function readMappingEdit(form: Form, text: string): Promise<DraftEdit | string> {
  const fields = new Map<string, FieldChoice>();
  const added = form.one('new_field')?.trim() ?? '';
  for (const field of [...form.namesAfter('from.'), ...(added === '' ? [] : [added])]) {
    if (!FIELD_NAME.test(field)) return `"${field}" can't be the name of a field of the site`;
    const choice = field === added ? ADDED : await choiceIn(form, field, text);
    if (typeof choice === 'string') return `${field}: ${choice}`;
    fields.set(field, choice);
  }
  const key = keyIn(form, text);
  const places = placesIn(form, text);
  if (typeof places === 'string') return places;
  return { fields, ...(key === undefined ? {} : { key }), ...(places === undefined ? {} : { settings: places }) };
}

/** What becomes of postings in several places: words for the values of `use`. */
export const PLACE_USES = {
  first: 'the first place in a state that the site accepts is sent',
  each: 'a job for each place; this changes the keys of all postings',
  review: 'a person chooses, if the places differ',
} as const;

/** `undefined`: as it is written. A text: what is wrong with the form. */
function placesIn(form: Form, text: string): { readonly places: object | undefined } | string | undefined {
  const use = form.one('places.use') ?? TEXT_AS_WRITTEN;
  if (use === TEXT_AS_WRITTEN) return undefined;
  if (use === 'format') return { places: undefined };
  if (!Object.hasOwn(PLACE_USES, use)) return `there is no choice ${use} for postings in several places`;
  const { split: former, ...present } = Object(settingsOfDraft(text).places) as Readonly<Record<string, unknown>>;
  const path = form.one('places.path') ?? '';
  const typed = form.one('places.split') ?? '';
  // A browser leaves line breaks out of what it shows.
  const split = typed === withoutBreaks(former) ? former : typed;
  const used = path === TEXT_AS_WRITTEN ? present.path : path;
  if (used === undefined || used === '') return 'choose where the places of a posting are';
  return { places: { ...present, path: used, ...(split === '' || split === undefined ? {} : { split }), use } };
}

const withoutBreaks = (text: unknown): string => (typeof text === 'string' ? text.replaceAll(/[\r\n]/g, '') : '');

/** `undefined`: as it is written. */
function keyIn(form: Form, text: string): readonly string[] | undefined {
  const first = form.one('key') ?? TEXT_AS_WRITTEN;
  const second = form.one('second_key') ?? '';
  const { key, format } = settingsOfDraft(text);
  const present = [key ?? Object(format).key ?? []].flat().filter((path) => typeof path === 'string');
  if (second === '') return first === TEXT_AS_WRITTEN ? undefined : [first];
  const paths = first === TEXT_AS_WRITTEN ? present : [first];
  return paths.length === 0 ? undefined : [...new Set([...paths, second])];
}

/** Whether the rows of a table may lack their last cells. */
export const allowsShortRows = (text: string): boolean => csvIn(text).allow_missing_cells === true;

const csvIn = (text: string): Readonly<Record<string, unknown>> => Object(Object(settingsOfDraft(text).format).csv);

/** The text of the draft, in which the rows of a table may lack their last cells if the form says so. */
export function draftWithRows(form: Form, text: string): string {
  const format: unknown = settingsOfDraft(text).format;
  const isAllowed = form.one('short_rows') === 'true';
  const isAsked = isAllowed || form.one('short_rows.shown') === 'true';
  if (!isAsked || isAllowed === allowsShortRows(text) || typeof format !== 'object' || format === null) return text;
  const { allow_missing_cells: _, ...others } = csvIn(text);
  const csv = isAllowed ? { ...others, allow_missing_cells: true } : others;
  return editDraft(text, { settings: { format: { ...format, csv: Object.keys(csv).length === 0 ? undefined : csv } } });
}

/** The value of a choice that leaves the text as it is. */
export const TEXT_AS_WRITTEN = 'written';

const ADDED: FieldChoice = { kind: 'value', text: '' };

async function choiceIn(form: Form, field: string, text: string): Promise<FieldChoice | string> {
  const inserted = form.one(`insert.${field}`) ?? '';
  const typed = form.one(`text.${field}`) ?? '';
  // Whoever adds a path means a text with paths, whatever was chosen before.
  const from = inserted === '' ? (form.one(`from.${field}`) ?? TEXT_AS_WRITTEN) : 'template';
  const written = inserted === '' ? typed : `${typed}${/\S$/.test(typed) ? ' ' : ''}{${inserted}}`;
  if (from === 'none') return { kind: from };
  const unused = inserted === '' ? unusedIn(form, field, text) : undefined;
  if (from === 'format' || from === TEXT_AS_WRITTEN) return unused ?? { kind: from };
  if (from === 'value')
    return written === '' ? 'write the text that all postings get' : { kind: 'value', text: written };
  if (from === 'template' && written === '') return 'write the template, with paths in braces: {city}, {state}';
  const step = form.one(`step.${field}`) ?? 'none';
  if (!Object.hasOwn(DRAFT_STEPS, step)) return `there is no transform ${step}`;
  const otherwise = form.one(`default.${field}`) ?? '';
  const table = step === 'table' ? await tableIn(form, field) : undefined;
  if (typeof table === 'string') return table;
  const choice: FieldStepChoice = {
    step: step as StepName,
    ...(table === undefined ? {} : { table }),
    ...(otherwise === '' ? {} : { otherwise }),
  };
  if (from === 'template') return { kind: 'template', text: written, ...choice };
  return from.startsWith('path:') ? { kind: 'path', text: from.slice(5), ...choice } : `there is no source ${from}`;
}

/** What somebody has just chosen or typed that "From" makes no use of, if it is what the preset or the text says. */
function unusedIn(form: Form, field: string, text: string): string | undefined {
  const shown = fieldChoiceOf(text, field);
  const isShown = (name: string, value: string): boolean =>
    (form.one(`${name}.${field}`) ?? value).replaceAll('\r\n', '\n').trim() === value.trim();
  if (!isShown('text', shown.kind === 'template' || shown.kind === 'value' ? shown.text : '')) {
    return 'to use the text, choose "text with paths in braces" or "the same text for all" under From';
  }
  const { step = 'none', otherwise = '', table = {} } = 'step' in shown ? shown : {};
  const isSame =
    (form.one(`step.${field}`) ?? step) === step &&
    isShown('default', otherwise) &&
    isShown('table', tableText(table)) &&
    form.file(`file.${field}`) === undefined;
  return isSame
    ? undefined
    : 'choose a path under From as well: what is chosen there is used as it is, without "Made into", default and look-up table';
}

const MOST_ENTRIES = 5_000;

/** Two columns: the feed's texts, and the site's. */
async function tableIn(form: Form, field: string): Promise<Readonly<Record<string, string>> | string> {
  const file = form.file(`file.${field}`);
  const text = file === undefined ? (form.one(`table.${field}`) ?? '') : file.bytes.toString('utf8');
  if (text.includes('\ufffd')) return 'the look-up table is not encoded as UTF-8; save it as "CSV UTF-8"';
  const { parse, CsvError } = await import('csv-parse/sync');
  try {
    const options = {
      bom: true,
      delimiter: delimiterOf(text),
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
    };
    const rows = parse(text, options) as unknown as readonly (readonly string[])[];
    if (rows.length === 0) return 'the look-up table is empty: write a line for each text, such as Nurse,Nursing';
    if (rows.length > MOST_ENTRIES) return `the look-up table has more than ${MOST_ENTRIES} lines`;
    const short = rows.findIndex((row) => row.length < 2 || row[0] === '');
    if (short >= 0) return `line ${short + 1} of the look-up table has no second column`;
    return Object.fromEntries(rows.map(([from = '', to = '']) => [from, to]));
  } catch (error) {
    if (error instanceof CsvError) return `the look-up table can't be read: ${error.message}`;
    throw error;
  }
}

/** A table as the form shows it. */
export const tableText = (table: Readonly<Record<string, string>>): string =>
  Object.entries(table)
    .map((row) => row.map((cell) => (/[",;\t\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(','))
    .join('\n');

const GUARD = ['percent', 'count', 'missing_pulls'] as const;

/** A text: what is wrong with the form. */
export function readSettingsEdit(form: Form, text: string): DraftEdit | string {
  const now = settingsOfDraft(text);
  const given = (name: string) => form.one(name)?.trim() ?? '';
  const settings: Record<string, unknown> = {};
  for (const name of ['source', 'site', 'time_zone', 'policy']) {
    const typed = form.one(`set.${name}`);
    if (typed === undefined) continue;
    const isKept = name === 'source' && typed.trim() === '' && (form.one('upload') === 'true' || namesUpload(text));
    const written = isKept ? UPLOADED_FILE : typed;
    // What is the default need not be written.
    const isDefault = written.trim() === '' || (name === 'policy' && written === 'mirror' && now.policy === undefined);
    settings[name] = isDefault ? undefined : written.trim();
  }
  const schedule = scheduleIn(form, typeof now.schedule === 'string' ? now.schedule : undefined);
  if (typeof schedule === 'string') return schedule;
  Object.assign(settings, schedule);
  const guard: Record<string, unknown> = { ...Object(now.delete_guard) };
  for (const name of GUARD) {
    const written = given(`guard.${name}`);
    if (written === '' || written === given(`guard.${name}.shown`)) continue;
    if (!/^\d{1,9}(?:\.\d{1,3})?$/.test(written)) return `"${written}" is no number`;
    guard[name] = Number(written);
  }
  if (Object.keys(guard).length > 0) settings.delete_guard = guard;
  return { settings };
}

/** A line stays as it is written if it means what is chosen. A text: what is wrong with the form. */
function scheduleIn(form: Form, written: string | undefined): { readonly schedule?: string | undefined } | string {
  const every = form.one('schedule.every');
  if (every === undefined) return {};
  const typed = form.one('set.schedule')?.trim() ?? written ?? '';
  if (every === AS_CRON) {
    return typed === '' ? 'write the cron expression, or choose when the feed is pulled' : { schedule: typed };
  }
  if (typed !== (written ?? '').trim()) {
    return 'to use the cron expression, choose "as the cron expression says" under When it is pulled';
  }
  if (every === BY_HAND) return { schedule: undefined };
  const shown = scheduleChoiceOf(written);
  const line = cronOfChoice({ every, at: form.one('schedule.at')?.trim() ?? shown.at });
  if (line === undefined) return 'write the time as hour and minute, such as 06:00';
  const { every: chosen, at } = scheduleChoiceOf(line);
  return { schedule: chosen === shown.every && at === shown.at ? written : line };
}

const NAMES = ['source', 'feed', 'site', 'format', 'records', 'sample', 'files'] as const;

/** What of the first form is filled in. */
export type GivenSource = Readonly<Partial<Record<(typeof NAMES)[number], string>>>;

export const givenSource = (form: Form): GivenSource =>
  Object.fromEntries(NAMES.flatMap((name) => (form.one(name)?.trim() ? [[name, form.one(name)?.trim()]] : [])));

/** Whether the settings name the file that was uploaded for the feed. */
export function namesUpload(text: string): boolean {
  const { source, sources } = settingsOfDraft(text);
  return [sources ?? source].flat().includes(UPLOADED_FILE);
}

/**
 * What the form says of the credentials, as the configuration has them; `undefined`: nothing. A text: what is wrong with it, without what was
 * typed, as that may be the secret itself.
 */
export function givenCredentials(form: Form): Readonly<Record<string, unknown>> | string | undefined {
  const given: Record<string, Record<string, string>> = {};
  for (const { kind, settings } of CREDENTIAL_FORMS) {
    for (const { name, isSecret, words } of settings) {
      const typed = form.one(`credentials.${kind}.${name}`)?.trim() ?? '';
      if (typed === '') continue;
      const [, variable = typed] = /^\$\{(.*)\}$/.exec(typed) ?? [];
      if (isSecret && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)) {
        return `${words} must be the name of an environment variable, such as ATS_PASSWORD: set it to the secret where jobmirror runs, and never type the secret itself here`;
      }
      given[kind] = { ...given[kind], [name]: isSecret ? `\${${variable}}` : typed };
    }
  }
  return Object.keys(given).length === 0 ? undefined : given;
}
