// Loads config/us-states.yaml, the table that every mapping recognises U.S. states with, and the cities elsewhere that are
// written with their codes, when a mapping first uses them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { ForeignCities } from '../posting/steps/foreign-cities.ts';
import { STATE_GROUPS, type StateTable } from '../posting/us-states.ts';
import { packageRoot } from './package-root.ts';
import { checkedSettings } from './settings-file.ts';

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

const citiesSchema = z.record(z.string().regex(/^[A-Z]{2}$/), z.string());

let loaded: StateTable | undefined;
let cities: ForeignCities | undefined;

/** The table; the same one at each call. Throws a `ConfigError` if the file is invalid. */
export function stateTable(): StateTable {
  loaded ??= readStateTable(join(packageRoot, 'config', 'us-states.yaml'));
  return loaded;
}

/** Cities outside the United States, by the state whose code they are written with. Throws a `ConfigError` if the file is invalid. */
export function foreignCities(): ForeignCities {
  const path = join(packageRoot, 'config', 'foreign-cities.yaml');
  cities ??= checkedSettings(path, readFileSync(path, 'utf8'), citiesSchema);
  return cities;
}

function readStateTable(path: string): StateTable {
  const table = checkedSettings(path, readFileSync(path, 'utf8'), tableSchema);
  return {
    states: STATE_GROUPS.flatMap((group) => table[group].map((state) => ({ ...state, group }))),
    countryNames: table.country_names,
  };
}
