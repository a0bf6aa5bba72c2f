// What a job shows now, compared with what the site accepted for it: rewritten values are the same, others are changed.
import { describe, expect, it } from 'vitest';
import { compareShown, explainMissed, formsAfter, type JobNow } from '../../src/plan/compare-shown.ts';
import type { LearntRewrite, LearntRewrites } from '../../src/plan/observe-values.ts';
import type { Fields } from '../../src/posting/posting.ts';

const STATES = new Map([
  ['Texas', 'Texas'],
  ['TX', 'Texas'],
  ['Ohio', 'Ohio'],
]);
const rules = (learnt: LearntRewrites = new Map(), only?: ReadonlySet<string>) => ({
  learnt,
  referenceField: 'number',
  stateField: 'location-state',
  stateOf: (text: string) => STATES.get(text),
  only,
});
const knows = (...rewrites: readonly LearntRewrite[]): LearntRewrites => new Map([['title', rewrites]]);
/** Nothing is known of what the site showed after the last write. */
const before = (fields: Fields) => ({ fields, forms: undefined });
const shownAs = (fields: Fields): JobNow => ({ fields, isWhole: true });
const EXACT: LearntRewrite = { kind: 'exact', detail: '', seen: 16 };
const EXACTLY: LearntRewrites = new Map([['number', [EXACT]]]);
const OTHER: LearntRewrite = { kind: 'other', detail: '', seen: 16 };

describe('a title', () => {
  it.each<[string, string, string | undefined, LearntRewrites, 'same' | 'changed' | 'hidden']>([
    ['as sent', 'Nurse', 'Nurse', new Map(), 'same'],
    ['another one', 'Nurse', 'Painter', new Map(), 'changed'],
    ['trimmed', ' Nurse ', 'Nurse', new Map(), 'same'],
    ['in capitals', 'Nurse', 'NURSE', new Map(), 'same'],
    ['in capitals, on a site that shows titles exactly', 'Nurse', 'NURSE', knows(EXACT), 'changed'],
    ['cut', 'Nurse in Boston', 'Nurse in B', new Map(), 'same'],
    ['cut, on a site that shows titles exactly', 'Nurse in Boston', 'Nurse in B', knows(EXACT), 'changed'],
    ['without tags, on a site that shows titles exactly', '<b>Nurse</b>', 'Nurse', knows(EXACT), 'same'],
    ['with a known prefix', 'Nurse', 'Job: Nurse', knows({ kind: 'prefixed', detail: 'Job: ', seen: 1 }), 'same'],
    ['with an unknown prefix', 'Nurse', 'Job: Nurse', new Map(), 'changed'],
    ['emptied', 'Nurse', '', new Map(), 'changed'],
    ['not shown', 'Nurse', undefined, new Map(), 'hidden'],
    ['empty and not shown', '', undefined, new Map(), 'same'],
    ['filled by hand', '', 'Nurse', new Map(), 'changed'],
    ['on a site that shows any title', 'Nurse', 'Painter', knows(OTHER), 'hidden'],
    ['on a site that has once shown another title', 'Nurse', 'Painter', knows({ ...OTHER, seen: 1 }), 'changed'],
    ['on a site that shows some exactly', 'Nurse', 'Painter', knows(EXACT, OTHER), 'changed'],
  ])('%s', (_, accepted, shown, learnt, expected) => {
    const fields: Record<string, string> = shown === undefined ? {} : { title: shown };
    const { changed, hidden } = compareShown(before({ title: accepted }), shownAs(fields), rules(learnt));
    expect(changed).toEqual(expected === 'changed' ? ['title'] : []);
    expect(hidden).toEqual(expected === 'hidden' ? ['title'] : []);
  });
});

it('a state is the same in every spelling', () => {
  const accepted = { 'location-state': 'Texas' };
  expect(compareShown(before(accepted), shownAs({ 'location-state': 'TX' }), rules()).changed).toEqual([]);
  expect(compareShown(before(accepted), shownAs({ 'location-state': 'Ohio' }), rules()).changed).toEqual([
    'location-state',
  ]);
});

it('names with - and _ are the same, and further fields of the job do not count', () => {
  const shown = { location_city: 'Salem', views: '7' };
  const found = compareShown(before({ 'location-city': 'Salem' }), shownAs(shown), rules());
  expect(found).toEqual({ changed: [], hidden: [], unknown: [] });
});

it('compares only the given fields', () => {
  const only = rules(undefined, new Set(['title']));
  const found = compareShown(
    before({ title: 'a', description: 'b', number: '1' }),
    shownAs({ title: 'x', description: 'y' }),
    only,
  );
  expect(found).toEqual({ changed: ['title'], hidden: [], unknown: [] });
});

describe('once it is known what the site showed after the last write', () => {
  const fields = { title: 'Driver (CDL-A)' };
  const forms = (shown: Fields, isWhole = true) =>
    formsAfter(
      { accepted: fields, sent: new Set(['title']), known: undefined },
      { fields: shown, kept: shown, types: undefined, isWhole },
    );
  const asSent = forms(fields);
  const rewritten = forms({ title: 'Driver (Cdl A)' });
  const left = forms({});

  it.each<[string, ReturnType<typeof forms>, Partial<JobNow>, LearntRewrites, 'same' | 'changed' | 'hidden']>([
    ['what it showed then', rewritten, { fields: { title: 'Driver (Cdl A)' } }, new Map(), 'same'],
    ['what was sent', rewritten, { fields }, new Map(), 'same'],
    ['another value', rewritten, { fields: { title: 'Driver' } }, new Map(), 'changed'],
    ['another case', rewritten, { fields: { title: 'DRIVER (CDL A)' } }, new Map(), 'changed'],
    ['another value, of no value alike', rewritten, { fields: { title: 'Driver' } }, knows(OTHER), 'changed'],
    [
      'what it showed then, of no value alike',
      rewritten,
      { fields: { title: 'Driver (Cdl A)' } },
      knows(OTHER),
      'same',
    ],
    [
      'another case, though it showed it as sent',
      asSent,
      { fields: { title: 'DRIVER (CDL-A)' } },
      new Map(),
      'changed',
    ],
    ['a beginning, though it showed it as sent', asSent, { fields: { title: 'Driver (CDL' } }, new Map(), 'changed'],
    ['other white space', asSent, { fields: { title: ' Driver  (CDL-A)' } }, new Map(), 'same'],
    ['nothing', asSent, { fields: {} }, new Map(), 'changed'],
    ['nothing in a list', asSent, { fields: {}, isWhole: false }, new Map(), 'hidden'],
    ['nil in a list', asSent, { fields: {}, isWhole: false, types: { title: 'nil' } }, new Map(), 'changed'],
    ['nothing, as then', left, { fields: {} }, new Map(), 'hidden'],
    ['a value, though it showed none', left, { fields: { title: 'DRIVER (CDL-A)' } }, new Map(), 'same'],
  ])('%s', (_, known, shown, learnt, expected) => {
    const job = { fields: {}, isWhole: true, ...shown };
    const { changed, hidden, unknown } = compareShown({ fields, forms: known }, job, rules(learnt));
    expect(changed).toEqual(expected === 'changed' ? ['title'] : []);
    expect(hidden).toEqual(expected === 'hidden' ? ['title'] : []);
    expect(unknown).toEqual([]);
  });
});

it('a field of which no value is alike can be compared once it was sent again', () => {
  const found = compareShown(before({ title: 'Nurse' }), shownAs({ title: 'Painter' }), rules(knows(OTHER)));
  expect(found).toEqual({ changed: [], hidden: ['title'], unknown: ['title'] });
});

it('a reference is a number only if the site says so', () => {
  const accepted = before({ number: '1.10' });
  expect(compareShown(accepted, shownAs({ number: '1.1' }), rules(EXACTLY)).changed).toEqual(['number']);
  const typed: JobNow = { fields: { number: '1.1' }, types: { number: 'number' }, isWhole: true };
  expect(compareShown(accepted, typed, rules(EXACTLY)).changed).toEqual([]);
});

it.each([
  ["can't be blank", 'city', true],
  ['is not included in the list', 'city', true],
  ['is too short (minimum is 1 character)', 'city', true],
  ['is too long (maximum is 40 characters)', 'city', false],
  ['has already been taken', 'city', false],
  ["can't be blank", 'title', false],
  ["can't be blank", 'email', false],
])('a refusal "%s" of %s may come from a site that clears what an update omits: %s', (message, field, expected) => {
  const explained = explainMissed({ field, message }, { title: 'Nurse' }, { title: 'Cook', city: 'Boston' });
  expect(explained.message.includes('omitted_fields')).toBe(expected);
});
