import { describe, expect, it } from 'vitest';
import { cluesOf, contentOf, type ListedJob, likeness } from '../../src/plan/match-doubt.ts';
import type { LearntRewrite } from '../../src/plan/observe-values.ts';
import type { StatedTypes } from '../../src/plan/same-meaning.ts';
import { readForms } from '../../src/plan/shown-forms.ts';
import type { Fields } from '../../src/posting/posting.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute));
const doubt = {
  fields: { number: 'n1', title: 'Nurse', 'location-state': 'Ohio' },
  notBefore: at(0),
  notAfter: at(10),
};
const job = (fields: Record<string, string>, createdAt?: Date): ListedJob => ({ fields, createdAt });
const SAME = { ...doubt.fields, id: '5' };

describe('likeness with a reference field', () => {
  it.each([
    ['the same reference', job({ number: 'n1' }, at(5)), 'match'],
    ['the same reference, no creation time', job({ number: 'n1' }), 'match'],
    ['the same reference, created before the attempt', job({ number: 'n1' }, new Date(at(0).getTime() - 1)), 'perhaps'],
    ['the same reference, created long after', job({ number: 'n1' }, at(11)), 'perhaps'],
    // Some sites assign their own references; this used to count as "not there".
    ['another reference, all else the same', job({ ...SAME, number: 'zz' }, at(5)), 'resembles'],
    ['another reference and title', job({ ...SAME, number: 'zz', title: 'Cook' }, at(5)), 'other'],
    ['another reference, created at another time', job({ ...SAME, number: 'zz' }, at(11)), 'other'],
    ['the reference in upper case', job({ number: 'N1', title: 'NURSE' }, at(5)), 'match'],
    ['the reference in upper case, another title', job({ number: 'N1', title: 'Cook' }, at(5)), 'perhaps'],
    ['the reference in upper case, another state', job({ ...SAME, number: 'N1', 'location-state': 'Utah' }), 'perhaps'],
    ['the same reference and title', job({ number: 'n1', title: ' Nurse ' }, at(5)), 'match'],
    ['the same reference, another title', job({ number: 'n1', title: 'Cook' }, at(5)), 'perhaps'],
    ['no reference shown', job({ title: 'Nurse' }, at(5)), 'perhaps'],
  ] as const)('%s', (_name, listed, expected) => {
    expect(likeness(doubt, listed, { referenceField: 'number' })).toBe(expected);
  });
});

describe('likeness on a site that is known to rewrite values', () => {
  const rewrite = (kind: LearntRewrite['kind'], seen: number, detail = '') => [{ kind, detail, seen }];
  const prefixes = new Map([['number', rewrite('prefixed', 1, 'ACME-')]]);
  const exact = new Map([['number', rewrite('exact', 20)]]);

  it.each([
    ['its prefix before the reference', prefixes, { number: 'ACME-n1', title: 'Nurse' }, 'match'],
    ['its prefix, another title', prefixes, { number: 'ACME-n1', title: 'Cook' }, 'perhaps'],
    ['its prefix before another reference', prefixes, { number: 'ACME-n12', title: 'Nurse' }, 'resembles'],
    ['another prefix', prefixes, { number: 'B-n1', title: 'Nurse' }, 'resembles'],
    ['an unknown rewrite on a site that shows references exactly', exact, { number: 'N1', title: 'Nurse' }, 'perhaps'],
    // A learnt rewrite never proves that a job does not exist.
    ['another reference on a site that shows them exactly', exact, { number: 'zz', title: 'Nurse' }, 'resembles'],
    [
      'a title with its prefix',
      new Map([['title', rewrite('prefixed', 1, 'Job: ')]]),
      { number: 'n1', title: 'Job: Nurse' },
      'match',
    ],
  ] as const)('%s', (_name, learnt, fields, expected) => {
    expect(likeness(doubt, job(fields, at(5)), { referenceField: 'number', learnt })).toBe(expected);
  });
});

describe('likeness without a reference', () => {
  it.each([
    ['all fields and the time', job(SAME, at(5)), 'match'],
    [
      'names with _ and surrounding white space',
      job({ number: 'n1', title: ' Nurse\n', location_state: 'Ohio' }, at(5)),
      'match',
    ],
    ['all fields, no creation time', job(SAME), 'perhaps'],
    ['a field not shown', job({ number: 'n1', title: 'Nurse' }, at(5)), 'perhaps'],
    ['another title', job({ ...SAME, title: 'Doctor' }, at(5)), 'other'],
    ['another state', job({ ...SAME, 'location-state': 'Utah' }, at(5)), 'resembles'],
    ['spelled differently', job({ number: 'N1', title: '<b>NURSE</b>', 'location-state': 'ohio' }, at(5)), 'match'],
    ['all fields, created before the attempt', job(SAME, new Date(at(0).getTime() - 1)), 'perhaps'],
  ] as const)('%s', (_name, listed, expected) => {
    expect(likeness(doubt, listed, { referenceField: undefined })).toBe(expected);
  });

  it('compares all fields if the posting has no reference to send', () => {
    const without = { ...doubt, fields: { title: 'Nurse', 'location-state': 'Ohio' } };
    expect(
      likeness(without, job({ title: 'Nurse', 'location-state': 'Ohio', number: 'n9' }, at(5)), {
        referenceField: 'number',
      }),
    ).toBe('match');
    expect(
      likeness(without, job({ title: 'Doctor', 'location-state': 'Ohio' }, at(5)), { referenceField: 'number' }),
    ).toBe('other');
  });
});

describe('a reference that another posting has too', () => {
  const options = { referenceField: 'number', shared: true };
  it.each([
    ['with the same content', job({ ...doubt.fields }, at(5)), 'match'],
    ['with another state', job({ ...doubt.fields, 'location-state': 'Utah' }, at(5)), 'perhaps'],
    ['with too little shown', job({ number: 'n1' }, at(5)), 'perhaps'],
  ] as const)('%s', (_name, listed, expected) => {
    expect(likeness(doubt, listed, options)).toBe(expected);
  });
});

describe('contentOf', () => {
  const shown = (fields: Fields, types?: StatedTypes) => ({ fields, kept: fields, types });

  it('takes what is shown and treats everything else as uncertain', () => {
    const job = shown({ number: 'n1', title: 'Nurse', location_state: 'Utah' });
    const { fields, uncertain } = contentOf({ ...doubt.fields, city: 'Salem' }, job);
    expect(fields).toEqual({ ...doubt.fields, 'location-state': 'Utah', city: 'Salem' });
    expect(uncertain).toEqual(['location-state', 'city']);
    const unread = contentOf({ title: 'Nurse' }, undefined);
    expect(unread).toEqual({ fields: { title: 'Nurse' }, uncertain: ['title'], forms: undefined });
  });

  it('keeps what was sent, and sends nothing again, if the job shows it in another form', () => {
    const sent = {
      salary: '20.50',
      'starts-at': '2027-01-01T12:00:00Z',
      remote: 'true',
      code: '007',
      note: '',
      title: 'Cook',
    };
    const says = { salary: '20.5', 'starts-at': '2027-01-01T02:00:00-10:00', remote: '1', code: '7', title: 'COOK' };
    const learnt = new Map([['title', [{ kind: 'upper_case', detail: '', seen: 1 } as const]]]);
    const typed = contentOf(sent, shown(says, { code: 'number' }), { learnt });
    expect([typed.fields, typed.uncertain]).toEqual([sent, []]);
    expect(readForms(typed.forms)('title').kind).toBe('rewritten');
    const untyped = contentOf(sent, shown(says), { learnt });
    expect([untyped.fields, untyped.uncertain]).toEqual([{ ...sent, code: '7' }, ['code']]);
    expect(contentOf({ number: '1.10' }, shown({ number: '1.1' }), { referenceField: 'number' }).uncertain).toEqual([
      'number',
    ]);
  });
});

it('cluesOf returns forms that the usual changes do not alter', () => {
  expect(cluesOf({ number: 'ACME-007', title: ' Head <b>Nurse</b>… ' }, 'number')).toEqual({
    reference: 'acme007',
    title: 'headnurse',
  });
  expect(cluesOf({ title: ' ' }, 'number')).toEqual({ reference: undefined, title: undefined });
});
