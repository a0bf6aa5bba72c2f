import { describe, expect, it } from 'vitest';
import { clueOf, type ListedJob, likeness } from '../../src/plan/match-doubt.ts';

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
    ['the same reference, made before the attempt', job({ number: 'n1' }, new Date(at(0).getTime() - 1)), 'perhaps'],
    ['the same reference, made long after', job({ number: 'n1' }, at(11)), 'perhaps'],
    ['another reference, all else the same', job({ ...SAME, number: 'n2' }, at(5)), 'other'],
    ['the same reference and title', job({ number: 'n1', title: ' Nurse ' }, at(5)), 'match'],
    ['the same reference, another title', job({ number: 'n1', title: 'Cook' }, at(5)), 'perhaps'],
    ['no reference shown', job({ title: 'Nurse' }, at(5)), 'perhaps'],
  ] as const)('%s', (_name, listed, expected) => {
    expect(likeness(doubt, listed, 'number')).toBe(expected);
  });
});

describe('likeness without a reference', () => {
  it.each([
    ['all fields and the time', job(SAME, at(5)), 'match'],
    [
      'names with _ and white space around',
      job({ number: 'n1', title: ' Nurse\n', location_state: 'Ohio' }, at(5)),
      'match',
    ],
    ['all fields, no creation time', job(SAME), 'perhaps'],
    ['a field not shown', job({ number: 'n1', title: 'Nurse' }, at(5)), 'perhaps'],
    ['a field that differs', job({ ...SAME, title: 'Doctor' }, at(5)), 'other'],
    ['all fields, made before the attempt', job(SAME, new Date(at(0).getTime() - 1)), 'perhaps'],
  ] as const)('%s', (_name, listed, expected) => {
    expect(likeness(doubt, listed, undefined)).toBe(expected);
  });

  it('compares all fields where the posting has no reference to send', () => {
    const without = { ...doubt, fields: { title: 'Nurse', 'location-state': 'Ohio' } };
    expect(likeness(without, job({ title: 'Nurse', 'location-state': 'Ohio', number: 'n9' }, at(5)), 'number')).toBe(
      'match',
    );
    expect(likeness(without, job({ title: 'Doctor', 'location-state': 'Ohio' }, at(5)), 'number')).toBe('other');
  });
});

describe('clueOf', () => {
  it.each([
    ['the reference, where there is one', 'number', 'n1'],
    ['nothing, where the job shows no reference', 'id-number', undefined],
    ['the title, where the site has no reference', undefined, 'Nurse'],
  ] as const)('%s', (_name, referenceField, clue) => {
    expect(clueOf(doubt.fields, referenceField)).toBe(clue);
  });
});
