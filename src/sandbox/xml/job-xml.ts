// The XML of one job, of a list of jobs, and of the states with their counts.

import { stateByAbbreviation } from '../job-states.ts';
import type { SandboxSettings } from '../settings.ts';
import type { Job, JobFields } from '../store/jobs.ts';
import { element, type Xml } from './write-xml.ts';

type Spelling = Pick<SandboxSettings, 'separator' | 'idInBody'>;

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
  const timestamp = (name: string): string => (settings.separator === '-' ? name.replaceAll('_', '-') : name);
  return element('job', [
    ...(settings.idInBody ? [element('id', job.id)] : []),
    ...orderedFields(job.fields).map(([name, value]) => element(spellField(name, settings), value)),
    element(timestamp('created_at'), job.createdAt.toISOString()),
    element(timestamp('updated_at'), job.updatedAt.toISOString()),
  ]);
}

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
