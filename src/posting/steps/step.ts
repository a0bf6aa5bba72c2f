// One step from a field's text in the feed to its text on the site: a named transform, or one with settings.
import { TRANSFORMS, type Transform, type TransformName } from '../transforms.ts';
import { compileLookUp, type LookUpStep } from './look-up.ts';

export type SettingsStep = LookUpStep;

export type FieldStep = TransformName | SettingsStep;

/** Compiles a step once per feed. @param field names the field in refusals. */
export function compileStep(step: FieldStep, field: string): Transform {
  if (typeof step === 'string') return TRANSFORMS[step];
  return compileLookUp(step, field);
}
