// The step `us_place`: the city or the state of a place.
import { accepted, type Transform } from '../transforms.ts';
import { type Otherwise, withoutResult } from './otherwise.ts';
import type { UsPlace } from './us-places.ts';

export const PLACE_PARTS = ['city', 'state'] as const;

export interface PlaceStep {
  readonly kind: 'us_place';
  readonly part: (typeof PLACE_PARTS)[number];
  readonly otherwise: Otherwise;
}

/** @param placeOf reads a place. @param field names the field in refusals. */
export function compilePlace(
  { part, otherwise }: PlaceStep,
  field: string,
  placeOf: (text: string) => UsPlace,
): Transform {
  return {
    about: 'the city or state of a place',
    kind: 'shape',
    scope: 'feed text',
    apply(text, readState) {
      const place = placeOf(text);
      if (part === 'state' && place.state !== undefined) return readState(place.state.name);
      if (place.kind === 'place') return accepted(place.city ?? '');
      return withoutResult(text, otherwise, `${place.why}, so its ${part} for ${field} is not clear`);
    },
  };
}
