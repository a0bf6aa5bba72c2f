// The XML of one job, of a list of jobs, and of the states with their counts.

import { stateByAbbreviation } from '../job-states.ts';
import type { SandboxSettings } from '../settings.ts';
import type { Job, JobFields } from '../store/jobs.ts';
import { typeOf } from '../stored-values.ts';
import { element, type Xml } from './write-xml.ts';

type Spelling = Pick<SandboxSettings, 'separator' | 'idInBody' | 'types'>;

/** The known fields in display order; others follow, sorted by name. */
export const knownFields = [
  'number',
  'title',
  'category-name',
  'description',
  'location-city',
  'location-state',
  'contact-email-address',
  'contact-web-address',
] as const;

const rank = new Map<string, number>(knownFields.map((name, index) => [name, index]));

const NIL = { nil: 'true' };

/** The fields of a job in display order. */
export const orderedFields = (fields: JobFields): readonly [string, string][] =>
  Object.entries(fields).sort(
    ([a], [b]) => (rank.get(a) ?? rank.size) - (rank.get(b) ?? rank.size) || (a < b ? -1 : 1),
  );

/** A field's name in the configured spelling. */
export const spellField = (name: string, settings: Spelling): string =>
  settings.separator === '_' ? name.replaceAll('-', '_') : name;

/** The complete XML of a job (site-interface.md, section 2). */
export function jobXml(job: Job, settings: Spelling): Xml {
  const time = (name: string, at: Date): Xml => {
    const spelt = settings.separator === '-' ? name.replaceAll('_', '-') : name;
    return element(spelt, at.toISOString(), typed('dateTime', settings));
  };
  return element('job', [
    ...(settings.idInBody ? [element('id', job.id, typed(typeOf(job.id, 'id'), settings))] : []),
    ...orderedFields(job.fields).map(([name, value]) =>
      element(spellField(name, settings), value, typed(typeOf(value, name), settings)),
    ),
    time('created_at', job.createdAt),
    time('updated_at', job.updatedAt),
    ...(job.deletedAt === undefined ? [] : [time('deleted_at', job.deletedAt)]),
  ]);
}

/** A job that was not made yet, as Rails shows it for its form. */
export const emptyJobXml = (settings: Spelling): Xml =>
  element('job', [
    ...(settings.types ? [element('id', '', { type: 'integer', ...NIL })] : []),
    ...knownFields.map((name) => element(spellField(name, settings), '', settings.types ? NIL : {})),
  ]);

const typed = (type: string | undefined, { types }: Spelling): Readonly<Record<string, string>> =>
  types && type !== undefined ? { type } : {};

/** The states with jobs. */
export const statesXml = (counts: readonly { readonly state: string; readonly count: number }[]): Xml =>
  element(
    'states',
    counts.map(({ state, count }) =>
      element('state', [
        element('name', stateByAbbreviation(state)?.name ?? state),
        element('abbreviation', state),
        element('jobs', String(count)),
      ]),
    ),
    { type: 'array' },
  );
