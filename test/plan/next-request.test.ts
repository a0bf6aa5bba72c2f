import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedFields, nextRequest } from '../../src/plan/next-request.ts';
import { contentHash } from '../../src/posting/hash.ts';
import { siteJobId } from '../../src/posting/identifiers.ts';
import type { Fields } from '../../src/posting/posting.ts';

const present = (fields: Fields) => ({ kind: 'present', fields, contentHash: contentHash(fields) }) as const;
const actual = (fields: Fields) => ({ siteJobId: siteJobId('7'), contentHash: contentHash(fields), fields });
const A = { title: 'Nurse', city: 'Boston' };

describe('nextRequest with fields that are set only on create', () => {
  const rules = { createOnly: new Set(['city']) };
  it.each([
    ['a create has them', present(A), undefined, { kind: 'create', fields: A }],
    ['another value of one', present({ ...A, city: 'Salem' }), actual(A), { kind: 'none' }],
    ['one that is gone', present({ title: 'Nurse' }), actual(A), { kind: 'none' }],
    [
      'another value of it and of another field',
      present({ title: 'Cook', city: 'Salem' }),
      actual(A),
      { kind: 'update', siteJobId: '7', fields: { title: 'Cook' } },
    ],
    [
      'an uncertain write may have changed all fields',
      present(A),
      { ...actual(A), uncertain: ['city', 'title', 'state'] },
      { kind: 'update', siteJobId: '7', fields: { title: 'Nurse', state: '' } },
    ],
    ['only one of them is uncertain', present(A), { ...actual(A), uncertain: ['city'] }, { kind: 'none' }],
    [
      'live with unknown content',
      present(A),
      { siteJobId: siteJobId('7'), contentHash: Buffer.alloc(16), fields: undefined },
      { kind: 'update', siteJobId: '7', fields: { title: 'Nurse' } },
    ],
  ] as const)('%s', (_, desired, now, request) => {
    expect(nextRequest(desired, now, rules)).toEqual(request);
  });

  it('sends all other fields to a site that clears what an update omits', () => {
    const desired = present({ title: 'Cook', city: 'Salem', number: '1' });
    const now = actual({ ...A, number: '1', state: 'Ohio' });
    expect(nextRequest(desired, now, { whole: true })).toMatchObject({
      fields: { title: 'Cook', city: 'Salem', number: '1', state: '' },
    });
    expect(nextRequest(desired, now, { ...rules, whole: true })).toMatchObject({
      fields: { title: 'Cook', number: '1', state: '' },
    });
    expect(nextRequest(present(A), actual(A), { whole: true })).toEqual({ kind: 'none' });
  });
});

describe('nextRequest', () => {
  it.each([
    ['desired, not live', present(A), undefined, { kind: 'create', fields: A }],
    ['desired, live with the same content', present(A), actual(A), { kind: 'none' }],
    [
      'desired with other content',
      present({ ...A, city: 'Salem' }),
      actual(A),
      { kind: 'update', siteJobId: '7', fields: { city: 'Salem' } },
    ],
    [
      'one field more',
      present({ ...A, state: 'Ohio' }),
      actual(A),
      { kind: 'update', siteJobId: '7', fields: { state: 'Ohio' } },
    ],
    [
      'one field less',
      present({ title: 'Nurse' }),
      actual(A),
      { kind: 'update', siteJobId: '7', fields: { city: '' } },
    ],
    ['one empty field less', present({ title: 'Nurse' }), actual({ title: 'Nurse', city: '' }), { kind: 'none' }],
    ['not desired, live', { kind: 'absent' } as const, actual(A), { kind: 'delete', siteJobId: '7' }],
    ['not desired, not live', { kind: 'absent' } as const, undefined, { kind: 'none' }],
    [
      'desired, live with unknown content',
      present(A),
      { siteJobId: siteJobId('7'), contentHash: Buffer.alloc(16), fields: undefined },
      { kind: 'update', siteJobId: '7', fields: A },
    ],
    [
      'desired unchanged, but an uncertain write may have changed or added fields',
      present(A),
      { ...actual(A), uncertain: ['city', 'state'] },
      { kind: 'update', siteJobId: '7', fields: { city: 'Boston', state: '' } },
    ],
    [
      'an empty field that is not desired, but may have been filled',
      present(A),
      { ...actual({ ...A, state: '' }), uncertain: ['state'] },
      { kind: 'update', siteJobId: '7', fields: { state: '' } },
    ],
    [
      'desired with other content, after an uncertain write',
      present({ ...A, title: 'Cook' }),
      { ...actual(A), uncertain: ['city'] },
      { kind: 'update', siteJobId: '7', fields: { title: 'Cook', city: 'Boston' } },
    ],
    [
      'not desired, after an uncertain write',
      { kind: 'absent' } as const,
      { ...actual(A), uncertain: ['city'] },
      { kind: 'delete', siteJobId: '7' },
    ],
  ])('%s', (_name, desired, there, expected) => {
    expect(nextRequest(desired, there)).toEqual(expected);
  });

  it('treats names of the object prototype as plain names', () => {
    const odd = Object.fromEntries([
      ['constructor', 'x'],
      ['toString', 'y'],
    ]);
    expect(changedFields({}, odd)).toEqual(odd);
  });
});

describe('changedFields', () => {
  const fields = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'constructor'), fc.constantFrom('', '1', '2'));
  const filled = (set: Fields) => Object.fromEntries(Object.entries(set).filter(([, value]) => value !== ''));

  it('turns one set of fields into the other with the fewest fields', () => {
    fc.assert(
      fc.property(fields, fields, (from, to) => {
        const changed = changedFields(from, to);
        expect(filled({ ...from, ...changed })).toEqual(filled(to));
        for (const [name, value] of Object.entries(changed)) {
          expect(Object.hasOwn(from, name) && from[name] === value).toBe(false);
        }
      }),
    );
  });
});
