// What the site of a simulated life does to what it is sent: it rewrites, drops and re-types fields, and answers in forms of its own.

import { storedFields } from '../../src/sandbox/job-rules.ts';
import { defaultSettings, type SandboxSettings } from '../../src/sandbox/settings.ts';
import { randomOf } from './random.ts';

type Fields = Readonly<Record<string, string>>;

export interface SiteHabits {
  readonly settings: Partial<SandboxSettings>;
  /** Whether the configuration names the field that tells jobs apart, which the site may not keep. */
  readonly hasReference: boolean;
  /** What the site stores and shows of these fields. */
  readonly stored: (fields: Fields) => Fields;
}

const REWRITES = [
  'trimmed',
  'titleized',
  'sanitized',
  'converted',
  'cut',
  'composed',
  'stripped',
  'upper-case',
] as const;
/** Never the web address: the test tells by it whose job it is. */
const DROPPED = [
  '',
  '',
  '',
  'number',
  'number',
  'category-name',
  'location-city',
  'description',
  'number,salary',
] as const;

/**
 * The habits of the site of this life. Of every three sites, one stores everything as it was sent.
 * @param isSearched whether the life needs the site's list: without IDs in it, nothing is created before a person says what is there.
 */
export function habitsOf(seed: number, isSearched: boolean): SiteHabits {
  // Another sequence than the life's own.
  const random = randomOf(seed ^ 0x5eed);
  const isPlain = seed % 3 === 0;
  const storedValues = random.some(REWRITES, random.number(4)).join('+') as SandboxSettings['storedValues'];
  const settings: Partial<SandboxSettings> = {
    ...(isPlain ? {} : { storedValues: storedValues || 'exact', dropped: random.pick(DROPPED) }),
    types: random.chance(70),
    separator: random.pick(['mixed', '-', '_']),
    paging: random.pick(['page', 'offset', 'link', 'none']),
    pageSize: random.pick([2, 5, 50]),
    updateBody: random.pick(['job', 'blank', 'empty', 'none']),
    deleteStatus: random.pick([200, 204]),
    deletedJobs: random.pick(['no', '410', 'flagged']),
    idInBody: random.chance(80) || isSearched,
    errorShape: random.pick(['errors', 'errors-array', 'field-attribute', 'field-named', 'error-root']),
    location: random.pick(['absolute', 'absolute-xml', 'relative', 'relative-xml']),
  };
  return {
    settings,
    hasReference: isPlain || random.chance(70),
    stored: (fields) => storedFields(fields, { ...defaultSettings, ...settings }),
  };
}
