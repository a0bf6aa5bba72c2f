// Regular expressions whose time is proportional to the text. Not JavaScript's own: theirs can take years for one text, and
// both the pattern and the text come from outside.
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

/** What may still be spent on matches. It depends on pattern and text only, never on time, so a record is always read alike. */
export interface PatternBudget {
  steps: number;
}

/** A compiled pattern. */
export interface Pattern {
  /** Whether the pattern occurs in the text; `undefined`: the text is too long for it. */
  readonly occursIn: (text: string) => boolean | undefined;
  /**
   * The first match from a position on: all of it and its groups, an absent one as empty text. @param budget for one match after the
   * other, each of which may read the whole rest of the text.
   */
  readonly find: (text: string, from?: number, budget?: PatternBudget) => PatternResult;
  /** The number of groups. */
  readonly groups: number;
  /** Characters that it is matched with at most. */
  readonly longest: number;
}

export type PatternResult =
  | { readonly kind: 'match'; readonly texts: readonly string[]; readonly start: number }
  | { readonly kind: 'none' }
  | { readonly kind: 'too long' }
  | { readonly kind: 'over budget' };

/** The pattern can't be used; the message says why. */
export class MalformedPatternError extends Error {
  override readonly name = 'MalformedPatternError';
}

/** Instructions of the largest accepted pattern. */
const MAX_INSTRUCTIONS = 1_000;
/** Instructions times characters, at most: the slowest pattern takes about a second for so much. */
const MAX_WORK = 20_000_000;
/** What a search costs besides its steps, in steps: the engine prepares its memory, and searches for literal parts of the pattern. */
const STEPS_PER_SEARCH = 10;
const CHARACTERS_PER_STEP = 4_096;

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
    longest,
    occursIn: (text) => (text.length > longest ? undefined : compiled.test(text)),
    find(text, from = 0, budget) {
      if (text.length > longest) return { kind: 'too long' };
      const matcher = compiled.matcher(text);
      try {
        if (!spending(compiled, text.length - from, budget, () => matcher.find(from))) return { kind: 'none' };
      } catch (error) {
        if (error instanceof BudgetSpent) return { kind: 'over budget' };
        throw error;
      }
      const texts = Array.from({ length: groups + 1 }, (_, at) => matcher.group(at) ?? '');
      return { kind: 'match', texts, start: matcher.start() };
    },
  };
}

class BudgetSpent extends Error {}

/** What of the engine is used here, which its types lack. */
interface Engine {
  executeEngine(input: { step(at: number): number }, ...rest: unknown[]): unknown;
}

/** Counts the characters that the engine reads. */
function spending<Result>(
  compiled: RE2JS,
  characters: number,
  budget: PatternBudget | undefined,
  search: () => Result,
): Result {
  if (budget === undefined) return search();
  budget.steps -= STEPS_PER_SEARCH + characters / CHARACTERS_PER_STEP;
  const engineOfPattern = compiled.re2() as unknown as Engine;
  const { executeEngine } = engineOfPattern;
  engineOfPattern.executeEngine = (input, ...rest) => {
    const step = input.step.bind(input);
    input.step = (at) => {
      if (--budget.steps < 0) throw new BudgetSpent();
      return step(at);
    };
    return executeEngine.call(engineOfPattern, input, ...rest);
  };
  try {
    if (budget.steps < 0) throw new BudgetSpent();
    return search();
  } finally {
    engineOfPattern.executeEngine = executeEngine;
  }
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
