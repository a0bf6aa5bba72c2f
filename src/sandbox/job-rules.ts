// Turns the fields of a create or an update into checked fields and a state, or into every reason against them.
// The interface demands a valid U.S. state (site-interface.md, section 2); the title is the board's own demand.
import type { SandboxSettings } from './settings.ts';
import type { JobFields } from './store/jobs.ts';
import { findState } from './us-states.ts';

/** One reason why a job is not valid: the field, and what is wrong with it, to be read after the field's name. */
export interface JobError {
  readonly field: string;
  readonly message: string;
}

/** What checking gives. `state` is a postal abbreviation, and absent where an update leaves it alone. */
export type CheckedJob =
  | { readonly kind: 'valid'; readonly state: string | undefined }
  | { readonly kind: 'invalid'; readonly errors: readonly JobError[] };

type Rules = Pick<SandboxSettings, 'stateField' | 'stateValues' | 'states'>;

const BLANK = "can't be blank";

/**
 * Checks the fields that were given.
 * @param whole whether they make a whole job (create), so that what is required must be there
 */
export function checkJob(fields: JobFields, whole: boolean, rules: Rules): CheckedJob {
  const errors: JobError[] = [];
  const { title, [rules.stateField]: state } = fields;
  if (title === undefined ? whole : title.trim() === '') errors.push({ field: 'title', message: BLANK });
  const found = state === undefined ? undefined : findState(state, rules);
  if (state === undefined ? whole : state.trim() === '') errors.push({ field: rules.stateField, message: BLANK });
  else if (state !== undefined && !found)
    errors.push({ field: rules.stateField, message: 'is not a valid U.S. state' });
  return errors.length > 0 ? { kind: 'invalid', errors } : { kind: 'valid', state: found?.abbreviation };
}

/** "Location state is not a valid U.S. state": the error as a sentence. */
export function errorSentence(error: JobError): string {
  const words = error.field.replaceAll('-', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} ${error.message}`;
}
