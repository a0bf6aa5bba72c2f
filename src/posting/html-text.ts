// Converts an HTML description to plain text with paragraphs and list items on their own lines.
// Not html-to-text: it builds a tree of each description first, and descriptions are most of a feed.
import { decodeHtmlEntities } from './html-entities.ts';

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
