// The step `match`: takes what a pattern finds in a text.
import { compilePattern, MalformedPatternError } from '../pattern.ts';
import { accepted, refused, type Transform } from '../transforms.ts';
import { type Otherwise, withoutResult } from './otherwise.ts';

export interface MatchStep {
  readonly kind: 'match';
  readonly pattern: string;
  /** The result, with groups as `{1}` and the whole match as `{0}`; absent: the first group, or the whole match. */
  readonly take?: string;
  readonly otherwise: Otherwise;
}

/** Compiles the step. Throws {@link MalformedPatternError}. @param field names the field in refusals. */
export function compileMatch({ pattern: source, take, otherwise }: MatchStep, field: string): Transform {
  const pattern = compilePattern(source);
  const pieces = (take ?? (pattern.groups > 0 ? '{1}' : '{0}')).split(/\{(\d+)\}/);
  const missing = pieces.find((piece, at) => at % 2 === 1 && Number(piece) > pattern.groups);
  if (missing !== undefined) {
    throw new MalformedPatternError(`names the group ${missing}, but the pattern has ${pattern.groups}`);
  }
  return {
    about: 'a regular expression',
    kind: 'shape',
    scope: 'feed text',
    apply(text) {
      const found = pattern.find(text);
      switch (found.kind) {
        case 'too long':
        case 'over budget':
          return refused(`has ${text.length} characters, too many for the pattern of ${field}; use a smaller pattern`);
        case 'none':
          return withoutResult(text, otherwise, `has nothing that matches the pattern of ${field}`);
        case 'match':
          return accepted(pieces.map((piece, at) => (at % 2 === 0 ? piece : found.texts[Number(piece)])).join(''));
      }
    },
  };
}
