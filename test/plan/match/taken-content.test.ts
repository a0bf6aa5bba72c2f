import { describe, expect, it } from 'vitest';
import { readForms } from '../../../src/plan/compare-shown.ts';
import { cluesOf, contentOf } from '../../../src/plan/match/taken-content.ts';
import type { StatedTypes } from '../../../src/plan/same-meaning.ts';
import type { Fields } from '../../../src/posting/posting.ts';

const SENT = { number: 'n1', title: 'Nurse', 'location-state': 'Ohio' };

describe('contentOf', () => {
  const shown = (fields: Fields, types?: StatedTypes) => ({ fields, kept: fields, types });

  it('takes what is shown and treats everything else as uncertain', () => {
    const job = shown({ number: 'n1', title: 'Nurse', location_state: 'Utah' });
    const { fields, uncertain } = contentOf({ ...SENT, city: 'Salem' }, job);
    expect(fields).toEqual({ ...SENT, 'location-state': 'Utah', city: 'Salem' });
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

  it('clears what the posting had, and has no more, if the job shows it, or if nobody knows', () => {
    const rules = { formerly: ['title', 'location_state', 'salary', 'note'] };
    const taken = contentOf(SENT, shown({ ...SENT, salary: '20', note: ' ', city: 'Salem' }), rules);
    expect([taken.fields, taken.uncertain]).toEqual([{ ...SENT, salary: '20' }, ['salary']]);
    expect(contentOf({ title: 'Nurse' }, undefined, { formerly: ['salary'] }).uncertain).toEqual(['title', 'salary']);
  });
});

it('cluesOf returns forms that the usual changes do not alter', () => {
  expect(cluesOf({ number: 'ACME-007', title: ' Head <b>Nurse</b>… ' }, 'number')).toEqual({
    reference: 'acme007',
    title: 'headnurse',
  });
  expect(cluesOf({ title: ' ' }, 'number')).toEqual({ reference: undefined, title: undefined });
});
