// Converts any spelling of a U.S. state to the value that the site accepts, or explains why it is refused.
import type { StateField } from './field-mapping.ts';
import { accepted, type ReadState, refused } from './transforms.ts';
import { compileStates, type StateGroup, type StateTable } from './us-states.ts';

const GROUP_NAMES: Readonly<Record<StateGroup, string>> = {
  states: 'the 50 states',
  dc: 'the District of Columbia',
  territories: 'the U.S. territories',
};

/** Compiles the rule "a job must carry a valid U.S. state" (site-interface.md, section 2). */
export function compileStateField(field: StateField, table: StateTable): ReadState {
  const findState = compileStates(table);
  const allowed = field.allow.map((group) => GROUP_NAMES[group]).join(' and ');
  return (text) => {
    const state = findState(text);
    if (state === undefined) {
      return refused(
        `is not a valid U.S. state; accepted: ${allowed}, by name or abbreviation, such as Massachusetts, MA or Mass.`,
      );
    }
    if (!field.allow.includes(state.group)) {
      return refused(
        `is ${state.name}, but the site accepts only ${allowed}; if it accepts this one too, add ${state.group} to state_field.allow`,
      );
    }
    return accepted(state[field.values]);
  };
}
