// Unchanged records are not read again unless the version of the code says that they may yield something else: a posting that was left out
// because its date was not read would stay left out.
import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { fingerprintOf } from '../../src/posting/fingerprint.ts';
import { compileReader } from '../../src/posting/reader.ts';
import { TRANSFORM_NAMES } from '../../src/posting/steps/transforms.ts';
import { fromPaths, sampleSpec } from './sample-spec.ts';

/** What {@link TEXTS} yield, with the fingerprint of a mapping by this version of the code. */
const YIELDED = {
  fingerprint: '4b68b5cce367c57b32f88bd7d9ebcc3813749412a6fda0c671a99d28d1fed77a',
  digest: 'd9a41cca5e920bb83baede1b70408777201e1f6bf38bd6dbfa3547cef87360ab',
};

const INSTEAD =
  'records yield something else than before: increment CODE_VERSION in src/posting/fingerprint.ts, so that unchanged ones are read again, and put both digests here';

const DATES = [
  '2026-03-20',
  '2026/3/20 09:15',
  '20261102T130000Z',
  '2026-11-02T13:00:00+01',
  '2026-11-02T24:00:00Z',
  '2026-10-01T09:30:00-04:00[America/New_York]',
  'Fri, 20 Mar 2026 19:18:39 EST',
  'Mon, 02 Nov 26 13:00:00 GMT',
  'Mon, 02 Nov 98 13:00:00 +0100 (CET)',
  'Thu Oct 01 2026 09:30:00 GMT+1100 (Australian Eastern Daylight Time)',
  'Thu Oct 01 09:30:00 UTC 2026',
  'October 1, 2026',
  '1 December 2020',
  '1585865712345',
  '/Date(1790861400000-0400)/',
  '/Date(253402300799999)/',
  '/Date(-62135596800000)/',
  '/Date(-1)/',
  '4/8/2012 1:30 PM',
  '31.12.2012',
  '26-10-01',
  '4-8-2012',
  '4/8/12',
  '0099-01-01',
  'Continuous',
];
const NUMBERS = ['1,234.50', '1.234,50', '$ 45k', '45 000 €', '1e5', '007', '-3', '1.234'];
const OTHERS = [
  'Mass.',
  'MA',
  'ohio',
  'Washington, DC',
  'Jalisco',
  '<p>One &amp; <b>two</b></p><ul><li>three</li></ul>',
  '&lt;p&gt;It&#146;s&lt;/p&gt;',
  'one\n  two\t three',
  'HTTPS://Example.com/a b?x=1&amp;y=2',
  'www.example.com/jobs',
  'Jobs <jobs@Example.com>',
  'mailto:jobs@example.com?subject=x',
  'n/a',
  '-',
  'Senior\u00a0Nurse\u200b',
  '',
];
const TEXTS = [...DATES, ...NUMBERS, ...OTHERS];

const spec = sampleSpec({
  fields: Object.fromEntries(TRANSFORM_NAMES.map((name) => [name.replaceAll('_', '-'), fromPaths('text', name)])),
  requiredFields: [],
});

it('what records yield changes only with the version of the code', () => {
  const reader = compileReader(spec);
  const yielded = TEXTS.map((text) => {
    const read = reader.read(Object.assign(Object.create(null), { id: '1', text }));
    if (read.kind !== 'posting' && read.kind !== 'invalid') return [text, read];
    const { fields, notes } = read.posting;
    return [text, fields, notes, read.kind === 'invalid' ? read.problems : []];
  });
  const fingerprint = fingerprintOf({ key: { paths: ['id'] } } as never);
  expect({ fingerprint, digest: hash('sha256', JSON.stringify(yielded), 'hex') }, INSTEAD).toEqual(YIELDED);
});
