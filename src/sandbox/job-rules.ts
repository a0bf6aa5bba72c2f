// Validates the fields of a create or an update, and reports every error.
// The interface requires a valid U.S. state (site-interface.md, section 2); requiring a title is the sandbox's own choice.

import { findState } from './job-states.ts';
import type { SandboxSettings } from './settings.ts';
import type { JobFields } from './store/jobs.ts';

/** One validation error. The message is meant to follow the field's name. */
export interface JobError {
  readonly field: string;
  readonly message: string;
}

/** The result of validation. `state` is a postal abbreviation; absent if an update does not change it. */
export type CheckedJob =
  | { readonly kind: 'valid'; readonly state: string | undefined }
  | { readonly kind: 'invalid'; readonly errors: readonly JobError[] };

type Rules = Pick<SandboxSettings, 'stateField' | 'stateValues' | 'states'>;

const BLANK = "can't be blank";

/**
 * Validates the given fields.
 * @param whole whether they form a complete job (create), which must have the required fields
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
