// Converts the content of an XML element with child elements, and HTML, to text: a site's field can't contain elements.
import { decodeHtmlEntities } from './html-entities.ts';

// Converts an HTML description to plain text with paragraphs and list items on their own lines.
// Not html-to-text: it builds a tree of each description first, and descriptions are most of a feed.

const BLOCKS = new Set(
  'address article aside blockquote dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table tr ul'.split(
    ' ',
  ),
);
/** Elements whose content is not text for people. */
const HIDDEN: ReadonlySet<string> = new Set(['script', 'style', 'template', 'title']);

const TAG_START = /^<(\/?)([A-Za-z][A-Za-z0-9]*)/;

/**
 * Strips tags and comments, decodes entities and collapses spaces. Blocks end in a blank line, `<br>` becomes a line
 * break, list items start with "- ". A `<` that starts no tag ("salary < 50k") stays. Runs in linear time for any
 * input. `hidden` names the elements that are dropped with their content.
 */
export function htmlToText(html: string, hidden = HIDDEN): string {
  let text = '';
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open < 0) break;
    text += collapse(html.slice(at, open));
    const tag = readTag(html, open, hidden);
    // In a tag or comment that never ends, the rest is not text.
    if (tag.kind === 'unended') return tidy(text);
    text += tag.kind === 'text' ? '<' : replacement(tag);
    at = tag.end;
  }
  return tidy(text + collapse(html.slice(at)));
}

type Tag =
  | { readonly kind: 'tag'; readonly name: string; readonly closing: boolean; readonly end: number }
  /** The `<` is an ordinary character. */
  | { readonly kind: 'text'; readonly end: number }
  | { readonly kind: 'unended' };

function readTag(html: string, open: number, hidden: ReadonlySet<string>): Tag {
  const next = html[open + 1] ?? '';
  const isComment = html.startsWith('<!--', open);
  if (!isComment && !/[A-Za-z/!?]/.test(next)) return { kind: 'text', end: open + 1 };
  const end = endAfter(html, isComment ? '-->' : '>', open);
  if (end === undefined) return { kind: 'unended' };
  const [, slash = '', written = ''] = TAG_START.exec(html.slice(open, open + 20)) ?? [];
  const name = written.toLowerCase();
  const closing = slash !== '';
  if (closing || !hidden.has(name)) return { kind: 'tag', name, closing, end };
  const closingTag = new RegExp(`</${name}\\s*>`, 'gi');
  closingTag.lastIndex = end;
  return closingTag.test(html) ? { kind: 'tag', name, closing, end: closingTag.lastIndex } : { kind: 'unended' };
}

function endAfter(html: string, closing: string, from: number): number | undefined {
  const found = html.indexOf(closing, from);
  return found < 0 ? undefined : found + closing.length;
}

function replacement({ name, closing }: { readonly name: string; readonly closing: boolean }): string {
  if (name === 'br') return '\n';
  if (name === 'li') return closing ? '' : '\n- ';
  if (name === 'td' || name === 'th') return closing ? ' ' : '';
  return BLOCKS.has(name) ? '\n\n' : '';
}

/** In HTML, a line break in the source is just a space. */
const collapse = (text: string): string => decodeHtmlEntities(text.replace(/\s+/g, ' '));

function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/[ \u00A0]+/g, ' ').trim());
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

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
export const VOID_ELEMENTS = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));
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
    return rest.endsWith('/') && !VOID_ELEMENTS.has(local.toLowerCase()) ? `${start}</${local}>` : start;
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
