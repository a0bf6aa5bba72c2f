// Validates the fields of a create or an update, and reports every error.
// The interface requires a valid U.S. state (site-interface.md, section 2); requiring a title is the sandbox's own choice.
import type { SandboxSettings } from './settings.ts';
import type { JobFields } from './store/jobs.ts';

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
