// Finds fields of which most values stand for nothing, such as "TBD" or 1970-01-01, in samples of records.
import type { FieldMapping, FieldRule } from './field-mapping.ts';
import { takesNames } from './id-and-name.ts';
import { type MappingPath, pathsOf } from './paths/mapping-paths.ts';
import { isLeftOutWord } from './paths/plain-value.ts';
import { textsAt } from './paths/value-path.ts';
import type { Fields, RecordTree } from './posting.ts';
import { foldText } from './steps/step.ts';

/** A value is reported if it is that of so many records, and of this share of all. */
const FEWEST_RECORDS = 3;
const SMALLEST_SHARE = 0.5;
/** Different placeholders of one field that are named. */
const MAX_NAMED = 3;
/** No placeholder is longer. */
const MAX_LENGTH = 40;

/** Signs without a letter or a digit: `-`, `--`, `?`, `...`. */
const SIGNS = /^[-–—−_.?/\\~#]+$/;
const WORDS = new Set(
  [
    'n/a|n.a.|n.a|n/d|n/k|nan|null|nil|undefined|#n/a|#ref!|#value!|(null)|<null>|(blank)|(empty)|(none)|[none]|blank|empty',
    'tbd|tba|tbc|tbd.|to be determined|to be announced|to be confirmed|to be decided|to be advised|to be defined',
    'unknown|not known|unspecified|not specified|none specified|not available|not applicable|not provided|none provided|not given',
    'not stated|not set|not listed|not defined|not disclosed|undisclosed|undefined|unassigned|not assigned|unset|missing|no data|no value',
    'select|please select|select one|choose one|please choose|- select -|-- select --|http://|https://',
    'k.a.|k. a.|keine angabe|nicht angegeben|unbekannt|no especificado|sin especificar|desconocido|no disponible|não informado',
    'non spécifié|non renseigné|inconnu|niet opgegeven|onbekend',
  ].flatMap((line) => line.split('|')),
);
/** Fields that most postings have. Others are often empty, so the words that are left out anyway are no mistake there. */
const EXPECTED = /^(?:title|category|category-name|description|(?:location-)?(?:city|state))$/;
/** "NA" is also North America. */
const NOT_HERE = /region|country|market|area|location|state|city|territor/;

/** Where a calendar begins, or a day that is none: what a system writes for a date that it does not have. */
const NO_DATES = [
  /^(?:0000-00-00|0001-01-01|1899-12-3[01]|1900-01-0[01]|1970-01-01)(?:[T ]00:00(?::00(?:\.0+)?)?(?: ?(?:Z|UTC|GMT|[+-]00:?00))?)?$/i,
  /^00([/.-])00\1(?:0000|00)$/,
  /^0?1([/.-])0?1\1(?:0?001|1900|1970)(?: 0?0:00(?::00)?)?$/,
  /^(?:\w{3}, ?)?0?1 Jan(?:uary)? 1970\b/i,
  /^Jan(?:uary)? 0?1, 1970\b/i,
];

const ZEROS = /^[0\s()+.,/:-]*0[0\s()+.,/:-]*$/;
/** Fields in which zero is no number: "0" is a salary that is not known, but a count, a truth value or a code elsewhere. */
const NEVER_ZERO = new Set(
  (
    'salary pay wage compensation amount price zip zipcode postal postcode postalcode phone telephone tel fax mobile lat latitude lon lng ' +
    'longitude date posted expires expiry deadline title category city state email address url'
  ).split(' '),
);

/** Whether a value of a field stands for nothing. */
function isPlaceholder(field: string, value: string): boolean {
  if (value.length > MAX_LENGTH) return false;
  const text = foldText(value);
  if (text === 'na') return !NOT_HERE.test(field);
  if (SIGNS.test(text) || WORDS.has(text) || NO_DATES.some((pattern) => pattern.test(text))) return true;
  return ZEROS.test(text) && isNeverZero(field);
}

function isNeverZero(field: string): boolean {
  const words = field
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/);
  return !TRUTH.has(words[0] ?? '') && words.some((word) => NEVER_ZERO.has(word));
}

/** Names of truth values begin so. */
const TRUTH = new Set(['is', 'has', 'show', 'hide', 'display', 'allow', 'can', 'no']);

/** What is known of one placeholder of a field. */
interface Found {
  readonly value: string;
  count: number;
  /** Path → texts there that became the value, by their form in which conditions compare them. */
  readonly texts: Map<string, Map<string, string>>;
}

interface Source {
  readonly path: string;
  readonly text: string;
}

/** Takes samples of the records of one feed, with the fields that they become. */
export class PlaceholderCensus {
  #records = 0;
  readonly #fields: FieldMapping['fields'];
  readonly #paths: readonly MappingPath[];
  readonly #found = new Map<string, Map<string, Found>>();
  readonly #leftOut = new Map<string, Map<string, Found>>();

  constructor({ fields }: Pick<FieldMapping, 'fields'>) {
    this.#fields = fields;
    this.#paths = pathsOf({ key: { paths: [] }, fields });
  }

  add(record: RecordTree, fields: Fields): void {
    this.#records++;
    for (const [field, value] of Object.entries(fields)) {
      if (!isPlaceholder(field, value) || isIntended(this.#fields[field], value)) continue;
      count(this.#found, field, value, this.#sourceOf(field, value, record));
    }
    for (const [field, rules] of Object.entries(this.#fields)) {
      if (fields[field] !== undefined || !EXPECTED.test(field.replaceAll('_', '-'))) continue;
      if ([rules].flat().some(({ when }: FieldRule) => when !== undefined)) continue;
      const source = this.#textsOf(field, record).find(({ text }) => isLeftOutWord(text));
      if (source !== undefined) count(this.#leftOut, field, source.text, source);
    }
  }

  /** One sentence for each field of which most values stand for nothing. */
  mistakes(): readonly string[] {
    const sent = this.#frequent(this.#found).map(({ field, values, count: records, path, texts }) => {
      const advice = path === undefined ? '' : `; ${this.#advice(field, path, texts)}`;
      return `fields.${field}: ${values} is the value in ${this.#share(records)}, and seems to stand for nothing${advice}`;
    });
    const leftOut = this.#frequent(this.#leftOut).map(
      ({ field, values, count: records, path = '' }) =>
        `fields.${field}: "${path}" is ${values} in ${this.#share(records)}, which counts as no value, so the field is left out there; take another path if the records have one, or set a default`,
    );
    return [...sent, ...leftOut];
  }

  #share(records: number): string {
    return `${records} of the ${this.#records} records that were read`;
  }

  #frequent(all: ReadonlyMap<string, ReadonlyMap<string, Found>>) {
    return [...all].flatMap(([field, byText]) => {
      const found = [...byText.values()].sort((a, b) => b.count - a.count);
      const records = found.reduce((sum, one) => sum + one.count, 0);
      if (records < FEWEST_RECORDS || records < this.#records * SMALLEST_SHARE) return [];
      const named = found.slice(0, MAX_NAMED).map(({ value }) => `"${value}"`);
      const values = named.length === 1 ? named.join('') : `${named.slice(0, -1).join(', ')} or ${named.at(-1)}`;
      const [path] = found.flatMap(({ texts }) => [...texts.keys()]);
      const texts = found.flatMap((one) => [...(one.texts.get(path ?? '')?.values() ?? [])]);
      return [{ field, values, count: records, path, texts }];
    });
  }

  #advice(field: string, path: string, texts: readonly string[]): string {
    const when = `when: { ${yaml(path)}: { not: ${texts.length === 1 ? yaml(texts[0] ?? '') : `[${texts.map(yaml).join(', ')}]`} } }`;
    const rules: readonly FieldRule[] = [this.#fields[field] ?? []].flat();
    const [rule] = rules;
    if (rules.length === 1 && rule !== undefined && isPlainPath(rule)) {
      const steps =
        rule.as.length === 0 ? '' : `, as: ${rule.as.length === 1 ? rule.as[0] : `[${rule.as.join(', ')}]`}`;
      return `to leave it out: ${field}: { from: ${yaml(path)}${steps}, ${when} }`;
    }
    return `to leave it out, add ${when} to the rule of ${field} that reads "${path}"`;
  }

  /** The path that the value comes from: that of the same text, or the first one that has any, as a step has changed it. */
  #sourceOf(field: string, value: string, record: RecordTree): Source | undefined {
    const texts = this.#textsOf(field, record);
    const same = texts.find(({ text }) => foldText(text) === foldText(value));
    return same ?? texts.find(({ text }) => text.length <= MAX_LENGTH);
  }

  /** The first text at each path of a field. */
  #textsOf(field: string, record: RecordTree): readonly Source[] {
    const names = { takes: takesNames(field) };
    return this.#paths.flatMap(({ field: ofField, path, parsed }) => {
      if (ofField !== field) return [];
      const text = textsAt(parsed, record, 'plain', names).find((one) => one.trim() !== '');
      return text === undefined ? [] : [{ path, text: text.trim() }];
    });
  }
}

function count(all: Map<string, Map<string, Found>>, field: string, value: string, source: Source | undefined): void {
  const values = all.get(field) ?? new Map<string, Found>();
  all.set(field, values);
  const name = foldText(value);
  const found = values.get(name) ?? { value: name === value.toLowerCase() ? value : name, count: 0, texts: new Map() };
  values.set(name, found);
  found.count++;
  if (source === undefined) return;
  const texts = found.texts.get(source.path) ?? new Map<string, string>();
  found.texts.set(source.path, texts);
  if (texts.size < MAX_NAMED && !texts.has(foldText(source.text))) texts.set(foldText(source.text), source.text);
}

/** One path, and only named transforms. */
const isPlainPath = ({ when, source, as, default: fallback }: FieldRule): boolean =>
  when === undefined &&
  fallback === undefined &&
  source.kind === 'paths' &&
  source.paths.length === 1 &&
  source.join === undefined &&
  as.every((step) => typeof step === 'string');

/** Whether the configuration itself names the value: as a constant, a default, or in a look-up table. */
const isIntended = (rules: FieldMapping['fields'][string] | undefined, value: string): boolean =>
  [rules ?? []].flat().some(({ source, as, default: fallback }: FieldRule) => {
    const tables = as.flatMap((step) => (typeof step !== 'string' && step.kind === 'map' ? step.table : []));
    const named = [source.kind === 'constant' ? source.value : undefined, fallback, ...tables.map(([, to]) => to)];
    return named.includes(value);
  });

/** A text as YAML writes it within braces. */
const yaml = (text: string): string =>
  /^[A-Za-z][\w./ ]*$/.test(text) && !/^(?:null|true|false|yes|no|on|off|y|n|nan)$/i.test(text) && !/\s$/.test(text)
    ? text
    : JSON.stringify(text);
