// Validates the fields of a create or an update, and reports every error.
// The interface requires a valid U.S. state (site-interface.md, section 2); requiring a title is the sandbox's own choice.

import type { JobFields } from './jobs.ts';
import type { SandboxSettings } from './settings.ts';

/** One validation error. The message is meant to follow the field's name. */
export interface JobError {
  readonly field: string;
  readonly message: string;
}

/** The result of validation. `state` is a postal abbreviation; absent if an update does not change it. */
type CheckedJob =
  | { readonly kind: 'valid'; readonly state: string | undefined }
  | { readonly kind: 'invalid'; readonly errors: readonly JobError[] };

type Rules = Pick<SandboxSettings, 'stateField' | 'stateValues' | 'states'>;

const BLANK = "can't be blank";

/**
 * Validates the given fields.
 * @param whole whether they form a complete job (create), which must have the required fields
 */
export function checkJob(fields: JobFields, whole: boolean, rules: Rules): CheckedJob {
  const errors: JobError[] = [];
  const { title, [rules.stateField]: state } = fields;
  if (title === undefined ? whole : title.trim() === '') errors.push({ field: 'title', message: BLANK });
  const found = state === undefined ? undefined : findState(state, rules);
  if (state === undefined ? whole : state.trim() === '') errors.push({ field: rules.stateField, message: BLANK });
  else if (state !== undefined && !found)
    errors.push({ field: rules.stateField, message: 'is not a valid U.S. state' });
  return errors.length > 0 ? { kind: 'invalid', errors } : { kind: 'valid', state: found?.abbreviation };
}

/** "Location state is not a valid U.S. state": the error as a sentence. */
export function errorSentence(error: JobError): string {
  const words = error.field.replaceAll('-', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} ${error.message}`;
}

// Recognises the state of a job.
// The sandbox has its own list instead of config/us-states.yaml: it represents another party's site, and sharing the list
// would hide mistakes in ours.

/** One state or territory: `abbreviation` as the U.S. Postal Service has it, `slug` as in page addresses. */
export interface State {
  readonly name: string;
  readonly abbreviation: string;
  readonly slug: string;
}

const STATES =
  'Alabama AL,Alaska AK,Arizona AZ,Arkansas AR,California CA,Colorado CO,Connecticut CT,Delaware DE,Florida FL,' +
  'Georgia GA,Hawaii HI,Idaho ID,Illinois IL,Indiana IN,Iowa IA,Kansas KS,Kentucky KY,Louisiana LA,Maine ME,' +
  'Maryland MD,Massachusetts MA,Michigan MI,Minnesota MN,Mississippi MS,Missouri MO,Montana MT,Nebraska NE,' +
  'Nevada NV,New Hampshire NH,New Jersey NJ,New Mexico NM,New York NY,North Carolina NC,North Dakota ND,Ohio OH,' +
  'Oklahoma OK,Oregon OR,Pennsylvania PA,Rhode Island RI,South Carolina SC,South Dakota SD,Tennessee TN,Texas TX,' +
  'Utah UT,Vermont VT,Virginia VA,Washington WA,West Virginia WV,Wisconsin WI,Wyoming WY';
const CAPITAL = 'District of Columbia DC';
const TERRITORIES = 'American Samoa AS,Guam GU,Northern Mariana Islands MP,Puerto Rico PR,U.S. Virgin Islands VI';

const readStates = (list: string): readonly State[] =>
  list.split(',').map((entry) => {
    const name = entry.slice(0, -3);
    return { name, abbreviation: entry.slice(-2), slug: name.toLowerCase().replaceAll('.', '').replaceAll(' ', '-') };
  });

const everything = readStates(`${STATES},${CAPITAL},${TERRITORIES}`);

/** The accepted states: the 50 states, with D.C., or with the territories too. */
export const stateLists = {
  states: everything.slice(0, 50),
  'states-and-dc': everything.slice(0, 51),
  all: everything,
} as const;

const bySlug = new Map(stateLists.all.map((state) => [state.slug, state]));
const byAbbreviation = new Map(stateLists.all.map((state) => [state.abbreviation, state]));
const byName = new Map(stateLists.all.map((state) => [state.name, state]));

/** The state with this slug, as in `/states/new-york`. */
export const stateBySlug = (slug: string): State | undefined => bySlug.get(slug);

/** The state with this abbreviation, as it is stored. */
export const stateByAbbreviation = (abbreviation: string): State | undefined => byAbbreviation.get(abbreviation);

/** The state that this value names exactly: a site does not guess. */
function findState(
  value: string,
  rules: { readonly stateValues: 'name' | 'abbreviation' | 'either'; readonly states: keyof typeof stateLists },
): State | undefined {
  const named = rules.stateValues === 'abbreviation' ? undefined : byName.get(value);
  const state = named ?? (rules.stateValues === 'name' ? undefined : byAbbreviation.get(value));
  return state && stateLists[rules.states].includes(state) ? state : undefined;
}

// Alters values before storing them, as real sites do (site-interface.md, section 2, leaves this open).

const REFERENCE = 'number';
/** Fields of columns that hold text, whatever it looks like. */
const TEXTS = new Set([REFERENCE, 'title', 'description', 'category-name', 'location-city', 'location-state']);
/** Characters that a site with short columns keeps. */
const CUT_AT = 40;
/** The time zone of the site, as in Hawaii: it has no daylight saving time. */
const ZONE = { name: '-10:00', ms: -10 * 3_600_000 };

type Change = (value: string, field: string) => string;

const trimmed: Change = (value) => value.replace(/\s+/g, ' ').trim();

const CHANGES: Readonly<Record<string, Change>> = {
  exact: (value) => value,
  trimmed,
  'upper-case': (value, field) => (field === REFERENCE ? value.toUpperCase() : value),
  stripped: (value, field) => (field === 'description' ? trimmed(value.replace(/<[^>]*>/g, ' '), field) : value),
  cut: (value) => [...value].slice(0, CUT_AT).join(''),
  composed: (value) => value.normalize('NFC').replace(/\r\n?/g, '\n'),
  titleized: (value, field) => (field === 'title' ? titleize(value) : value),
  sanitized: (value, field) => (field === 'description' ? sanitize(value) : value),
  converted: (value, field) => (TEXTS.has(field) ? value : convert(value)),
};

/** The stored form of the sent fields. */
export function storedFields(
  fields: JobFields,
  { storedValues, dropped }: Pick<SandboxSettings, 'storedValues' | 'dropped'>,
): JobFields {
  const changes = storedValues.split('+').map((name) => CHANGES[name] ?? ((value: string) => value));
  const isDropped = new Set(dropped.split(','));
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([field]) => !isDropped.has(field))
      .map(([field, value]) => [field, changes.reduce((changed, change) => change(changed, field), value)]),
  );
}

/** Rails' `titleize`: `Driver (CDL-A)` becomes `Driver (Cdl A)`. */
const titleize = (title: string): string =>
  title
    .replace(/([A-Z\d]+)([A-Z][a-z])/g, '$1_$2')
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
    .replace(/^_+|_id$/g, '')
    .replaceAll('_', ' ')
    .replace(/\b(?<!\w['’`()])[a-z]/g, (letter) => letter.toUpperCase());

/** What Rails' `sanitize` leaves of HTML: no scripts, no styles, no attributes but addresses, and `&` only as a reference. */
const sanitize = (html: string): string =>
  html
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<\/?(script|style|iframe|form|input|font|table|tr|td|u)\b[^>]*>/gi, '')
    .replace(/\s(?!href=|src=)[a-z-]+="[^"]*"(?=[^<]*>)/gi, '')
    .replace(/<(br|hr)\s*\/>/gi, '<$1>')
    .replaceAll('&nbsp;', '\u00a0')
    .replace(/&(?!(?:[a-z]+|#\d+|#x[\da-f]+);)/gi, '&amp;');

const INSTANT = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/;
const DECIMAL = /^-?\d+\.\d+$/;
const YES = /^(yes|true|on)$/i;
const NO = /^(no|false|off)$/i;

function convert(value: string): string {
  if (YES.test(value)) return 'true';
  if (NO.test(value)) return 'false';
  if (DECIMAL.test(value)) return value.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '.0');
  if (!INSTANT.test(value)) return value;
  return `${new Date(Date.parse(value) + ZONE.ms).toISOString().slice(0, 19)}${ZONE.name}`;
}

/** The type that Rails states for a value as it is stored; text has none. */
export function typeOf(value: string, field: string): string | undefined {
  if (TEXTS.has(field)) return undefined;
  if (/^(true|false)$/.test(value)) return 'boolean';
  if (DECIMAL.test(value)) return 'decimal';
  if (/^-?(0|[1-9]\d{0,17})$/.test(value)) return 'integer';
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return 'date';
  return INSTANT.test(value) ? 'dateTime' : undefined;
}
