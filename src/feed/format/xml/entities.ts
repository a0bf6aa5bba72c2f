// Turns the entities and character references of XML text into the characters that they stand for, each once.
import { NAMED_CHARACTERS } from '../../../posting/html-entities.ts';

const REFERENCE = /&(?:#(\d{1,8});|#x([\da-f]{1,8});|(\w{1,32});|)/gi;

const UNDECODABLE = new Error('a reference that can not be decoded');

/** The same text with its references decoded; `undefined`: one of them can't be. */
export function tryDecodeEntities(text: string): string | undefined {
  try {
    return decodeEntities(text, () => {
      throw UNDECODABLE;
    });
  } catch (error) {
    if (error !== UNDECODABLE) throw error;
    return undefined;
  }
}

/**
 * Decodes the references in a piece of text. Named ones are XML's five and those of HTML 4, each of which stands for one
 * character, so that nothing can grow. `complain` is told of a bare `&`, an unknown name and a code that is no
 * character; it has to throw. References to control characters are decoded: they are removed where the posting is read.
 */
export function decodeEntities(text: string, complain: (offset: number, message: string) => never): string {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (reference, decimal?: string, hex?: string, name?: string, offset = 0) => {
    if (name !== undefined) return NAMED_CHARACTERS[name] ?? complain(offset, `the entity ${reference} is not known`);
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    if (Number.isNaN(code)) return complain(offset, 'a bare "&": it has to be written as &amp;');
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) complain(offset, `${reference} is no character`);
    return String.fromCodePoint(code);
  });
}
