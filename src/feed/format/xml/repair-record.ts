// Repairs the usual faults of a record that is not well-formed XML, so that it can be parsed as its author meant it.
import { tryDecodeEntities } from './entities.ts';
import { ATTRIBUTE, END_TAG, matchAt, START_TAG, TAG_END } from './xml-tags.ts';

export interface RepairedRecord {
  readonly xml: string;
  /** What was repaired, for people: `2 bare "&"`. */
  readonly repairs: readonly string[];
}

/** Elements of HTML without an end tag that no feed has as elements of its own. */
const VOID = new Set(['br', 'hr', 'img', 'input', 'wbr']);

/** The same as what entities are decoded from: a reference, or a `&` alone. */
const REFERENCE = /&(?:#\d{1,8};|#x[\da-f]{1,8};|\w{1,32};|)/gi;

interface OpenTag {
  readonly name: string;
  /** Which piece of the output it is. */
  readonly piece: number;
}

/**
 * Writes a bare `&` and an unknown entity as text, and a `<` that begins no tag; closes `<br>` and its like where
 * the element around them ends. All else stays as it is: whether the record can be read now is for the parser to say, so
 * that no repair lets a value swallow other elements. `undefined`: nothing of it can be repaired.
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
      // Directly in the record it may have been the tag of an element around others.
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

/** Before an end tag: elements that have none themselves end here, but for those directly in the record. */
function closeVoid(open: OpenTag[], name: string, pieces: string[], count: (what: string) => void): void {
  for (let top = open.at(-1); top !== undefined && top.name !== name; top = open.at(-1)) {
    if (!VOID.has(top.name.toLowerCase()) || open.length < 3) return;
    pieces[top.piece] = `${(pieces[top.piece] ?? '').slice(0, -1)}/>`;
    count(`unclosed <${top.name.toLowerCase()}>`);
    open.pop();
  }
}

/** Where CDATA, a comment or an instruction that starts at `at` ends; `undefined`: there is none. */
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

/** Where the tag that starts at `at` ends; `undefined`: it is no tag of XML. */
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
        if (tryDecodeEntities(reference) !== undefined) return reference;
        count(reference === '&' ? 'bare "&"' : 'unknown entity');
        return `&amp;${reference.slice(1)}`;
      })
    : text;
