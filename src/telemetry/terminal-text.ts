// Turns text of feeds, sites and people into text that can't steer the terminal it is shown on.

/**
 * Characters that move the cursor, start escape sequences (C0 and C1 controls, OSC among them, and DEL), change the
 * direction of text, end a line in some programs, or carry invisible text (tags). Tab and line feed are kept. Written
 * without the flag `u`, which makes it three times as slow: it runs over all output.
 */
const STEERING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u206f\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;
const LONE_SURROGATE = /\p{Cs}/gu;

/**
 * Writes each such character as its escape, `\u001b`. The result of a JSON text is the same JSON value, because there
 * they occur only inside strings.
 */
export function terminalText(text: string): string {
  const lines = text.includes('\r') ? text.replaceAll('\r\n', '\n') : text;
  const steady = lines.replace(STEERING, escapeOf);
  return steady.isWellFormed() ? steady : steady.replace(LONE_SURROGATE, escapeOf);
}

const escapeOf = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
