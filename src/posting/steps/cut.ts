// The step `max_length`: cuts a text at a word, or HTML after an element, with every open element closed.
// Not truncate-html: it builds a tree of each description, with cheerio.
import { VOID_ELEMENTS } from '../markup.ts';
import { accepted, type Transform } from './transforms.ts';

export interface CutStep {
  readonly kind: 'max_length';
  /** Characters. */
  readonly most: number;
}

export function compileCut({ most }: CutStep): Transform {
  return {
    about: 'a text cut to a length',
    kind: 'shape',
    apply: (text) => accepted(isWithin(text, most) ? text : cut(text, most)),
  };
}

/** A character beyond the basic plane takes two code units, so count characters only above the limit. */
const isWithin = (text: string, most: number): boolean => text.length <= most || [...text].length <= most;

const ELEMENT = /<\/?[a-z][a-z0-9]*[\s/>]/i;

const cut = (text: string, most: number): string => (ELEMENT.test(text) ? cutHtml(text, most) : cutAtWord(text, most));

/** Cuts after the last whole word; a first word that is too long is cut itself. */
function cutAtWord(text: string, most: number): string {
  const head = wholeCharacters(text, most);
  const end = /\s/.test(text[head.length] ?? ' ') ? head.length : lastSpace(head);
  return (end <= 0 ? head : head.slice(0, end)).trimEnd();
}

function lastSpace(text: string): number {
  let at = text.length - 1;
  while (at >= 0 && !/\s/.test(text[at] ?? '')) at--;
  return at;
}

/** At most so many code units, without half of a pair. */
function wholeCharacters(text: string, most: number): string {
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
}
/** After one of these, the text before it reads as finished. */
const BLOCKS = new Set('p div ul ol li dl dd table tr blockquote section article h1 h2 h3 h4 h5 h6 br hr'.split(' '));
/** No description has so many elements inside each other; it keeps the time linear. */
const MAX_OPEN = 200;
/** Another start tag of these ends the element before it. */
const IMPLIED = new Set('p li dt dd tr td th option'.split(' '));

/**
 * At most `most` code units of the HTML. Of the places where it may end, the last one after a block is used if half of the
 * length comes before it, else the last one at a word. Empty if not even a word fits. Takes linear time.
 */
function cutHtml(html: string, most: number): string {
  const open: string[] = [];
  /** The code units that the end tags of the open elements take. */
  let toClose = 0;
  let block = '';
  let word = '';
  const upTo = (end: number): string =>
    html.slice(0, end) +
    open
      .map((name) => `</${name}>`)
      .toReversed()
      .join('');
  const close = (from: number): void => {
    for (const name of open.splice(from)) toClose -= name.length + 3;
  };
  for (const piece of piecesOf(html)) {
    const { start, end } = piece;
    if (piece.kind === 'text') {
      const last = end + toClose <= most ? end : wordEnd(html, start, Math.min(end, most - toClose));
      if (last > start) word = upTo(last);
      if (last < end) break;
      continue;
    }
    const { kind, name } = piece;
    if (kind === 'end') {
      const at = open.lastIndexOf(name);
      if (at >= 0) close(at);
      else if (end + toClose > most) break;
    } else {
      if (kind === 'start' && IMPLIED.has(name) && open.at(-1) === name) close(open.length - 1);
      const isOpening = kind === 'start' && !VOID_ELEMENTS.has(name);
      if (end + toClose + (isOpening ? name.length + 3 : 0) > most || open.length === MAX_OPEN) break;
      if (isOpening) {
        open.push(name);
        toClose += name.length + 3;
      }
    }
    if (BLOCKS.has(name) && (kind === 'end' || VOID_ELEMENTS.has(name)) && end + toClose <= most) block = upTo(end);
  }
  return (block.length * 2 >= most || word.length < block.length ? block : word).trimEnd();
}

/** How many elements are inside each other; counts to one more than `most`. An end tag may be missing for every start tag. */
export function nestingDepth(html: string, most: number): number {
  let depth = 0;
  let deepest = 0;
  for (const piece of piecesOf(html)) {
    if (piece.kind === 'end' && depth > 0) depth--;
    if (piece.kind !== 'start' || VOID_ELEMENTS.has(piece.name) || IMPLIED.has(piece.name)) continue;
    depth++;
    deepest = Math.max(deepest, depth);
    if (deepest > most) break;
  }
  return deepest;
}

/** The end of the last whole word of `html[start..end)`, if another character follows; `start`: there is none. */
function wordEnd(html: string, start: number, end: number): number {
  let at = end;
  while (at > start && !/\s/.test(html[at] ?? '')) at--;
  return Math.max(start, at);
}

type Piece =
  | { readonly kind: 'text'; readonly start: number; readonly end: number }
  /** `other`: a comment or declaration, without a name. */
  | { readonly kind: 'start' | 'end' | 'other'; readonly name: string; readonly start: number; readonly end: number };

const NAME = /<(\/?)([a-z][a-z0-9]*)/iy;

function* piecesOf(html: string): Generator<Piece> {
  let textFrom = 0;
  for (let start = html.indexOf('<'); start >= 0; start = html.indexOf('<', start + 1)) {
    NAME.lastIndex = start;
    const [, slash = '', written = ''] = NAME.exec(html) ?? [];
    const isComment = html.startsWith('<!', start);
    if (written === '' && !isComment) continue;
    const end = isComment ? commentEnd(html, start) : tagEnd(html, start);
    // A tag that never ends: the rest is text.
    if (end === undefined) break;
    if (start > textFrom) yield { kind: 'text', start: textFrom, end: start };
    const name = written.toLowerCase();
    const isEmpty = html[end - 2] === '/' && !VOID_ELEMENTS.has(name);
    yield { kind: isComment || isEmpty ? 'other' : slash === '' ? 'start' : 'end', name, start, end };
    textFrom = end;
    start = end - 1;
  }
  if (textFrom < html.length) yield { kind: 'text', start: textFrom, end: html.length };
}

function commentEnd(html: string, start: number): number | undefined {
  const closing = html.startsWith('<!--', start) ? '-->' : '>';
  const at = html.indexOf(closing, start);
  return at < 0 ? undefined : at + closing.length;
}

/** Behind the `>` that is in no quoted value. */
function tagEnd(html: string, start: number): number | undefined {
  let quote = '';
  for (let at = start + 1; at < html.length; at++) {
    const char = html[at] as string;
    if (quote !== '') quote = char === quote ? '' : quote;
    else if (char === '>') return at + 1;
    else if ((char === '"' || char === "'") && html[at - 1] === '=') quote = char;
  }
  return undefined;
}
