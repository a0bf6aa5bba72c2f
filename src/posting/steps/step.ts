// One step from a field's text in the feed to its text on the site: a named transform, or one with settings.
import { TRANSFORMS, type Transform, type TransformName } from '../transforms.ts';
import { type CutStep, compileCut } from './cut.ts';
import { compileDate, type DateStep } from './date-step.ts';
import { compileLookUp, type LookUpStep } from './look-up.ts';
import { compileMatch, type MatchStep } from './match.ts';
import { compilePlace, type PlaceStep } from './place-step.ts';
import { compileSanitize, type SanitizeStep } from './sanitize.ts';
import type { UsPlace } from './us-places.ts';

export type SettingsStep = LookUpStep | MatchStep | PlaceStep | DateStep | SanitizeStep | CutStep;

export type FieldStep = TransformName | SettingsStep;

/** What a step may need besides its settings. */
export interface StepContext {
  /** Names the field in refusals. */
  readonly field: string;
  readonly placeOf: (text: string) => UsPlace;
}

/** Compiles a step once per feed. Throws `MalformedPatternError`, and a `RangeError` for an unknown time zone. */
export function compileStep(step: FieldStep, { field, placeOf }: StepContext): Transform {
  if (typeof step === 'string') return TRANSFORMS[step];
  switch (step.kind) {
    case 'map':
      return compileLookUp(step, field);
    case 'match':
      return compileMatch(step, field);
    case 'us_place':
      return compilePlace(step, field, placeOf);
    case 'date':
      return compileDate(step);
    case 'sanitize':
      return compileSanitize(step);
    case 'max_length':
      return compileCut(step);
  }
}
