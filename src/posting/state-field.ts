// Turns any text for a U.S. state into the value that the site takes, or says what is wrong with it and what is taken.
import type { StateField } from './mapping.ts';
import { accepted, type ReadState, refused } from './transforms.ts';
import { compileStates, type StateGroup, type StateTable } from './us-states.ts';

const GROUP_NAMES: Readonly<Record<StateGroup, string>> = {
  states: 'the 50 states',
  dc: 'the District of Columbia',
  territories: 'the U.S. territories',
};

/** Prepares the rule "a job must carry a valid U.S. state" (site-interface.md, section 2). */
export function compileStateField(field: StateField, table: StateTable): ReadState {
  const findState = compileStates(table);
  const allowed = field.allow.map((group) => GROUP_NAMES[group]).join(' and ');
  return (text) => {
    const state = findState(text);
    if (state === undefined) {
      return refused(
        `is not a valid U.S. state; ${allowed} are, by name or abbreviation, such as Massachusetts, MA or Mass.`,
      );
    }
    if (!field.allow.includes(state.group)) {
      return refused(
        `is ${state.name}, and of U.S. states the site takes only ${allowed}; if it takes this one, add ${state.group} to state_field.allow`,
      );
    }
    return accepted(state[field.values]);
  };
}
