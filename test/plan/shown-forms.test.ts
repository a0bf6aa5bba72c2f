// What is kept of what a site showed after our last accepted write of each field, and what later answers change in it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formsAfter, readForms, type ShownForms } from '../../src/plan/compare-shown.ts';
import type { StatedTypes } from '../../src/plan/same-meaning.ts';
import type { Fields } from '../../src/posting/posting.ts';
import '../support/property-seed.ts';

interface Shown {
  readonly kept?: Fields;
  readonly types?: StatedTypes;
  readonly isWhole?: boolean;
}

const answer = (fields: Fields, { kept = fields, types, isWhole = true }: Shown = {}) => ({
  fields,
  kept,
  types,
  isWhole,
});
const created = (sent: Fields, shown: Fields, options?: Shown): ShownForms =>
  formsAfter({ accepted: sent, sent: new Set(Object.keys(sent)), known: undefined }, answer(shown, options));
const kindOf = (forms: ShownForms, name: string) => readForms(forms)(name).kind;
const isForm = (forms: ShownForms, name: string, value: string): boolean => {
  const form = readForms(forms)(name);
  return form.kind === 'rewritten' && form.isShown(value);
};

describe('after a create', () => {
  it.each<[string, string, string | undefined, Shown, string, number | undefined]>([
    ['as sent', 'Nurse', 'Nurse', {}, 'as_sent', 0],
    ['of the same meaning', '20.50', '20.5', {}, 'as_sent', 0],
    ['of the same meaning by its type', '007', '7', { types: { a: 'number' } }, 'as_sent', 0],
    ['rewritten', 'Driver (CDL-A)', 'Driver (Cdl A)', {}, 'rewritten', 6],
    ['left out', 'Nurse', undefined, {}, 'hidden', 2],
    ['left out of a part', 'Nurse', undefined, { isWhole: false }, 'unknown', undefined],
    ['nil', 'Nurse', undefined, { types: { a: 'nil' }, isWhole: false }, 'hidden', 2],
    ['with the token', 'Nurse', 'Nurse TOKEN', { kept: { a: 'Nurse [token removed]' } }, 'unknown', undefined],
  ])('a value %s', (_, sent, shown, options, kind, bytes) => {
    const forms = created({ a: sent }, shown === undefined ? {} : { a: shown }, options);
    expect(kindOf(forms, 'a')).toBe(kind);
    expect(forms?.length).toBe(bytes);
  });

  it('an answer without a job tells nothing', () => {
    expect(formsAfter({ accepted: { a: 'x' }, sent: new Set(['a']), known: undefined }, undefined)).toBeUndefined();
  });

  it('the form is one value of one field, in any spelling of the same meaning', () => {
    const forms = created(
      { 'starts-at': 'soon', title: 'Nurse' },
      { starts_at: '2027-01-01T12:00:00Z', title: 'NURSE' },
    );
    expect(isForm(forms, 'starts_at', '2027-01-01T02:00:00-10:00')).toBe(true);
    expect(isForm(forms, 'starts-at', '2027-01-01T12:00:01Z')).toBe(false);
    expect(isForm(forms, 'title', 'NURSE')).toBe(true);
    expect(isForm(forms, 'title', 'Nurse')).toBe(false);
    expect(kindOf(forms, 'city')).toBe('as_sent');
  });
});

describe('after an update', () => {
  const before = { title: 'nurse', description: '<p>a</p>', city: 'Salem' };
  const known = created(before, { title: 'Nurse', description: 'a', city: 'Salem' });
  const accepted = { ...before, title: 'cook' };
  const update = (shown: Fields | undefined, options?: Shown) =>
    formsAfter(
      { accepted, sent: new Set(['title']), known, former: before },
      shown === undefined ? undefined : answer(shown, { isWhole: false, ...options }),
    );

  it('only what was set has another form', () => {
    const forms = update({ title: 'Cook', description: 'by hand', city: 'by hand' });
    expect(isForm(forms, 'title', 'Cook')).toBe(true);
    expect(isForm(forms, 'title', 'Nurse')).toBe(false);
    expect(isForm(forms, 'description', 'a')).toBe(true);
    expect(kindOf(forms, 'city')).toBe('as_sent');
  });

  it.each([
    ['no job', undefined],
    ['a job without the field', { city: 'Salem' }],
    ['what the job had before', { title: 'nurse' }],
  ])('the form is unknown if the answer has %s', (_, shown) => {
    const forms = update(shown);
    expect(kindOf(forms, 'title')).toBe('unknown');
    expect(isForm(forms, 'description', 'a')).toBe(true);
    expect(forms).toHaveLength(8);
  });

  it('of a job of which nothing was known, what means the same is known', () => {
    const write = { accepted, sent: new Set(['title']), known: undefined };
    const forms = formsAfter(write, answer({ title: 'Cook', description: '<p>b</p>', city: 'Salem' }));
    expect(isForm(forms, 'title', 'Cook')).toBe(true);
    expect(kindOf(forms, 'description')).toBe('unknown');
    expect(kindOf(forms, 'city')).toBe('as_sent');
  });

  it('fields that the job has no more are forgotten', () => {
    const forms = formsAfter({ accepted: { city: 'Salem' }, sent: new Set(), known }, undefined);
    expect(forms).toHaveLength(0);
  });

  it('grows by nothing, however often it is written', () => {
    const names = Array.from({ length: 300 }, (_, at) => `field-${at}`);
    const fields = Object.fromEntries(names.map((name) => [name, name]));
    let forms = created(fields, Object.fromEntries(names.map((name) => [name, `${name} rewritten`])));
    const first = forms?.length;
    for (let round = 0; round < 5; round++)
      forms = formsAfter({ accepted: fields, sent: new Set(), known: forms }, undefined);
    expect(forms).toHaveLength(first ?? 0);
  });
});

it('for any fields: what was shown is known again, and nothing else', () => {
  const fields = fc.dictionary(fc.stringMatching(/^[a-z][a-z-]{0,9}$/), fc.string({ minLength: 1 }), { maxKeys: 12 });
  fc.assert(
    fc.property(fields, fc.string({ minLength: 1 }), (sent, added) => {
      const shown = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, `${value}: ${added}.`]));
      const forms = created(sent, shown);
      for (const [name, value] of Object.entries(shown)) {
        expect(isForm(forms, name, value)).toBe(true);
        expect(isForm(forms, name, `${value} by hand`)).toBe(false);
      }
      expect((forms?.length ?? 0) <= 6 * Object.keys(sent).length).toBe(true);
    }),
  );
});
