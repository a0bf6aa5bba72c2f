// Whose job a job is, as far as it and one create tell: the table above `likenessOf`, line by line.
import { describe, expect, it } from 'vitest';
import { stateTable } from '../../../src/config/load-us-states.ts';
import { type Circumstances, compareJob, isCloser, isEqual, LEAST_SCORE } from '../../../src/plan/match/compare-job.ts';
import { bareForms, featuresOfJob, featuresOfPosting } from '../../../src/plan/match/job-features.ts';
import type { LearntRewrite, LearntRewrites } from '../../../src/plan/observe-values.ts';
import type { ValueType } from '../../../src/plan/same-meaning.ts';
import { compileStates } from '../../../src/posting/places.ts';
import type { Fields } from '../../../src/posting/posting.ts';

const find = compileStates(stateTable());
const rulesOf = (referenceField: string | undefined, learnt: LearntRewrites = new Map()) => ({
  referenceField,
  stateField: 'location-state',
  stateOf: (text: string) => find(text)?.name,
  learnt,
});

type Changes = Readonly<Record<string, string | undefined>>;
const clean = (fields: Changes): Fields =>
  Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined));

function compare(sent: Changes, shown: Changes, rules = rulesOf('number')) {
  const [fields, says] = [clean(sent), clean(shown)];
  return compareJob(
    { ...featuresOfPosting('key-1', fields, rules), bare: bareForms(fields) },
    { ...featuresOfJob(says, rules), bare: bareForms(says) },
  );
}

const plainOf = ({ 'contact-web-address': _, ...fields }: Fields): Fields => fields;

const IN_TIME = { timely: true } as const;
const LATE = { timely: false } as const;
const UNTOLD = {} as const;

describe('with a reference field', () => {
  const sent = { number: 'n1', title: 'Nurse', 'location-state': 'Ohio' };
  const all = { ...sent, id: '5' };
  it.each<[string, Changes, Circumstances, string]>([
    ['the same reference', { number: 'n1' }, IN_TIME, 'match'],
    ['the same reference, no creation time', { number: 'n1' }, UNTOLD, 'match'],
    ['the same reference, created at another time', { number: 'n1' }, LATE, 'perhaps'],
    // Some sites assign their own references.
    ['another reference, all else the same', { ...all, number: 'zz' }, IN_TIME, 'resembles'],
    ['another reference and title', { ...all, number: 'zz', title: 'Cook' }, IN_TIME, 'other'],
    ['another reference, created at another time', { ...all, number: 'zz' }, LATE, 'other'],
    ['the reference in upper case', { number: 'N1', title: 'NURSE' }, IN_TIME, 'match'],
    ['the reference in upper case, all the same', { ...all, number: 'N1' }, UNTOLD, 'match'],
    ['the reference in upper case, another title', { number: 'N1', title: 'Cook' }, IN_TIME, 'perhaps'],
    [
      'the reference in upper case, another state',
      { ...all, number: 'N1', 'location-state': 'Utah' },
      UNTOLD,
      'perhaps',
    ],
    ['the reference in upper case, created at another time', { ...all, number: 'N1' }, LATE, 'perhaps'],
    ['the same reference and title', { number: 'n1', title: ' Nurse ' }, IN_TIME, 'match'],
    ['the same reference, another title', { number: 'n1', title: 'Cook' }, IN_TIME, 'perhaps'],
    ['no reference shown', { title: 'Nurse' }, IN_TIME, 'perhaps'],
  ])('%s', (_name, shown, circumstances, expected) => {
    expect(compare(sent, shown).likeness(circumstances)).toBe(expected);
  });

  it.each<[string, Changes, string]>([
    ['with the same content', { ...sent }, 'match'],
    ['with another state', { ...sent, 'location-state': 'Utah' }, 'perhaps'],
    ['with too little shown', { number: 'n1' }, 'perhaps'],
  ])('that another posting has too, %s', (_name, shown, expected) => {
    expect(compare(sent, shown).likeness({ ...IN_TIME, isReferenceShared: true })).toBe(expected);
  });
});

describe('on a site that is known to rewrite values', () => {
  const sent = { number: 'n1', title: 'Nurse', 'location-state': 'Ohio' };
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
  ] as const)('%s', (_name, learnt, shown, expected) => {
    expect(compare(sent, shown, rulesOf('number', learnt)).likeness(IN_TIME)).toBe(expected);
  });
});

describe('without a reference', () => {
  const TEXT = '<p>You care for twelve patients on the night shift, and report to <b>Ann</b>.</p>';
  const sent = {
    title: 'Driver (CDL-A)',
    description: TEXT,
    'contact-web-address': 'https://acme.example.com/jobs/17',
    pay: '20.50',
    starts: '2027-01-01T12:00:00Z',
    remote: 'true',
    'location-city': 'Salem',
    'location-state': 'Ohio',
  };
  const ALONE = { shared: new Set<string>() };
  const SHARED = { shared: new Set(['description', 'contact-web-address']) };
  const { description: _text, 'contact-web-address': _address, ...plain } = sent;

  it.each<[string, Changes, Circumstances, string]>([
    ['all the same', sent, IN_TIME, 'match'],
    ['a title in title case', { ...sent, title: 'Driver (Cdl A)' }, IN_TIME, 'match'],
    ['retyped values', { ...sent, pay: '20.5', starts: '2027-01-01T02:00:00-10:00', remote: '1' }, IN_TIME, 'match'],
    [
      'a state abbreviated, no tags',
      { ...sent, 'location-state': 'OH', description: TEXT.replace(/<[^>]*>/g, '') },
      IN_TIME,
      'match',
    ],
    ['another title, an address of its own', { ...sent, title: 'Opening' }, { ...IN_TIME, ...ALONE }, 'match'],
    ['another title, an address of its own, no creation time', { ...sent, title: 'Opening' }, ALONE, 'match'],
    ['another title, an address that others may have', { ...sent, title: 'Opening' }, IN_TIME, 'perhaps'],
    ['the same at another time', sent, { ...LATE, ...ALONE }, 'perhaps'],
    [
      'an address of its own in another place',
      { ...sent, 'location-city': 'Akron' },
      { ...IN_TIME, ...ALONE },
      'perhaps',
    ],
    [
      'another title, an address that others have',
      { ...sent, title: 'Opening' },
      { ...IN_TIME, ...SHARED },
      'resembles',
    ],
    [
      'another title, an address that others have, and no other create is as close',
      { ...sent, title: 'Opening' },
      { ...IN_TIME, ...SHARED, isClosest: true },
      'match',
    ],
    ['nothing but another title', { ...plain, title: 'Opening' }, IN_TIME, 'resembles'],
    ['nothing but another title, no creation time', { ...plain, title: 'Opening' }, UNTOLD, 'resembles'],
    ['nothing but another title at another time', { ...plain, title: 'Opening' }, LATE, 'other'],
    ['nothing but the title', { title: 'driver cdl a' }, IN_TIME, 'perhaps'],
    ['the title and another pay', { title: sent.title, pay: '30' }, UNTOLD, 'resembles'],
    ['another title, another pay, the place', { ...plain, title: 'Opening', pay: '30' }, IN_TIME, 'resembles'],
    [
      'another title, another pay, the place, no creation time',
      { ...plain, title: 'Opening', pay: '30' },
      UNTOLD,
      'other',
    ],
    [
      'another title, pay and place',
      { ...plain, title: 'Opening', pay: '30', 'location-city': 'Akron' },
      IN_TIME,
      'other',
    ],
    ['another title, and no more', { title: 'Opening' }, IN_TIME, 'resembles'],
    ['the beginning of the text', { ...plain, title: 'Opening', description: TEXT.slice(0, 40) }, UNTOLD, 'perhaps'],
    [
      'a similar text, another address',
      {
        ...sent,
        title: 'Opening',
        description: TEXT.replace('and report', 'and you report'),
        'contact-web-address': 'https://x.example.com',
      },
      UNTOLD,
      'resembles',
    ],
    [
      'a similar text in another place',
      { title: 'Opening', description: `${TEXT} Apply now.`, 'location-city': 'Akron', 'location-state': 'Ohio' },
      UNTOLD,
      'other',
    ],
    [
      'a similar text in another place, in time',
      { title: 'Opening', description: `${TEXT} Apply now.`, 'location-city': 'Akron', 'location-state': 'Ohio' },
      IN_TIME,
      'resembles',
    ],
    [
      'another address and text',
      { ...sent, description: 'You drive.', 'contact-web-address': 'https://b.example.com' },
      IN_TIME,
      'resembles',
    ],
    ...[IN_TIME, UNTOLD, LATE].map((when, at): [string, Changes, Circumstances, string] => [
      `another address, text and title, ${['in time', 'no creation time', 'at another time'][at]}`,
      { ...sent, title: 'Cook', description: 'You cook.', 'contact-web-address': 'https://b.example.com' },
      when,
      at === 0 ? 'resembles' : 'other',
    ]),
    ...[IN_TIME, UNTOLD, LATE].map((when, at): [string, Changes, Circumstances, string] => [
      `another address, a similar title and no text, ${['in time', 'no creation time', 'at another time'][at]}`,
      { ...plain, title: 'Driver', 'contact-web-address': 'https://b.example.com' },
      when,
      at === 2 ? 'other' : 'resembles',
    ]),
    [
      'an address of its own, another text',
      { ...sent, title: 'Opening', description: 'You drive from one town to the next and back again.' },
      { ...IN_TIME, ...ALONE },
      'perhaps',
    ],
    [
      'the text of its own, another address',
      { ...sent, title: 'Opening', 'contact-web-address': 'https://b.example.com' },
      { ...IN_TIME, ...ALONE },
      'perhaps',
    ],
    ['nothing', {}, UNTOLD, 'perhaps'],
  ])('%s', (_name, shown, circumstances, expected) => {
    expect(compare(sent, shown, rulesOf(undefined)).likeness(circumstances)).toBe(expected);
  });

  describe('a value that the posting alone has', () => {
    const other = {
      title: 'Plumber',
      description: 'Pipes and water of all kinds in the houses of the town',
      'contact-web-address': 'https://pipes.example.net/1',
      'location-city': 'Salem',
      'location-state': 'Ohio',
    };
    const inTime = { ...IN_TIME, ...ALONE };
    it.each<[string, string, string]>([
      ['zip-code', '44460', 'resembles'],
      ['category-id', '17', 'resembles'],
      ['company_number', 'C-1234', 'resembles'],
      // Whoever has it may be the same employer.
      ['contact-email-address', 'jobs@acme.example.com', 'perhaps'],
    ])('of %s proves nothing', (name, value, expected) => {
      expect(
        compare({ ...sent, [name]: value }, { ...other, [name]: value }, rulesOf(undefined)).likeness(inTime),
      ).toBe(expected);
    });

    it.each<[string, Changes, string]>([
      ['the title and the text are others', {}, 'other'],
      ['the text is another', { title: 'Driver' }, 'perhaps'],
      ['the title is another, and no text is shown', { description: '' }, 'perhaps'],
    ])('of a mail address says nothing of a job from before the posting, if %s', (_, shown, expected) => {
      const mail = { 'contact-email-address': 'jobs@acme.example.com' };
      const { likeness, score } = compare({ ...sent, ...mail }, { ...other, ...mail, ...shown }, rulesOf(undefined));
      expect([likeness(UNTOLD), score >= LEAST_SCORE]).toEqual([expected, expected !== 'other']);
    });

    it.each([
      ['key-1', 'match'],
      ['https://x.example.com/apply?job=key-1', 'match'],
      ['key-12', 'resembles'],
    ])('with its key, %s, proves it', (value, expected) => {
      const shown = { title: 'Opening', apply: value, 'location-city': 'Salem', 'location-state': 'Ohio' };
      expect(compare({ ...plain, apply: value }, shown, rulesOf(undefined)).likeness(inTime)).toBe(expected);
    });

    it('proves nothing as a short text', () => {
      const shown = { title: 'Plumber', description: 'Apply now!', 'location-city': 'Salem', 'location-state': 'Ohio' };
      expect(compare({ ...sent, description: 'Apply now!' }, shown, rulesOf(undefined)).likeness(inTime)).toBe(
        'perhaps',
      );
    });
  });

  describe('values are compared by their meaning', () => {
    it.each<[string, string, ValueType | undefined, boolean]>([
      ['yes', 'true', undefined, false],
      ['yes', 'true', 'boolean', true],
      ['t', 'true', 'boolean', true],
      ['yes', '1', undefined, true],
      ['1,500', '1500.0', 'number', true],
      ['007', '7', 'number', true],
      ['2027-01-01T12:00:00', '2027-01-01T12:00:00Z', 'instant', true],
      ['2027-01-01', '2027-01-01T00:00:00Z', undefined, true],
      ['-5', '5', undefined, false],
    ])('%s and %s, %s', (own, says, type, isSame) => {
      const rules = rulesOf(undefined);
      const posting = featuresOfPosting('key-1', { ...plainOf(sent), extra: own }, rules);
      const job = featuresOfJob({ ...plainOf(sent), extra: says }, rules, { types: type && { extra: type } });
      expect(compareJob(posting, job).likeness(IN_TIME)).toBe(isSame ? 'match' : 'perhaps');
    });
  });

  it('a score tells whether a job may be the posting’s', () => {
    for (const shown of [
      sent,
      { ...plain, title: 'Opening' },
      { title: 'Cook', 'location-city': 'Akron' },
      { ...sent, title: 'Cook', description: 'You cook.', 'contact-web-address': 'https://b.example.com' },
      { ...plain, title: 'Opening', description: `${TEXT} Apply now.` },
    ]) {
      const comparison = compare(sent, shown, rulesOf(undefined));
      expect(comparison.score >= LEAST_SCORE, JSON.stringify(shown)).toBe(comparison.likeness() !== 'other');
    }
  });

  it('a posting with neither reference nor address is compared by what it has', () => {
    const few = { title: 'Nurse', 'location-state': 'Ohio' };
    const shows = (title: string) => compare(few, { title, 'location-state': 'Ohio', number: 'n9' }).likeness(IN_TIME);
    expect([shows('Nurse'), shows('Doctor')]).toEqual(['match', 'resembles']);
  });

  it('a job with an address of the posting is worth a look, however else it differs', () => {
    const shown = { title: 'Cook', description: 'You cook.', 'contact-web-address': sent['contact-web-address'] };
    expect(compare(sent, shown, rulesOf(undefined)).score).toBe(0.6);
  });
});

it('another reference and text are another employer’s, if no time tells', () => {
  const sent = { number: 'n1', title: 'Nurse', description: 'You care for twelve patients.', 'location-state': 'Ohio' };
  const other = { ...sent, number: 'z7', description: 'Our practice looks for somebody to help.' };
  expect([UNTOLD, IN_TIME, LATE].map((when) => compare(sent, other).likeness(when))).toEqual([
    'other',
    'resembles',
    'other',
  ]);
});

describe('of two postings, a job is closer to the one', () => {
  const place = (city: string) => ({ number: 'n1', title: 'Nurse', 'location-city': city, 'location-state': 'Ohio' });
  const job = { ...place('Salem'), title: 'Registered nurse' };
  const [salem, akron] = [compare(place('Salem'), job), compare(place('Akron'), job)];

  it('with which it agrees in more', () => {
    expect([isCloser(salem, akron), isCloser(akron, salem), isCloser(salem, salem)]).toEqual([true, false, false]);
  });

  it('and equal to it only if nothing differs', () => {
    expect([isEqual(salem), isEqual(compare(place('Salem'), place('Salem')))]).toEqual([false, true]);
    expect(isEqual(compare(place('Salem'), {}))).toBe(false);
  });
});
