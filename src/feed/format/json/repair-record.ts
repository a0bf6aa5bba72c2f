// Repairs common faults of a record that is not well-formed JSON, so it can be parsed as its author meant it.

export interface RepairedRecord {
  readonly json: string;
  /** The repairs, for people: `2 line breaks or other control characters in strings`. */
  readonly repairs: readonly string[];
}

/** A string with any characters in it, or what surrounds strings. */
const PART = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|[^"]+/g;
const CONTROL = /\p{Cc}/gu;
const TRAILING_COMMA = /,(?=\s*[}\]])/g;

/**
 * Escapes control characters in strings, and drops a comma before a closing bracket. Neither moves where a string or a
 * value ends; the strict parser decides whether the result is readable. `undefined`: there is nothing to repair.
 */
export function repairRecord(json: string): RepairedRecord | undefined {
  let controls = 0;
  let commas = 0;
  const repaired = json.replace(PART, (part) => {
    if (!part.startsWith('"')) {
      return part.replace(TRAILING_COMMA, () => {
        commas++;
        return '';
      });
    }
    return part.replace(CONTROL, (character) => {
      if (character >= '\x7f') return character;
      controls++;
      return JSON.stringify(character).slice(1, -1);
    });
  });
  if (controls + commas === 0) return undefined;
  return { json: repaired, repairs: [...count(controls, CONTROLS), ...count(commas, COMMAS)] };
}

const CONTROLS = [
  'line break or other control character in a string',
  'line breaks or other control characters in strings',
];
const COMMAS = ['comma before a closing bracket', 'commas before closing brackets'];

const count = (number: number, [one, several]: readonly string[]): readonly string[] =>
  number === 0 ? [] : [`${number} ${number === 1 ? one : several}`];
