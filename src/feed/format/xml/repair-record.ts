// Repairs common faults of a record that is not well-formed XML, so it can be parsed as its author meant it.
import { tryDecodeEntities } from './entities.ts';
import { ATTRIBUTE, END_TAG, matchAt, START_TAG, TAG_END } from './xml-tags.ts';

export interface RepairedRecord {
  readonly xml: string;
  /** The repairs, for people: `2 bare "&"`. */
  readonly repairs: readonly string[];
}

/** HTML elements without an end tag that no feed uses as its own elements. */
const VOID = new Set(['br', 'hr', 'img', 'input', 'wbr']);

/** A reference as in the entity decoder, or a `&` alone. */
const REFERENCE = /&(?:#\d{1,8};|#x[\da-f]{1,8};|\w{1,32};|)/gi;

interface OpenTag {
  readonly name: string;
  /** Its index in the output pieces. */
  readonly piece: number;
}

/**
 * Escapes a bare `&`, an unknown entity and a `<` that begins no tag; closes `<br>` and similar elements where their
 * parent ends. Everything else stays, and the strict parser decides whether the result is readable, so no repair lets a
 * value swallow other elements. `undefined`: there is nothing to repair.
 */
export function repairRecord(xml: string): RepairedRecord | undefined {
  const pieces: string[] = [];
  const open: OpenTag[] = [];
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  const text = (part: string) => pieces.push(repairReferences(part, count));

  for (let at = 0; at < xml.length; ) {
    const markup = xml.indexOf('<', at);
    text(xml.slice(at, markup < 0 ? xml.length : markup));
    if (markup < 0) break;
    const section = sectionEnd(xml, markup);
    if (section === 'unended') return undefined;
    if (section !== undefined) {
      pieces.push(xml.slice(markup, section));
      at = section;
      continue;
    }
    const tagEnd = endOfTag(xml, markup);
    if (tagEnd === undefined) {
      // Directly in the record, it may have been the tag of an element with children.
      if (open.length < 2) return undefined;
      count('bare "<"');
      pieces.push('&lt;');
      at = markup + 1;
      continue;
    }
    const tag = xml.slice(markup, tagEnd);
    const name = /^<\/?([^\s/>]+)/.exec(tag)?.[1] ?? '';
    if (tag.startsWith('</')) {
      closeVoid(open, name, pieces, count);
      if (open.at(-1)?.name === name) open.pop();
      pieces.push(tag);
    } else {
      text(tag);
      if (!tag.endsWith('/>')) open.push({ name, piece: pieces.length - 1 });
    }
    at = tagEnd;
  }
  if (counts.size === 0) return undefined;
  return { xml: pieces.join(''), repairs: [...counts].map(([what, times]) => `${times} ${what}`) };
}

/** Before an end tag, closes open elements that need none, except for those directly in the record. */
function closeVoid(open: OpenTag[], name: string, pieces: string[], count: (what: string) => void): void {
  for (let top = open.at(-1); top !== undefined && top.name !== name; top = open.at(-1)) {
    if (!VOID.has(top.name.toLowerCase()) || open.length < 3) return;
    pieces[top.piece] = `${(pieces[top.piece] ?? '').slice(0, -1)}/>`;
    count(`unclosed <${top.name.toLowerCase()}>`);
    open.pop();
  }
}

/** The end of the CDATA section, comment or instruction that starts at `at`; `undefined`: none starts there. */
function sectionEnd(xml: string, at: number): number | 'unended' | undefined {
  for (const [start, terminator] of [
    ['<![CDATA[', ']]>'],
    ['<!--', '-->'],
    ['<?', '?>'],
  ] as const) {
    if (!xml.startsWith(start, at)) continue;
    const found = xml.indexOf(terminator, at + start.length);
    return found < 0 ? 'unended' : found + terminator.length;
  }
  return undefined;
}

/** The end of the tag that starts at `at`; `undefined`: it is not a well-formed tag. */
function endOfTag(xml: string, at: number): number | undefined {
  if (xml[at + 1] === '/') return matchAt(END_TAG, xml, at) === null ? undefined : END_TAG.lastIndex;
  if (matchAt(START_TAG, xml, at) === null) return undefined;
  let end = START_TAG.lastIndex;
  while (matchAt(ATTRIBUTE, xml, end) !== null) end = ATTRIBUTE.lastIndex;
  return matchAt(TAG_END, xml, end) === null ? undefined : TAG_END.lastIndex;
}

const repairReferences = (text: string, count: (what: string) => void): string =>
  text.includes('&')
    ? text.replace(REFERENCE, (reference) => {
        const isBare = reference === '&';
        if (!isBare && tryDecodeEntities(reference) !== undefined) return reference;
        count(isBare ? 'bare "&"' : 'unknown entity');
        return `&amp;${reference.slice(1)}`;
      })
    : text;
