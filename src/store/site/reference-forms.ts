// The forms in which references of site jobs are stored and compared.
import { createHash } from 'node:crypto';
import { compareReferences, referenceForm } from '../../plan/same-value.ts';

/** Begins the form of a reference that contains the token. No other form contains a space. */
export const SECRET_FORM = 'sha256 ';

/** Shorter references are not compared as prefixes, because consecutive numbers begin alike. */
const LEAST_CUT = 12;
/** Compared length of a reference, as an index cannot hold long texts. */
const MOST_OF_CLUE = 300;

/** What a site is known to make of a reference. */
export type Rewriting = (reference: string) => readonly string[];

export const shortForm = (reference: string): string => referenceForm(reference).slice(0, MOST_OF_CLUE);

/** Finds jobs that show a reference by their title, wherever they are, beside the blocks of their features. 48 bits. */
export const titleBlock = (title: string): number =>
  createHash('sha1').update(`title ${title}`).digest().readUIntBE(0, 6);

/** Can be compared, but not read. */
export const secretForm = (form: string): string => SECRET_FORM + createHash('sha256').update(form).digest('hex');

/** The forms of a reference, including what sites that truncate it may have kept. */
export function formsOf(reference: string, rewrittenAs: Rewriting): string[] {
  const form = shortForm(reference);
  const forms = [form, ...rewrittenAs(reference).map(shortForm)];
  for (let length = form.length - 1; length >= LEAST_CUT; length--) {
    const part = form.slice(0, length);
    if (compareReferences(form, part) === 'cut') forms.push(part);
  }
  return [...new Set(forms)];
}

/** The same for partial comparison; sites also drop leading zeros of a number. */
export const partsOf = (reference: string, rewrittenAs: Rewriting): string[] => [
  ...new Set([reference, reference.replace(/(?<!\d)0+(?=\d)/g, ''), ...rewrittenAs(reference)].map(shortForm)),
];
