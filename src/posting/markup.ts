// Turns the content of an XML element that holds elements into one text, because a site's field holds no elements.
import { htmlToText } from './html-text.ts';

/**
 * What becomes of elements inside of a value: `plain` leaves their text, in document order; `html` keeps them as HTML;
 * `escaped html` writes that as a feed does that escapes its HTML, for a transform that unescapes once.
 */
export type MarkupForm = 'plain' | 'html' | 'escaped html';

/** A CDATA section, a comment, an instruction or a tag of well-formed XML; its alternatives can't match the same text twice. */
const MARKUP =
  /<!\[CDATA\[([\s\S]*?)\]\]>|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<(\/?)([^\s/>]+)((?:"[^"]*"|'[^']*'|[^"'>])*)>/g;
const ATTRIBUTE = /([^\s=]+)\s*=\s*("[^"]*"|'[^']*')/g;

/** Elements of HTML that have no end tag. */
const VOID = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));
const NOTHING_HIDDEN: ReadonlySet<string> = new Set();

/** `markup`: the content of one element, well-formed. Names lose their prefixes, comments and instructions are left out. */
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
    // A ">" is escaped, for readers of HTML that look for the next one.
    if (!/^xmlns(:|$)/.test(name)) attributes += ` ${withoutPrefix(name)}=${value.replaceAll('>', '&gt;')}`;
  }
  return attributes;
}

const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1);
