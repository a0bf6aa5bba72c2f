// How a site writes where its jobs are, for comparing them with postings.
import type { PlaceRules } from '../plan/adopt/place-likeness.ts';
import { compileStates, type StateFinder } from '../posting/us-states.ts';
import type { SiteConfig } from './config.ts';
import { stateTable } from './load-us-states.ts';

let find: StateFinder | undefined;

export function placesOf({ stateField }: Pick<SiteConfig, 'stateField'>): PlaceRules {
  find ??= compileStates(stateTable());
  const findState = find;
  return { stateField: stateField.name, stateOf: (text) => findState(text)?.name };
}
