// Decodes the entities and character references in XML text, each once.
import { NAMED_CHARACTERS } from '../../../posting/html-entities.ts';

const REFERENCE = /&(?:#(\d{1,8});|#x([\da-f]{1,8});|(\w{1,32});|)/gi;

const UNDECODABLE = new Error('undecodable reference');

/** Decodes the references in a text; `undefined` if one of them can't be decoded. */
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
 * Decodes the references in a piece of text. Known names are XML's five and those of HTML 4; each stands for one
 * character, so text never grows. `complain` is called for a bare `&`, an unknown name and a code that is no character;
 * it must throw. References to control characters are decoded here and removed when the posting is read.
 */
export function decodeEntities(text: string, complain: (offset: number, message: string) => never): string {
  if (!text.includes('&')) return text;
  return text.replace(REFERENCE, (reference, decimal?: string, hex?: string, name?: string, offset = 0) => {
    if (name !== undefined) return NAMED_CHARACTERS[name] ?? complain(offset, `unknown entity ${reference}`);
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    if (Number.isNaN(code)) return complain(offset, 'a bare "&" must be written as &amp;');
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) complain(offset, `${reference} is not a character`);
    return String.fromCodePoint(code);
  });
}
