// Regular expressions whose time is proportional to the text. Not JavaScript's own: theirs can take years for one text, and
// both the pattern and the text come from outside.
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

/** A compiled pattern. */
export interface Pattern {
  /** Whether the pattern occurs in the text; `undefined`: the text is too long for it. */
  readonly occursIn: (text: string) => boolean | undefined;
  /** The first match from a position on: all of it and its groups, an absent one as empty text. */
  readonly find: (text: string, from?: number) => Found;
  /** The number of groups. */
  readonly groups: number;
}

export type Found =
  | { readonly kind: 'match'; readonly texts: readonly string[]; readonly start: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'too long' };

/** The pattern can't be used; the message says why. */
export class MalformedPatternError extends Error {
  override readonly name = 'MalformedPatternError';
}

/** Instructions of the largest accepted pattern. */
const MAX_INSTRUCTIONS = 1_000;
/** Instructions times characters, at most: the slowest pattern takes about a second for so much. */
const MAX_WORK = 20_000_000;

/** Loaded for the first pattern: most configurations have none, and commands should start fast. */
let engine: typeof RE2JS | undefined;

/** Compiles a pattern in the syntax of RE2: no look-around, no back references. Throws {@link MalformedPatternError}. */
export function compilePattern(source: string): Pattern {
  engine ??= (createRequire(import.meta.url)('re2js') as { RE2JS: typeof RE2JS }).RE2JS;
  const compiled = compiledBy(engine, source);
  const size = compiled.programSize();
  if (size > MAX_INSTRUCTIONS) {
    throw new MalformedPatternError(`is too large (${size} steps, at most ${MAX_INSTRUCTIONS}); repeat less in it`);
  }
  const longest = Math.floor(MAX_WORK / Math.max(1, size));
  const groups = compiled.groupCount();
  return {
    groups,
    occursIn: (text) => (text.length > longest ? undefined : compiled.test(text)),
    find(text, from = 0) {
      if (text.length > longest) return { kind: 'too long' };
      const matcher = compiled.matcher(text);
      if (!matcher.find(from)) return { kind: 'none' };
      const texts = Array.from({ length: groups + 1 }, (_, at) => matcher.group(at) ?? '');
      return { kind: 'match', texts, start: matcher.start() };
    },
  };
}

function compiledBy(re2: typeof RE2JS, source: string): RE2JS {
  try {
    return re2.compile(source);
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : String(error);
    const help = /\(\?<?[=!]/.test(why) ? '; look-ahead and look-behind are not supported' : '';
    throw new MalformedPatternError(`is not a pattern: ${why}${help}`);
  }
}
