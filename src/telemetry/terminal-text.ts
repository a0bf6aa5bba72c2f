// Escapes text of feeds, sites and people, to stop it from controlling the terminal.

/**
 * Characters that move the cursor, start escape sequences (C0 and C1 controls, OSC among them, and DEL), change the
 * direction of text, end a line in some programs, or carry invisible text (tags). Tab and line feed are kept. The flag `u`
 * is omitted because it makes the search three times as slow, and it runs over all output.
 */
const STEERING =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this expression searches for them.
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u206f\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;
const LONE_SURROGATE = /\p{Cs}/gu;

/**
 * Replaces each such character by its escape, such as `\u001b`. A JSON text keeps its value, because there they occur
 * only inside strings.
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
