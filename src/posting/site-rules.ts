// Checks a draft against the site's rules for every job: a valid state, required fields, lengths, field names.

import type { FieldMapping, StateField } from './field-mapping.ts';
import { excerpt } from './markup.ts';
import { compileStates, type StateGroup, type StateTable } from './places.ts';
import { addProblem, addRefusal, type Draft, hasProblem, setField } from './posting.ts';
import { accepted, type ReadState, refused } from './steps/transforms.ts';

/** Field names that are safe as XML element names; names starting with `xml` are reserved (XML 1.0, section 2.3). */
export const FIELD_NAME = /^(?!xml)[A-Za-z][A-Za-z0-9_.-]{0,99}$/i;

/** Compiles the check. It normalises the state for the site and adds a problem for each field that breaks a rule. */
export function compileSiteRules(spec: FieldMapping, readState: ReadState): (draft: Draft) => void {
  const { stateField, maxLengths } = spec;
  const required = spec.requiredFields.filter((field) => field !== stateField.name);
  const validNames = new Set(Object.keys(spec.fields).filter((field) => FIELD_NAME.test(field)));
  return (draft) => {
    checkState(draft, stateField.name, readState);
    for (const field of required) {
      if (draft.fields[field] === undefined && !hasProblem(draft, field)) {
        addProblem(draft, field, `${field} is missing; the site requires it`);
      }
    }
    for (const field of Object.keys(draft.fields)) {
      const value = draft.fields[field] ?? '';
      if (!validNames.has(field) && !FIELD_NAME.test(field))
        addProblem(draft, field, `"${excerpt(field, 60)}" is not a valid site field name`);
      const most = Object.hasOwn(maxLengths, field) ? maxLengths[field] : undefined;
      // A character beyond the basic plane takes two code units, so count characters only above the limit.
      if (most === undefined || value.length <= most) continue;
      const length = [...value].length;
      if (length > most) addProblem(draft, field, `${field} has ${length} characters; the site allows at most ${most}`);
    }
  };
}

function checkState(draft: Draft, field: string, readState: ReadState): void {
  if (hasProblem(draft, field)) return;
  const written = draft.fields[field];
  if (written === undefined) {
    addProblem(draft, field, `${field} is missing; a job must carry a valid U.S. state`);
    return;
  }
  const state = readState(written);
  if (state.kind === 'refused') addRefusal(draft, field, state.message);
  else setField(draft, field, state.value);
}

// Converts any spelling of a U.S. state to the value that the site accepts, or explains why it is refused.
const GROUP_NAMES: Readonly<Record<StateGroup, string>> = {
  states: 'the 50 states',
  dc: 'the District of Columbia',
  territories: 'the U.S. territories',
};

/** The states that the site accepts, as it has them. */
export const stateValues = ({ stateField, states }: Pick<FieldMapping, 'stateField' | 'states'>): string[] =>
  states.states.filter(({ group }) => stateField.allow.includes(group)).map((state) => state[stateField.values]);

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
