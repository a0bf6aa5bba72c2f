// The named transforms that convert a field's text for the site. None of them throws.
import { isoDate, type NumericOrder } from './dates.ts';
import { decodeHtmlEntities } from './html-entities.ts';
import { htmlToText } from './html-text.ts';

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
  number: check('a number or an amount (`$20.00`, `59,334`) to plain digits', plainNumber),
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
    return iso === undefined ? refused(`is not a recognised date; ${hint}`) : accepted(iso);
  });
}

/** ASSUMED: a comma separates thousands, as U.S. feeds write it; "1.234,56" is refused, not guessed. */
function plainNumber(text: string): Transformed {
  const match = /^(-?)\s*(?:USD|US\$|\$)?\s*(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?\s*(?:USD|\$)?$/i.exec(text.slice(0, 100));
  if (match === null || text.length > 100) return refused('is not a number');
  const [, sign = '', whole = '', fraction = ''] = match;
  return accepted(`${sign}${whole.replaceAll(',', '')}${fraction}`);
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
