import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  explainValue,
  isRewriting,
  isShownExactly,
  type LearntRewrite,
  type LearntRewrites,
  observe,
  REWRITE_KINDS,
  rewritings,
  rewritten,
} from '../../src/plan/observe-values.ts';
import { anyCharacter } from '../support/any-character.ts';

describe('explainValue', () => {
  it.each([
    ['Nurse', 'Nurse', 'exact', ''],
    ['a\r\nb', 'a\nb', 'line_ends', ''],
    [' Nurse ', 'Nurse', 'trimmed', ''],
    ['Head  nurse', 'Head nurse', 'white_space', ''],
    ['Cafe\u0301', 'Caf\u00e9', 'composed', ''],
    ['Caf\u00e9', 'Cafe\u0301', 'decomposed', ''],
    ['s1-a ', 'S1-A', 'upper_case', ''],
    ['S1', 's1', 'lower_case', ''],
    ['<p>Care for <b>all</b></p>', 'Care for all', 'stripped', ''],
    ['R&amp;D', 'R&D', 'decoded', ''],
    ['Senior registered nurse', 'Senior reg', 'cut', '10'],
    ['12', '0012', 'padded', '4'],
    ['12', 'ACME-12', 'prefixed', 'ACME-'],
    ['s1', '77 s1', 'prefixed', '77 '],
    ['12', '12/US', 'suffixed', '/US'],
    ['a', 'acme-A', 'prefixed', 'acme-'],
    ['Ab', 'ab (new)', 'suffixed', ' (new)'],
    // Each of these could be another posting's value.
    ['s1', 'S10', 'other', ''],
    ['1', '10', 'other', ''],
    ['1', '21', 'other', ''],
    ['0012', '12', 'other', ''],
    ['a', 'ba', 'other', ''],
    ['Nurse', 'Cook', 'other', ''],
    ['Nurse', '', 'other', ''],
  ] as const)('%j shown as %j: %s %s', (sent, shown, kind, detail) => {
    expect(explainValue(sent, shown)).toEqual({ kind, detail });
  });

  it('finds equal values exact, and its explanation reproduces the shown value', () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter }), (value) => explainValue(value, value).kind === 'exact'));
    fc.assert(
      fc.property(
        fc.string(),
        fc.constantFrom(...REWRITE_KINDS),
        fc.integer({ min: 4, max: 9 }),
        (value, kind, size) => {
          const detail = { cut: `${size}`, padded: `${size}`, prefixed: 'ACME-', suffixed: '-x' }[kind as string] ?? '';
          const shown = rewritten({ kind, detail }, value);
          if (shown === undefined) return;
          const found = explainValue(value, shown);
          const learnt = knowing('number', { ...found, seen: 1 });
          expect(found.kind === 'other' || isRewriting(learnt, 'number', value, shown)).toBe(true);
        },
      ),
    );
  });
});

const knowing = (field: string, ...rewrites: readonly LearntRewrite[]): LearntRewrites => new Map([[field, rewrites]]);

describe('learnt rewrites', () => {
  const prefixed = { kind: 'prefixed', detail: 'ACME-', seen: 1 } as const;
  const exact = { kind: 'exact', detail: '', seen: 20 } as const;

  it('explain what the site makes of each value, and nothing else', () => {
    expect(isRewriting(knowing('number', prefixed), 'number', '13', 'ACME-13')).toBe(true);
    expect(isRewriting(knowing('number', prefixed), 'number', '13', 'ACME-12')).toBe(false);
    expect(isRewriting(knowing('number', prefixed), 'number', '13', '13')).toBe(false);
    expect(isRewriting(knowing('number', prefixed), 'number', 'b', 'ACME-B')).toBe(true);
    expect(rewritings(knowing('number', prefixed), 'number', 'b1')).toEqual(['ACME-b1', 'ACME-B1', 'ACME-b1']);
    expect(isRewriting(new Map(), 'number', '13', '13')).toBe(false);
  });

  it('do not count if something is added to some values only', () => {
    expect(isRewriting(knowing('number', prefixed, exact), 'number', '13', 'ACME-13')).toBe(false);
  });

  it('recognise a field that is always shown exactly', () => {
    expect(isShownExactly(knowing('number', exact), 'number')).toBe(true);
    expect(isShownExactly(knowing('number', { ...exact, seen: 2 }), 'number')).toBe(false);
    expect(isShownExactly(knowing('number', exact, { kind: 'other', detail: '', seen: 1 }), 'number')).toBe(false);
  });

  it('never turn one posting’s reference into another’s, whatever was learnt from a third', () => {
    const reference = fc.oneof(
      fc.integer({ min: 0, max: 2000 }).map(String),
      fc.integer({ min: 0, max: 2000 }).map((n) => `s${n}`),
    );
    fc.assert(
      fc.property(reference, reference, reference, reference, (taught, as, one, other) => {
        // Learnt from a plausible rewrite: what the site adds is never part of our own references.
        for (const shown of [`ACME-${taught}`, taught.toUpperCase(), `${taught}/US`, as]) {
          const found = explainValue(taught, shown);
          const learnt = knowing('number', { ...found, seen: 1 });
          const isSame = one.toUpperCase() === other.toUpperCase() || Number(one) === Number(other);
          if (!isSame && shown !== as) expect(isRewriting(learnt, 'number', one, other)).toBe(false);
        }
      }),
    );
  });

  it('are observed only for the fields that a job shows', () => {
    expect(
      observe({ 'location-state': 'Ohio', title: 'a', gone: 'x' }, { location_state: 'OHIO', title: 'a' }),
    ).toEqual([
      { field: 'location-state', kind: 'upper_case', detail: '' },
      { field: 'title', kind: 'exact', detail: '' },
    ]);
  });
});
