import { describe, expect, it } from 'vitest';
import { cluesOf, contentOf } from '../../src/plan/match-doubt.ts';

const SENT = { number: 'n1', title: 'Nurse', 'location-state': 'Ohio' };

describe('contentOf', () => {
  it('takes what is shown and treats everything else as uncertain', () => {
    const shown = { number: 'n1', title: 'Nurse', location_state: 'Utah' };
    expect(contentOf({ ...SENT, city: 'Salem' }, shown)).toEqual({
      fields: { ...SENT, 'location-state': 'Utah', city: 'Salem' },
      uncertain: ['location-state', 'city'],
    });
    expect(contentOf({ title: 'Nurse' }, undefined)).toEqual({ fields: { title: 'Nurse' }, uncertain: ['title'] });
  });
});

it('cluesOf returns forms that the usual changes do not alter', () => {
  expect(cluesOf({ number: 'ACME-007', title: ' Head <b>Nurse</b>… ' }, 'number')).toEqual({
    reference: 'acme007',
    title: 'headnurse',
  });
  expect(cluesOf({ title: ' ' }, 'number')).toEqual({ reference: undefined, title: undefined });
});
