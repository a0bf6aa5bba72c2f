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
export function findState(
  value: string,
  rules: { readonly stateValues: 'name' | 'abbreviation' | 'either'; readonly states: keyof typeof stateLists },
): State | undefined {
  const named = rules.stateValues === 'abbreviation' ? undefined : byName.get(value);
  const state = named ?? (rules.stateValues === 'name' ? undefined : byAbbreviation.get(value));
  return state && stateLists[rules.states].includes(state) ? state : undefined;
}
