// The steps from a field's text in the feed to its text on the site: named transforms, and the steps with settings
// `map`, `match`, `us_place` and `date`. The longer ones have files of their own.
import { explainNoDate, type NumericOrder, readDate } from '../dates.ts';
import { compilePattern, MalformedPatternError } from '../pattern.ts';
import { type CutStep, compileCut } from './cut.ts';
import { compileSanitize, type SanitizeStep } from './sanitize.ts';
import { compileTimeZone } from './time-zones.ts';
import { accepted, refused, TRANSFORMS, type Transform, type Transformed, type TransformName } from './transforms.ts';
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

/** Entries of a table: the feed's text, and what the site gets instead; an empty text leaves the field out. */
export type LookUpTable = readonly (readonly [from: string, to: string])[];

export interface LookUpStep {
  readonly kind: 'map';
  readonly table: LookUpTable;
  readonly otherwise: Otherwise;
}

/** The form in which texts are compared: case, and the number of spaces, do not matter. */
export const foldText = (text: string): string => text.trim().replace(/\s+/g, ' ').toLowerCase();

/** Compiles the step. @param field names the field in refusals. */
function compileLookUp({ table, otherwise }: LookUpStep, field: string): Transform {
  const byText = new Map(table.map(([from, to]) => [foldText(from), to]));
  return {
    about: 'a look-up table',
    kind: 'shape',
    scope: 'feed text',
    apply(text) {
      const found = byText.get(foldText(text));
      if (found !== undefined) return accepted(found);
      return withoutResult(
        text,
        otherwise,
        `is not in the map of ${field}; add it there, or set a default or otherwise: keep`,
      );
    },
  };
}

/** Two entries for the same text with different results, if there are any. */
export function findContradiction(table: LookUpTable): readonly [string, string] | undefined {
  const seen = new Map<string, readonly [string, string]>();
  for (const entry of table) {
    const [from, to] = entry;
    const other = seen.get(foldText(from));
    if (other !== undefined && other[1] !== to) return [other[0], from];
    seen.set(foldText(from), entry);
  }
  return undefined;
}

// The step `match`: takes what a pattern finds in a text.
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

// The step `us_place`: the city or the state of a place.

export const PLACE_PARTS = ['city', 'state'] as const;

interface PlaceStep {
  readonly kind: 'us_place';
  readonly part: (typeof PLACE_PARTS)[number];
  readonly otherwise: Otherwise;
}

/** @param placeOf reads a place. @param field names the field in refusals. */
function compilePlace({ part, otherwise }: PlaceStep, field: string, placeOf: (text: string) => UsPlace): Transform {
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

// The step `date` with settings: time zones, the order of day and month, and dates without a time.

export interface DateStep {
  readonly kind: 'date';
  readonly order?: NumericOrder;
  /** IANA name: the zone of times that name none. */
  readonly zone?: string;
  /** IANA name: the zone in which the result is written; absent: UTC. */
  readonly to?: string;
  /** Whether the result has a time, if the feed gives one. */
  readonly time: boolean;
}

/** Compiles the step. Throws a `RangeError` for an unknown zone. */
export function compileDate({ order, zone, to, time }: DateStep): Transform {
  const from = zone === undefined ? undefined : compileTimeZone(zone);
  const target = to === undefined ? undefined : compileTimeZone(to);
  const hint = order === undefined ? 'dates such as 4/8/2012 need an order' : 'check its order of day and month';
  const write = (wallClock: number, suffix: string): string => {
    const iso = new Date(wallClock).toISOString();
    return time ? `${iso.slice(0, 19)}${suffix}` : iso.slice(0, 10);
  };
  return {
    about: 'a date with settings',
    kind: 'check',
    apply(text) {
      const date = readDate(text, order);
      if (date === undefined) return refused(explainNoDate(text, hint));
      if (date.kind === 'day') return accepted(date.iso);
      if (date.kind === 'local' && from === undefined) return accepted(write(date.ms, ''));
      const instant = date.kind === 'local' ? (from?.toInstant(date.ms) ?? date.ms) : date.ms;
      if (target === undefined) return accepted(write(instant, 'Z'));
      const wallClock = target.toWallClock(instant);
      return accepted(write(wallClock, offsetText(wallClock - Math.floor(instant / 1000) * 1000)));
    },
  };
}

/** `-05:00`. */
function offsetText(ms: number): string {
  const minutes = Math.abs(Math.round(ms / 60_000));
  const two = (number: number) => String(number).padStart(2, '0');
  return `${ms < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

// What becomes of a text for which a step has no result.

export const OTHERWISE_CHOICES = ['reject', 'keep', 'default'] as const;

/** `default`: the field's default, or nothing. */
type Otherwise = (typeof OTHERWISE_CHOICES)[number];

/** @param why continues the sentence after the text: "is not …". */
function withoutResult(text: string, otherwise: Otherwise, why: string): Transformed {
  switch (otherwise) {
    case 'reject':
      return refused(why);
    case 'keep':
      return accepted(text);
    case 'default':
      return accepted('');
  }
}
