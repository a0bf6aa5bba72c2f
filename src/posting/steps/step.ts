// One step from a field's text in the feed to its text on the site: a named transform, or one with settings.
import { TRANSFORMS, type Transform, type TransformName } from '../transforms.ts';
import { compileLookUp, type LookUpStep } from './look-up.ts';
import { compileMatch, type MatchStep } from './match.ts';

export type SettingsStep = LookUpStep | MatchStep;

export type FieldStep = TransformName | SettingsStep;

/** Compiles a step once per feed. Throws `MalformedPatternError`. @param field names the field in refusals. */
export function compileStep(step: FieldStep, field: string): Transform {
  if (typeof step === 'string') return TRANSFORMS[step];
  switch (step.kind) {
    case 'map':
      return compileLookUp(step, field);
    case 'match':
      return compileMatch(step, field);
  }
}
