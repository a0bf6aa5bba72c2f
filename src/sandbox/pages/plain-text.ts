// Converts a description that may contain HTML to plain text, with paragraphs and list items on separate lines.
// The result is shown as text: HTML from a feed never reaches a browser as HTML.
import { Parser } from 'htmlparser2';

const BLOCKS = new Set('p div h1 h2 h3 h4 h5 h6 ul ol tr table section article'.split(' '));
const HIDDEN = new Set(['script', 'style']);

/** The description as text with line breaks. */
export function plainText(description: string): string {
  let text = '';
  let hidden = 0;
  const parser = new Parser({
    onopentagname(name) {
      if (HIDDEN.has(name)) hidden++;
      if (name === 'li') text += '\n• ';
      else if (name === 'br' || BLOCKS.has(name)) text += '\n';
    },
    ontext(part) {
      if (hidden === 0) text += part;
    },
    onclosetag(name) {
      if (HIDDEN.has(name)) hidden--;
      if (BLOCKS.has(name)) text += '\n';
    },
  });
  parser.end(description);
  return text
    .replace(/[ \t\u00a0]+/g, ' ')
    .replace(/ *\n */g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .replace(/^(• .*)\n\n(?=• )/gm, '$1\n')
    .trim();
}
