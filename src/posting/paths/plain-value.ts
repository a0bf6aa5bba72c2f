// What a feed's text says to people: characters that a web system has escaped once too often, and words that stand for nothing.
import type { FieldRule } from '../field-mapping.ts';
import { decodeHtmlEntities } from '../markup.ts';

/** Fields with HTML, in which an escaped character must stay one. */
const HTML_FIELD = /^(?:description|body|text|content|details)$/;
/** Fields of names and addresses, in which a truth value or "none" is never meant. */
const NAME_FIELD = /^(?:title|category|category-name|location-city|location-state|city|state|contact-.*|number)$/;
/** Steps that expect HTML. */
const HTML_STEPS: ReadonlySet<string> = new Set(['html', 'text', 'sanitize']);

const NOTHING = /^(?:nan|n\/a|null)$/i;
const NO_NAME = /^(?:false|true|none|nil|undefined)$/i;
const REFERENCE = /&(?:#\d+|#[xX][\da-fA-F]+|[A-Za-z][A-Za-z\d]*);/;

/** Whether a text is a word for no value that no field of names gets; truth values are no words. */
export const isLeftOutWord = (text: string): boolean =>
  NOTHING.test(text) || (NO_NAME.test(text) && !/^(?:false|true)$/i.test(text));

export interface PlainValue {
  readonly text: string;
  /** Whether escaped characters were unescaped. */
  readonly isUnescaped: boolean;
}

/** How the texts of one field are read. */
export interface PlainReader {
  /** Whether a trimmed text stands for no value: another path may have one. */
  readonly isNothing: (text: string) => boolean;
  readonly unescaped: (text: string) => PlainValue;
}

/**
 * | text                                | a name or an address | HTML               | any other field |
 * | ----------------------------------- | -------------------- | ------------------ | --------------- |
 * | `R&amp;D`, `R&amp;amp;D`            | `R&D`                | as it is           | `R&D`           |
 * | `&lt;b&gt;`                         | `<b>`                | as it is           | `<b>`           |
 * | `NaN`, `null`, `N/A`                | nothing              | nothing            | nothing         |
 * | `false`, `true`, `None`, `nil`      | nothing              | nothing            | as it is        |
 *
 * An escaped character is unescaped at most twice: by a system that escapes texts, and by one that escapes its output. Some systems
 * write `false` for an empty text (Odoo), others the name of their empty value (Python, JavaScript).
 */
export function compilePlain(field: string, { as, source }: FieldRule): PlainReader {
  const name = field.replaceAll('_', '-');
  const isHtml =
    HTML_FIELD.test(name) ||
    source.kind === 'sections' ||
    as.some((step) => HTML_STEPS.has(typeof step === 'string' ? step : step.kind));
  const isName = NAME_FIELD.test(name) || HTML_FIELD.test(name);
  return {
    // Longer texts are none of these words.
    isNothing: (text) => text.length < 12 && (NOTHING.test(text) || (isName && NO_NAME.test(text))),
    unescaped(text) {
      if (isHtml || !text.includes('&') || !REFERENCE.test(text)) return { text, isUnescaped: false };
      const once = decodeHtmlEntities(text);
      const plain = REFERENCE.test(once) ? decodeHtmlEntities(once) : once;
      return { text: plain, isUnescaped: plain !== text };
    },
  };
}
