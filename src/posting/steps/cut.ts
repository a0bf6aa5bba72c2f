// The step `max_length`: cuts a text at a word, or HTML after an element, with every open element closed.
import { accepted, type Transform } from '../transforms.ts';
import { cutHtml } from './cut-html.ts';

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
