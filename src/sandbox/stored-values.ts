// Alters values before storing them, as real sites do (site-interface.md, section 2, leaves this open).
import type { SandboxSettings } from './settings.ts';
import type { JobFields } from './store/jobs.ts';

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
