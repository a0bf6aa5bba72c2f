// Formats validation errors as configured (site-interface.md, section 7, rules 1 to 3).
import { errorSentence, type JobError } from '../job-rules.ts';
import type { SandboxSettings } from '../settings.ts';
import { spellField } from './job-xml.ts';
import { element, writeDocument, type Xml } from './write-xml.ts';

/** A response body with its media type. */
export interface ErrorBody {
  readonly type: 'application/xml' | 'text/plain';
  readonly text: string;
}

/** A client may invent a field whose name is not a valid element name. */
const elementName = /^[A-Za-z][A-Za-z0-9.-]*$/;

type Write = (errors: readonly JobError[], spelt: (error: JobError) => string) => Xml;

const sentences = (errors: readonly JobError[]): readonly Xml[] =>
  errors.map((error) => element('error', errorSentence(error)));

const shapes: Readonly<Record<Exclude<SandboxSettings['errorShape'], 'plain-text'>, Write>> = {
  errors: (errors) => element('errors', sentences(errors)),
  'errors-array': (errors) => element('errors', sentences(errors), { type: 'array' }),
  'field-attribute': (errors, spelt) =>
    element(
      'errors',
      errors.map((error) => element('error', error.message, { field: spelt(error) })),
    ),
  nested: (errors, spelt) =>
    element(
      'errors',
      errors.map((error) => element('error', [element('field', spelt(error)), element('message', error.message)])),
    ),
  'error-root': (errors) =>
    element(
      'error',
      errors.map((error) => element('message', errorSentence(error))),
    ),
  'field-named': (errors, spelt) =>
    element(
      'errors',
      errors.map((error) => element(elementName.test(error.field) ? spelt(error) : 'base', error.message)),
    ),
};

/** The validation errors in the configured shape. */
export function validationErrorBody(
  errors: readonly JobError[],
  settings: Pick<SandboxSettings, 'errorShape' | 'separator' | 'idInBody' | 'types'>,
): ErrorBody {
  if (settings.errorShape === 'plain-text') {
    return { type: 'text/plain', text: `${errors.map(errorSentence).join('\n')}\n` };
  }
  const xml = shapes[settings.errorShape](errors, (error) => spellField(error.field, settings));
  return { type: 'application/xml', text: writeDocument(xml) };
}

/** Every other failure: an `error` with one message. */
export const failureXml = (message: string): string => writeDocument(element('error', [element('message', message)]));
