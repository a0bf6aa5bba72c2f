// Prints the demo's text: headings, lines and marks, in modest colour on a terminal and plain in a pipe.
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

export interface Page {
  /** A paragraph or list; each line of the text is indented by `indent` blanks. */
  say(text: string, indent?: number): void;
  /** A heading, with an empty line above and below. */
  heading(text: string): void;
  /** Colours a part of a line, where the output shows colours. */
  paint(style: Style, text: string): string;
}

export function openPage(stream: NodeJS.WriteStream = process.stdout): Page {
  const colours = stream.isTTY === true && stream.hasColors();
  const paint = (style: Style, text: string): string =>
    colours ? styleText(style, text, { validateStream: false }) : text;
  const say = (text: string, indent = 2): void => {
    stream.write(`${text.replace(/^(?=.)/gm, ' '.repeat(indent))}\n`);
  };
  return {
    say,
    paint,
    heading: (text) => say(`\n${paint('bold', text)}\n`, 0),
  };
}
