// Prints the demo's text: coloured on a terminal, plain in a pipe.
import { styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

export interface DemoPage {
  /** Prints a paragraph or list, each line indented by `indent` spaces. */
  say(text: string, indent?: number): void;
  /** Prints a heading, with an empty line above and below. */
  heading(text: string): void;
  /** Colours part of a line if the output supports colours. */
  paint(style: Style, text: string): string;
}

export function openPage(stream: NodeJS.WriteStream = process.stdout): DemoPage {
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
