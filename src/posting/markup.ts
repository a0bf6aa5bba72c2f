// Converts the content of an XML element with child elements to text, because a site's field can't contain elements.
import { htmlToText } from './html-text.ts';

/**
 * How elements inside a value are rendered: `plain` keeps only their text, in document order; `html` keeps them as
 * HTML; `escaped html` escapes that HTML, for a transform that unescapes once.
 */
export type MarkupForm = 'plain' | 'html' | 'escaped html';

/**
 * A CDATA section, comment, processing instruction or tag of well-formed XML. No text matches two of the alternatives.
 */
const MARKUP =
  /<!\[CDATA\[([\s\S]*?)\]\]>|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<(\/?)([^\s/>]+)((?:"[^"]*"|'[^']*'|[^"'>])*)>/g;
const ATTRIBUTE = /([^\s=]+)\s*=\s*("[^"]*"|'[^']*')/g;

/** HTML elements without an end tag. */
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));
const NOTHING_HIDDEN: ReadonlySet<string> = new Set();

/** `markup`: the well-formed content of one element. Prefixes, comments and processing instructions are dropped. */
export function renderMarkup(markup: string, form: MarkupForm): string {
  const html = toHtml(markup);
  switch (form) {
    case 'plain':
      return htmlToText(html, NOTHING_HIDDEN);
    case 'html':
      return html;
    case 'escaped html':
      return html.replaceAll('&', '&amp;');
  }
}

function toHtml(markup: string): string {
  return markup.replace(MARKUP, (_all, cdata?: string, slash = '', name?: string, rest = '') => {
    if (cdata !== undefined) return cdata.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    if (name === undefined) return '';
    const local = withoutPrefix(name);
    const start = `<${slash}${local}${attributesOf(rest)}>`;
    return rest.endsWith('/') && !VOID.has(local.toLowerCase()) ? `${start}</${local}>` : start;
  });
}

function attributesOf(written: string): string {
  let attributes = '';
  for (const [, name = '', value = ''] of written.matchAll(ATTRIBUTE)) {
    // Escape ">" for HTML readers that end a tag at the next one.
    if (!/^xmlns(:|$)/.test(name)) attributes += ` ${withoutPrefix(name)}=${value.replaceAll('>', '&gt;')}`;
  }
  return attributes;
}

const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1);
