// Which jobs a posting may be the posting of: the table above `compareJob`, line by line.
import { describe, expect, it } from 'vitest';
import { stateTable } from '../../../src/config/load-us-states.ts';
import { compareJob } from '../../../src/plan/match/compare-job.ts';
import { type AdoptRules, featuresOfJob, featuresOfPosting } from '../../../src/plan/match/job-features.ts';
import type { LearntRewrites } from '../../../src/plan/observe-values.ts';
import { compileStates } from '../../../src/posting/places.ts';

const find = compileStates(stateTable());
const TEXT =
  '<p>You care for twelve patients on the night shift.</p><ul><li>Lift 50 pounds</li><li>Report to Ann</li></ul>';
const POSTING = {
  number: 'REQ-00017',
  title: 'Registered Nurse',
  description: TEXT,
  'category-name': 'Health',
  'location-city': 'St. Louis',
  'location-state': 'Missouri',
};
const rules = (learnt: LearntRewrites = new Map()): AdoptRules => ({
  referenceField: 'number',
  stateField: 'location-state',
  stateOf: (text) => find(text)?.name,
  learnt,
});

type Changes = Readonly<Record<string, string | undefined>>;

/** The posting against a job that shows it, apart from these fields; `undefined` is not shown. */
function compare(shown: Changes, own: Changes = {}, learnt?: LearntRewrites) {
  const clean = (fields: Changes) =>
    Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined));
  const posting = featuresOfPosting('key-1', clean({ ...POSTING, ...own }), rules(learnt));
  return compareJob(posting, featuresOfJob(clean({ ...POSTING, ...own, ...shown }), rules(learnt)));
}

describe('by reference', () => {
  it.each<[string, Changes, boolean]>([
    ['everything is the same', {}, true],
    ['another text', { description: 'changed by hand altogether' }, true],
    ['a similar place', { 'location-city': 'East St. Louis' }, true],
    ['no place and no title', { title: undefined, 'location-city': undefined, 'location-state': undefined }, true],
    ['a similar title', { title: 'Registered Nurse (RN)' }, true],
    ['another title, the same text', { title: 'Pfleger' }, true],
    ['another title and text', { title: 'Pfleger', description: 'something else' }, false],
    [
      'a similar title in a similar place',
      { title: 'Registered Nurse (RN)', 'location-city': 'East St. Louis' },
      false,
    ],
    ['another place', { 'location-city': 'Kansas City' }, false],
    ['another state', { 'location-state': 'Illinois' }, false],
    ['another form', { number: 'req 17' }, false],
    ['another form without zeros and signs', { number: 'req00017' }, true],
    ['another form, a similar title', { number: 'req00017', title: 'Registered Nurse (RN)' }, false],
    ['its beginning', { number: 'REQ-000' }, false],
    ['another reference', { number: 'REQ-00018' }, false],
    ['none', { number: undefined }, false],
  ])('%s', (_, shown, expected) => {
    expect(compare(shown).byReference).toBe(expected);
  });

  it('a rewriting that the site is known for counts as the reference itself', () => {
    const learnt: LearntRewrites = new Map([['number', [{ kind: 'prefixed', detail: 'board-', seen: 3 }]]]);
    const shown = { number: 'board-REQ-00017', title: 'Registered Nurse (RN)' };
    expect(compare(shown).byReference).toBe(false);
    expect(compare(shown, {}, learnt)).toMatchObject({ byReference: true, sharesReference: true });
  });

  it('another form proves nothing at a site that shows every reference as sent', () => {
    const learnt: LearntRewrites = new Map([['number', [{ kind: 'exact', detail: '', seen: 16 }]]]);
    expect(compare({ number: 'req00017' }, {}, learnt)).toMatchObject({ byReference: false, sharesReference: true });
  });

  it('the key counts only as another form: it is not sent', () => {
    const own = { number: undefined };
    expect(compare({ number: 'key-1' }, own)).toMatchObject({ byReference: true, sharesReference: true });
    expect(compare({ number: 'key-1', title: 'Registered Nurse (RN)' }, own).byReference).toBe(false);
    expect(compare({ number: 'other' }, own)).toMatchObject({ byReference: false, sharesContent: false });
  });
});

describe('by content', () => {
  it.each<[string, Changes, boolean]>([
    ['no reference shown', {}, true],
    ['the place in another spelling', { 'location-city': 'Saint Louis', 'location-state': 'MO' }, true],
    [
      'without markup',
      { description: 'You care for twelve patients on the night shift. * Lift 50 pounds * Report to Ann' },
      true,
    ],
    ['in capitals', { title: 'REGISTERED NURSE' }, true],
    ['one other word in the text', { description: TEXT.replace('night', 'day') }, false],
    ['the beginning of the text', { description: TEXT.slice(0, 60) }, false],
    ['no text', { description: undefined }, false],
    ['a similar place', { 'location-city': 'East St. Louis' }, false],
    ['a similar title', { title: 'Registered Nurse II' }, false],
    ['another category', { 'category-name': 'Care' }, false],
    ['no category', { 'category-name': undefined }, true],
    ['a field that the posting does not have', { salary: '10' }, true],
    ['another reference', { number: 'REQ-00018' }, false],
    ['the beginning of the reference', { number: 'REQ-000' }, true],
  ])('%s', (_, shown, expected) => {
    expect(compare({ number: undefined, ...shown }).sharesContent).toBe(expected);
  });

  it('programming languages differ', () => {
    const own = { description: 'You know C++ well, and more than that.', number: undefined };
    expect(compare({ description: 'You know C# well, and more than that.' }, own).sharesContent).toBe(false);
  });
});

it('says what is the same and what is not', () => {
  expect(
    compare({ number: 'X-1', title: 'Registered Nurse II', description: undefined, 'category-name': 'Care' }),
  ).toMatchObject({
    reasons: ['another reference (X-1)', 'similar title', 'same place', 'text not shown', 'different category-name'],
  });
});
