// The named transforms that convert a field's text for the site. None of them throws.
import { explainNoDate, isoDate, type NumericOrder } from '../dates.ts';
import { decodeHtmlEntities, htmlToText } from '../markup.ts';

/** A transform's result: the new text, or the reason for a refusal, for people. */
export type Transformed =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'refused'; readonly message: string };

export interface Transform {
  /** For the configuration reference. */
  readonly about: string;
  /**
   * A `check` leaves its own results unchanged, so it also runs on a reviewer's edits. A `shape` transform runs only
   * once, on the feed's text.
   */
  readonly kind: 'shape' | 'check';
  /** `feed text`: does not apply to a configured default. */
  readonly scope?: 'feed text';
  readonly apply: (text: string, readState: ReadState) => Transformed;
}

/** Converts a state to the value that the site accepts. */
export type ReadState = (text: string) => Transformed;

export const accepted = (value: string): Transformed => ({ kind: 'value', value });
export const refused = (message: string): Transformed => ({ kind: 'refused', message });

/** Transforms by their configuration name. All receive trimmed, non-empty text. */
export const TRANSFORMS = {
  text: shape('HTML to plain text, with paragraphs and list items on their own lines', (html) => htmlToText(html)),
  html: shape('HTML escaped as entities (`&lt;p&gt;`) to HTML, unescaped once', decodeHtmlEntities),
  first_line: shape('the first line only', (text) => text.split('\n', 1)[0] ?? ''),
  upper: shape('to upper case', (text) => text.toUpperCase()),
  lower: shape('to lower case', (text) => text.toLowerCase()),
  us_state: {
    about:
      'a U.S. state in any spelling ("MA", "Mass.", "US-MA") to the value that the site accepts; rejects anything else',
    kind: 'check',
    apply: (text, readState) => readState(text),
  },
  date: date('a date (ISO 8601, RFC 822, `YYYY-MM-DD HH:MM:SS`, milliseconds since 1970) to ISO 8601'),
  date_mdy: date('as `date`, and `4/8/2012` is 8 April', 'month first'),
  date_dmy: date('as `date`, and `4.8.2012` is 4 August', 'day first'),
  number: check(
    'a number or an amount (`$20.00`, `59,334`, `62.500,00 €`) to plain digits; rejects `3.000`, which may be 3 or 3000',
    (text) => plainNumber(text),
  ),
  number_point: check('as `number`, and the decimal sign is a point: `3.000` is 3', (text) => plainNumber(text, '.')),
  number_comma: {
    about: 'as `number`, and the decimal sign is a comma: `3.000` is 3000',
    // The result of this transform has a decimal point, which the transform itself would drop.
    kind: 'shape',
    scope: 'feed text',
    apply: (text) => plainNumber(text, ','),
  },
  url: check('an absolute http or https URL; rejects anything else', webAddress),
  email: check('a single e-mail address, without `mailto:`; rejects anything else', emailAddress),
} as const satisfies Record<string, Transform>;

export type TransformName = keyof typeof TRANSFORMS;

export const TRANSFORM_NAMES = Object.keys(TRANSFORMS) as readonly TransformName[];

function shape(about: string, change: (text: string) => string): Transform {
  return { about, kind: 'shape', apply: (text) => accepted(change(text)) };
}

function check(about: string, apply: (text: string) => Transformed): Transform {
  return { about, kind: 'check', apply };
}

function date(about: string, order?: NumericOrder): Transform {
  const hint =
    order === undefined
      ? 'dates such as 4/8/2012 need date_mdy or date_dmy'
      : 'check its order of day and month (date_mdy or date_dmy)';
  return check(about, (text) => {
    const iso = isoDate(text, order);
    return iso === undefined ? refused(explainNoDate(text, hint)) : accepted(iso);
  });
}

const CURRENCY = /^(?:USD|US\$|CAD|C\$|AUD|A\$|EUR|GBP|CHF|\p{Sc})\s*|\s*(?:USD|CAD|AUD|EUR|GBP|CHF|\p{Sc})$/giu;
/** Groups of three digits with one of the signs that separate them. */
const GROUPED: Readonly<Record<string, RegExp>> = {
  ',': /^\d{1,3}(?:,\d{3})+$/,
  '.': /^\d{1,3}(?:\.\d{3})+$/,
  other: /^\d{1,3}(?:(?:[\u00a0\u202f ]|['\u2019])\d{3})+$/,
};

/**
 * @param decimal the field's decimal sign; absent: as the number shows it. A single sign before three digits separates thousands if it is
 * a comma, as U.S. feeds write it; if it is a point, nobody can tell.
 */
function plainNumber(text: string, decimal?: '.' | ','): Transformed {
  if (text.length > 100) return refused('is not a number');
  const [, sign = '', unsigned = ''] = /^(-?)\s*(.*)$/.exec(text.replace(CURRENCY, '').trim()) ?? [];
  const amount = unsigned.replace(CURRENCY, '');
  const points = amount.split('.').length - 1;
  const commas = amount.split(',').length - 1;
  if (decimal === undefined && commas === 0 && /^[1-9]\d{0,2}\.\d{3}$/.test(amount)) {
    return refused('may be a number with a fraction or with thousands; use number_point or number_comma');
  }
  const last = amount.lastIndexOf(',') > amount.lastIndexOf('.') ? ',' : '.';
  const isFraction = last === ',' ? commas === 1 && (points > 0 || !GROUPED[',']?.test(amount)) : points === 1;
  const point = decimal ?? (isFraction ? last : last === ',' ? '.' : ',');
  const [whole = '', fraction, ...more] = amount.split(point);
  const isWhole = /^\d+$/.test(whole) || GROUPED[point === '.' ? ',' : '.']?.test(whole) || GROUPED.other?.test(whole);
  if (!isWhole || more.length > 0 || (fraction !== undefined && !/^\d+$/.test(fraction)))
    return refused('is not a number');
  return accepted(`${sign}${whole.replace(/\D/g, '')}${fraction === undefined ? '' : `.${fraction}`}`);
}

function webAddress(text: string): Transformed {
  const isWeb = /^https?:\/\/[^\s]+$/i.test(text) && URL.canParse(text);
  return isWeb
    ? accepted(text)
    : refused('is not a web address; it must start with http:// or https:// and contain no spaces');
}

function emailAddress(text: string): Transformed {
  const address = text.replace(/^mailto:/i, '').trim();
  const isAddress = address.length <= 254 && /^[^\s@<>,;]+@[^\s@<>,;]+\.[^\s@.<>,;]+$/.test(address);
  return isAddress ? accepted(address) : refused('is not a single e-mail address');
}
