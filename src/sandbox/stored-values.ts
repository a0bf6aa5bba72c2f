// Alters values before storing them, as real sites do (site-interface.md, section 2, leaves this open).
import type { SandboxSettings } from './settings.ts';
import type { JobFields } from './store/jobs.ts';

const REFERENCE = 'number';
/** Characters that a site with short columns keeps. */
const CUT_AT = 40;

type Change = (value: string, field: string) => string;

const trimmed: Change = (value) => value.replace(/\s+/g, ' ').trim();

const CHANGES: Readonly<Record<SandboxSettings['storedValues'], Change>> = {
  exact: (value) => value,
  trimmed,
  'upper-case': (value, field) => (field === REFERENCE ? value.toUpperCase() : value),
  stripped: (value, field) => (field === 'description' ? trimmed(value.replace(/<[^>]*>/g, ' '), field) : value),
  cut: (value) => [...value].slice(0, CUT_AT).join(''),
  composed: (value) => value.normalize('NFC').replace(/\r\n?/g, '\n'),
};

/** The stored form of the sent fields. */
export function storedFields(fields: JobFields, { storedValues }: Pick<SandboxSettings, 'storedValues'>): JobFields {
  const change = CHANGES[storedValues];
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, change(value, field)]));
}
