// Checks a draft against what the site demands of every job, whatever the feed: a state, required fields, lengths, names.
import { addProblem, addRefusal, type Draft, hasProblem, setField } from './draft.ts';
import type { MappingSpec } from './mapping.ts';
import type { ReadState } from './transforms.ts';
import { excerpt } from './xml-characters.ts';

/** Field names that are surely element names; those that begin like `xml` are reserved (XML 1.0, section 2.3). */
export const FIELD_NAME = /^(?!xml)[A-Za-z][A-Za-z0-9_.-]{0,99}$/i;

/** Prepares the check. It writes the state as the site wants it and adds a problem for each field that breaks a rule. */
export function compileSiteRules(spec: MappingSpec, readState: ReadState): (draft: Draft) => void {
  const { stateField, maxLengths } = spec;
  const required = spec.requiredFields.filter((field) => field !== stateField.name);
  const soundNames = new Set(Object.keys(spec.fields).filter((field) => FIELD_NAME.test(field)));
  return (draft) => {
    checkState(draft, stateField.name, readState);
    for (const field of required) {
      if (draft.fields[field] === undefined && !hasProblem(draft, field)) {
        addProblem(draft, field, `${field} is missing; the site takes no job without it`);
      }
    }
    for (const field of Object.keys(draft.fields)) {
      const value = draft.fields[field] ?? '';
      if (!soundNames.has(field) && !FIELD_NAME.test(field))
        addProblem(draft, field, `"${excerpt(field, 60)}" is not a name that a field of the site can have`);
      const most = Object.hasOwn(maxLengths, field) ? maxLengths[field] : undefined;
      // A character beyond the basic plane is two code units; counting them all is only worth it near the limit.
      if (most === undefined || value.length <= most) continue;
      const length = [...value].length;
      if (length > most) addProblem(draft, field, `${field} has ${length} characters; the site takes at most ${most}`);
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
