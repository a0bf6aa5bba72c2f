// Serialises values as JSON that a jsonb column accepts.

// What JSON.stringify writes for the zero character and for lone surrogates, neither of which jsonb accepts.
const REFUSED = /\\u(?:0000|d[89a-f])/;

/** JSON text of a value; the zero character and lone surrogates in its strings become U+FFFD. */
export function toJsonb(value: unknown): string {
  const text = JSON.stringify(value);
  if (!REFUSED.test(text)) return text;
  return JSON.stringify(value, (_name, part) =>
    typeof part === 'string' ? part.toWellFormed().replaceAll('\0', '\ufffd') : part,
  );
}
