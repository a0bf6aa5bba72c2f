// Loads config/us-states.yaml, the table that every mapping recognises U.S. states with.
import { join } from 'node:path';
import { z } from 'zod';
import { STATE_GROUPS, type StateTable } from '../posting/us-states.ts';
import { packageRoot } from './package-root.ts';
import { readSettings } from './settings-file.ts';

const stateSchema = z.strictObject({
  name: z.string().min(1),
  abbreviation: z.string().regex(/^[A-Z]{2}$/, 'must be the two capital letters of the postal service'),
  aliases: z.array(z.string().min(1)),
});

const tableSchema = z.strictObject({
  country_names: z.array(z.string().min(1)),
  states: z.array(stateSchema),
  dc: z.array(stateSchema),
  territories: z.array(stateSchema),
});

/** Reads the table. Throws a `ConfigError` if it is invalid. */
export async function readStateTable(): Promise<StateTable> {
  const table = await readSettings(join(packageRoot, 'config', 'us-states.yaml'), tableSchema);
  return {
    states: STATE_GROUPS.flatMap((group) => table[group].map((state) => ({ ...state, group }))),
    countryNames: table.country_names,
  };
}
