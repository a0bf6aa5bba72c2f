// The settings for everything that site-interface.md leaves open: meaning, accepted values and default of each.

/** `retryAfter` is `retry-after`. */
export const toKebabCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** `true` is `yes`; everything else is as it is. */
export const spell = (value: unknown): string => (typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value));

interface SettingDescription {
  /** As written on the command line, such as `validation-status`. */
  readonly name: string;
  readonly description: string;
  readonly default: string;
  /** The accepted values, for people. */
  readonly accepts: string;
}

interface Setting<Value> {
  readonly description: string;
  readonly accepts: string;
  readonly initial: Value;
  /** `undefined`: not an accepted value. */
  parse(text: string): Value | undefined;
}

/** A choice; the first value is the default. */
const choice = <const Value extends string | number | boolean>(
  description: string,
  values: readonly [Value, ...Value[]],
): Setting<Value> => ({
  description,
  accepts: values.map(spell).join(', '),
  initial: values[0],
  parse: (text) => values.find((value) => spell(value) === text),
});

/** One or more of the values, joined with `+` and applied in that order; the first is the default. */
const several = <const Value extends string>(
  description: string,
  values: readonly [Value, ...Value[]],
): Setting<Value | `${Value}+${string}`> => ({
  description,
  accepts: `${values.join(', ')}; several with + between them`,
  initial: values[0],
  parse: (text) =>
    text.split('+').every((one) => (values as readonly string[]).includes(one))
      ? (text as Value | `${Value}+${string}`)
      : undefined,
});

const wholeNumber = (description: string, initial: number, least: number, most: number): Setting<number> => ({
  description,
  accepts: `${least} to ${most}`,
  initial,
  parse: (text) => {
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    return number >= least && number <= most ? number : undefined;
  },
});

const field = (description: string, initial: string): Setting<string> => ({
  description,
  accepts: 'a field name',
  initial,
  parse: (text) => (isFieldName(text.replaceAll('_', '-')) ? text.replaceAll('_', '-') : undefined),
});

const isFieldName = (name: string): boolean => /^[A-Za-z][A-Za-z0-9-]*$/.test(name);

const fieldNames = (description: string): Setting<string> => ({
  description,
  accepts: 'field names with commas between them, or nothing',
  initial: '',
  parse: (text) => {
    const names = text.replaceAll('_', '-').split(',').filter(Boolean);
    return names.every(isFieldName) ? names.join(',') : undefined;
  },
});

// In parentheses: the section of site-interface.md that leaves it open.
const settingTable = {
  validationStatus: choice('status of a validation failure (7.2)', [422, 400, 406, 409, 412, 200]),
  errorShape: choice('structure of the validation errors (7.3)', [
    'errors',
    'errors-array',
    'field-attribute',
    'nested',
    'error-root',
    'field-named',
    'plain-text',
  ]),
  deleteStatus: choice('status of a successful delete (4, rule 3)', [200, 204]),
  deletedJobs: choice(
    'how a deleted job is shown: not at all, with 410, or with the time of its deletion in deleted-at; none is listed (4)',
    ['no', '410', 'flagged'],
  ),
  updateBody: choice('body of a successful update (4, rule 5); none: 204', ['job', 'blank', 'empty', 'none']),
  omittedFields: choice('what an update does to the fields that it omits (4)', ['keep', 'clear']),
  location: choice('form of the Location header of a create (4)', [
    'absolute',
    'absolute-xml',
    'relative',
    'relative-xml',
  ]),
  idInBody: choice('whether the XML of a job carries its id, or only Location does (2)', [true, false]),
  idForm: choice('what job IDs look like (4)', ['number', 'uuid', 'slug']),
  idReuse: choice('whether the number of a deleted job becomes the ID of a new one (4)', [false, true]),
  storedValues: several(
    "how values are changed before they are stored and shown; titleized, sanitized: Rails' titleize and sanitize; " +
      'converted: numbers, times and words for yes and no, as from columns of these types (2)',
    ['exact', 'trimmed', 'upper-case', 'stripped', 'cut', 'composed', 'titleized', 'sanitized', 'converted'],
  ),
  dropped: fieldNames(
    'fields that are not stored, without a word, as Rails treats parameters that it does not permit (2)',
  ),
  types: choice('whether the XML of a job states the types of its values, as Rails does (2)', [true, false]),
  stateField: field('the field that carries the state (2)', 'location-state'),
  stateValues: choice('how a state is written (2)', ['name', 'abbreviation', 'either']),
  states: choice('which states are valid (2)', ['states-and-dc', 'states', 'all']),
  separator: choice(
    'how names of several words are written in responses; mixed: fields with -, created_at with _ (2)',
    ['mixed', '-', '_'],
  ),
  pageSize: wholeNumber('jobs on one page of a list (4, rule 6)', 50, 1, 10_000),
  paging: choice(
    'how the next page of a list is asked for: ?page=2, ?offset=50, by a Link header, or not at all; cached: by a Link ' +
      'header, behind a cache that knows only the first page (4, rule 6)',
    ['page', 'offset', 'link', 'none', 'cached'],
  ),
  maxBodyBytes: wholeNumber('largest request body in bytes (8)', 1_048_576, 1, 1_073_741_824),
};

/** All settings of a sandbox, by their names in code. */
export type SandboxSettings = {
  readonly [Name in keyof typeof settingTable]: (typeof settingTable)[Name]['initial'];
};

const entries = Object.entries(settingTable) as [keyof SandboxSettings, Setting<string | number | boolean>][];

export const defaultSettings = Object.fromEntries(
  entries.map(([name, setting]) => [name, setting.initial]),
) as SandboxSettings;

/** The descriptions of all settings. */
export const settingDescriptions: readonly SettingDescription[] = entries.map(([name, setting]) => ({
  name: toKebabCase(name),
  description: setting.description,
  default: spell(setting.initial),
  accepts: setting.accepts,
}));

/**
 * Parses one setting.
 * @param name as in {@link settingDescriptions}
 * @returns an object with only that setting, to be spread over others
 * @throws Error that lists the settings, or the accepted values
 */
export function readSetting(name: string, text: string): Partial<SandboxSettings> {
  const entry = entries.find(([key]) => toKebabCase(key) === name);
  if (!entry)
    throw new Error(`no sandbox setting '${name}': there are ${settingDescriptions.map((s) => s.name).join(', ')}`);
  const value = entry[1].parse(text);
  if (value === undefined) throw new Error(`sandbox setting ${name}: '${text}' is not one of ${entry[1].accepts}`);
  return { [entry[0]]: value };
}
