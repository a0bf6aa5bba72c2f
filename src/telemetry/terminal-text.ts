// Turns text of feeds, sites and people into text that can't steer the terminal it is shown on.

/**
 * Characters that move the cursor, start escape sequences (C0 and C1 controls, OSC among them, and DEL), change the
 * direction of text, end a line in some programs, or carry invisible text (tags). Tab and line feed are kept.
 */
const STEERING =
  /(?![\t\n])[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u206f\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/**
 * Writes each such character as its escape, `\u001b`. The result of a JSON text is the same JSON value, because there
 * they occur only inside strings.
 */
export const terminalText = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(STEERING, (character) =>
      Array.from(
        { length: character.length },
        (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
      ).join(''),
    );
