// The step `sanitize`: reduces HTML to the elements that a site accepts.
import { createRequire } from 'node:module';
import type sanitizeHtml from 'sanitize-html';
import { nestingDepth } from './cut.ts';
import { accepted, refused, type Transform } from './transforms.ts';

export interface SanitizeStep {
  readonly kind: 'sanitize';
  /** Names of the elements that stay; of others, only the content stays. */
  readonly elements: readonly string[];
}

/** What most sites show: paragraphs, lists, headings, emphasis and links. */
export const DEFAULT_ELEMENTS = 'p br ul ol li strong b em i u h1 h2 h3 h4 h5 h6 blockquote a'.split(' ');

/** Blocks of which only the content stays, if the site does not accept them: their ends still part words and lines. */
const BLOCK_END =
  /<\/(address|article|aside|dd|div|dl|dt|footer|form|h[1-6]|header|li|main|nav|ol|p|section|table|td|th|tr|ul)\s{0,20}>/gi;
/** Elements whose content is not text for people. */
const HIDDEN = 'script style textarea option noscript template title iframe object'.split(' ');

/** The library's time grows with the square of the depth. */
const MAX_DEPTH = 200;

/** Loaded for the first text: it takes as long as a short command. */
let sanitize: typeof sanitizeHtml | undefined;

/** Compiles the step. Attributes are dropped, except the web and mail addresses of links. */
export function compileSanitize({ elements }: SanitizeStep): Transform {
  const kept = new Set(elements);
  const lineBreak = kept.has('br') ? '<br>' : '\n';
  const options: sanitizeHtml.IOptions = {
    allowedTags: [...elements],
    allowedAttributes: { a: ['href'] },
    allowedSchemes: ['http', 'https', 'mailto', 'tel'],
    allowProtocolRelative: false,
    parseStyleAttributes: false,
    nonTextTags: HIDDEN,
  };
  const withBreaks = (html: string) =>
    html.replace(BLOCK_END, (tag, name: string, at: number) => {
      if (kept.has(name.toLowerCase())) return tag;
      let before = at - 1;
      while (before >= 0 && /\s/.test(html[before] ?? '')) before--;
      return `${before < 0 || html[before] === '>' ? '\n' : lineBreak}${tag}`;
    });
  return {
    about: 'HTML reduced to some elements',
    kind: 'shape',
    apply(text) {
      if (nestingDepth(text, MAX_DEPTH) > MAX_DEPTH) {
        return refused(`has more than ${MAX_DEPTH} HTML elements inside each other`);
      }
      sanitize ??= createRequire(import.meta.url)('sanitize-html') as typeof sanitizeHtml;
      return accepted(sanitize(withBreaks(text), options));
    },
  };
}
