// Loads config/us-states.yaml, the table that every mapping recognises U.S. states with, and the cities that `us_place`
// knows, when a mapping first uses them. Tells how a site writes where its jobs are.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { PlaceRules } from '../plan/match/likeness.ts';
import { compileStates, STATE_GROUPS, type StateFinder, type StateTable } from '../posting/places.ts';
import type { CityTable } from '../posting/steps/place-names.ts';
import type { SiteConfig } from './config.ts';
import { packageRoot } from './package-root.ts';
import { checkedSettings } from './settings-file.ts';

/** By name: the abbreviation and the aliases. */
const groupSchema = z.record(
  z.string().min(1),
  z
    .string()
    .regex(/^[A-Z]{2}(?:, [^,]+)*$/, 'must be the two capital letters of the postal service, and aliases after commas'),
);

const tableSchema = z.strictObject({
  country_names: z.array(z.string().min(1)),
  states: groupSchema,
  dc: groupSchema,
  territories: groupSchema,
});

const citiesSchema = z.record(z.string().regex(/^[A-Z]{2}$/), z.string());

let loaded: StateTable | undefined;
const cities = new Map<string, CityTable>();

/** The table; the same one at each call. Throws a `ConfigError` if the file is invalid. */
export function stateTable(): StateTable {
  loaded ??= readStateTable(join(packageRoot, 'config', 'us-states.yaml'));
  return loaded;
}

/** Cities outside the United States, by the state whose code they are written with. Throws a `ConfigError` if the file is invalid. */
export const foreignCities = (): CityTable => readCities('foreign-cities.yaml');

/** Cities of the United States by their state. Throws a `ConfigError` if the file is invalid. */
export const usCities = (): CityTable => readCities('us-cities.yaml');

function readCities(file: string): CityTable {
  const path = join(packageRoot, 'config', file);
  const table = cities.get(file) ?? checkedSettings(path, readFileSync(path, 'utf8'), citiesSchema);
  cities.set(file, table);
  return table;
}

function readStateTable(path: string): StateTable {
  const table = checkedSettings(path, readFileSync(path, 'utf8'), tableSchema);
  const statesOf = (group: (typeof STATE_GROUPS)[number]) =>
    Object.entries(table[group]).map(([name, text]) => {
      const [abbreviation = '', ...aliases] = text.split(', ');
      return { name, abbreviation, aliases, group };
    });
  return { states: STATE_GROUPS.flatMap(statesOf), countryNames: table.country_names };
}

// How a site writes where its jobs are, for comparing them with postings.
let find: StateFinder | undefined;

export function placesOf({ stateField }: Pick<SiteConfig, 'stateField'>): PlaceRules {
  find ??= compileStates(stateTable());
  const findState = find;
  return { stateField: stateField.name, stateOf: (text) => findState(text)?.name };
}
