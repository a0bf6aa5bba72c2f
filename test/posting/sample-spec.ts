// A minimal mapping that tests modify as needed.
import { stateTable as loadStateTable } from '../../src/config/load-us-states.ts';
import type { FieldMapping, FieldRule } from '../../src/posting/field-mapping.ts';
import type { TransformName } from '../../src/posting/steps/transforms.ts';

export const stateTable = loadStateTable();

/** A rule that uses the first path with a value. */
export const fromPaths = (paths: string | readonly string[], ...as: readonly TransformName[]): FieldRule => ({
  source: { kind: 'paths', paths: [paths].flat() },
  as,
});

export function sampleSpec(changes: Partial<FieldMapping> = {}): FieldMapping {
  return {
    key: { paths: ['id'] },
    fields: { title: fromPaths('title'), 'location-state': fromPaths('state', 'us_state') },
    stateField: { name: 'location-state', values: 'name', allow: ['states', 'dc'] },
    requiredFields: ['title'],
    maxLengths: {},
    states: stateTable,
    ...changes,
  };
}
