// Which open creates a job is compared with, and to which of them it is closest.
import { describe, expect, it } from 'vitest';
import { isTimely, OpenContents, type OpenCreate } from '../../../src/plan/match/open-contents.ts';
import { feedName, postingKey } from '../../../src/posting/identifiers.ts';
import type { Fields } from '../../../src/posting/posting.ts';

const rules = { referenceField: 'number', stateField: 'location-state', stateOf: () => undefined, learnt: new Map() };
const AT = new Date('2027-01-01T12:00:00Z');
const LATER = new Date('2027-01-01T12:01:00Z');
const BEFORE = new Date('2026-12-01T12:00:00Z');

const create = (key: string, fields: Fields, others: Partial<OpenCreate> = {}): OpenCreate => ({
  feed: feedName('acme'),
  key: postingKey(key),
  entry: 1,
  fields,
  contentHash: JSON.stringify(fields),
  startedAt: AT,
  isInDoubt: true,
  ...others,
});
const PLACE = { 'location-city': 'Salem', 'location-state': 'Ohio' };
const NURSE = { title: 'Nurse', 'contact-web-address': 'https://a.example.com/1', ...PLACE };

/** The keys of the creates that the job may be of. */
function mayBeOf(creates: readonly OpenCreate[], fields: Fields, createdAt?: Date): string[] {
  const contents = new OpenContents(creates, rules);
  return contents
    .compare(contents.look({ fields, createdAt }))
    .contents.flatMap((content) => content.creates.map(({ key }) => key));
}

describe('a job is compared with', () => {
  const creates = [
    create('nurse', NURSE),
    create('cook', { title: 'Cook', 'location-city': 'Akron', 'location-state': 'Ohio' }),
  ];
  it.each<[string, Fields, Date | undefined, readonly string[]]>([
    [
      'the create that has its address',
      { title: 'Opening', 'contact-web-address': 'http://a.example.com/1/' },
      BEFORE,
      ['nurse'],
    ],
    ['the one that has the beginning of its title', { title: 'Nurse of the night', ...PLACE }, BEFORE, []],
    ['the one at its place, if it was made in time', { title: 'Opening', ...PLACE }, LATER, ['nurse']],
    ['the one at its place, if it may have been made in time', { title: 'Opening', ...PLACE }, undefined, ['nurse']],
    ['none at its place, if it was made before', { title: 'Opening', ...PLACE }, BEFORE, []],
    [
      'none at its place, if its address is another one',
      { title: 'Opening', 'contact-web-address': 'https://b.example.com', ...PLACE },
      undefined,
      [],
    ],
    ['all, if it was made in time and shows no place', { title: 'Opening' }, LATER, ['nurse', 'cook']],
    ['none, if it shows neither place nor time', { title: 'Opening' }, undefined, []],
    ['all, if it shows neither title nor reference', {}, undefined, ['nurse', 'cook']],
  ])('%s', (_name, fields, createdAt, expected) => {
    expect(mayBeOf(creates, fields, createdAt)).toEqual(expected);
  });

  it('a create that has another text at the same place, if the texts are similar', () => {
    const text =
      'You care for twelve patients on the night shift and report to the head nurse of the ward every morning';
    const other = [create('nurse', { description: text, title: 'Nurse', ...PLACE })];
    const shows = (description: string) => mayBeOf(other, { title: 'Opening', description, ...PLACE });
    expect(shows(`Now: ${text}`)).toEqual(['nurse']);
    expect(shows('You drive a lorry from one town to the next and back again, four days a week')).toEqual([]);
  });

  it('a create without a title, whatever it shows, and one for which a search has found a job, whenever it was made', () => {
    expect(mayBeOf([create('x', { number: 'n1' })], { title: 'Opening' })).toEqual(['x']);
    expect(mayBeOf([create('y', NURSE, { startedAt: undefined })], { title: 'Nurse', ...PLACE }, BEFORE)).toEqual([
      'y',
    ]);
  });

  it('a create by its place no more once that was done for too many jobs', () => {
    const contents = new OpenContents([create('nurse', NURSE)], rules, { mostNearby: 1 });
    const compare = () =>
      contents.compare(contents.look({ fields: { title: 'Opening', ...PLACE }, createdAt: LATER })).contents;
    const content = contents.of({ feed: feedName('acme'), key: postingKey('nurse') });
    expect([compare(), compare(), compare()].map(({ length }) => length)).toEqual([1, 1, 0]);
    expect(contents.isCrowded(content)).toBe(true);
  });
});

it('takes nothing for certain that does not prove itself if creates were left out', () => {
  const likeness = (areCut: boolean, fields: Fields, shared = new Set<string>()) => {
    const contents = new OpenContents([create('nurse', fields)], rules, { areCut });
    const content = contents.of({ feed: feedName('acme'), key: postingKey('nurse') });
    return contents.compare(contents.look({ fields, createdAt: LATER })).likeness(content, { timely: true, shared });
  };
  const plain = { title: 'Nurse', ...PLACE };
  expect([likeness(false, plain), likeness(true, plain)]).toEqual(['match', 'perhaps']);
  expect([likeness(true, NURSE), likeness(true, NURSE, new Set(['contact-web-address']))]).toEqual([
    'match',
    'perhaps',
  ]);
  expect(likeness(true, { ...plain, number: 'n1' })).toBe('match');
});

it('looks for texts at the place only where nothing else is shared', () => {
  const text = 'You care for twelve patients on the night shift and report to the head nurse of the ward every morning';
  const contents = new OpenContents([create('nurse', { description: text, ...NURSE })], rules);
  const near = (fields: Fields) => contents.look({ fields }).isNear();
  expect(near({ title: 'Opening', description: `Now: ${text}`, ...PLACE })).toBe(true);
  expect(near({ title: 'Opening', description: 'You drive a lorry', ...PLACE })).toBe(false);
});

describe('of several creates', () => {
  const place = (city: string) => ({ number: 'n1', title: 'Nurse', 'location-city': city, 'location-state': 'Ohio' });
  const creates = [create('salem', place('Salem')), create('akron', place('Akron')), create('salem2', place('Salem'))];
  const contents = new OpenContents(creates, rules);
  const content = (key: string) => contents.of({ feed: feedName('acme'), key: postingKey(key) });
  const compare = (fields: Fields, createdAt = LATER) => contents.compare(contents.look({ fields, createdAt }));

  it('a job that is equal to one is not another one’s', () => {
    const job = compare(place('Salem'));
    expect(job.equalTo(content('akron'))).toBe(content('salem'));
    expect(job.equalTo(content('salem'))).toBeUndefined();
    expect([job.likeness(content('akron'), {}), job.likeness(content('salem'), { timely: true })]).toEqual([
      'other',
      'match',
    ]);
    expect(job.alike(content('salem'))).toBe(2);
    expect([job.isClosest(content('salem')), job.isClosest(content('akron'))]).toEqual([true, false]);
  });

  it('a job that was made before is nobody’s for certain', () => {
    const job = compare(place('Salem'), BEFORE);
    expect(job.equalTo(content('akron'))).toBeUndefined();
    expect(job.likeness(content('salem'), { timely: false })).toBe('perhaps');
  });

  it('a job that shows none of what tells them apart is alike to all of them', () => {
    expect(compare({ number: 'n1', title: 'Nurse' }).alike(content('akron'))).toBe(3);
  });

  it('a job that none of them may have is other to each', () => {
    const job = compare({ number: 'n2', title: 'Cook', 'location-city': 'Lima', 'location-state': 'Ohio' });
    expect(job.contents).toEqual([]);
    expect([job.isClosest(content('salem')), job.likeness(content('salem'), {})]).toEqual([false, 'other']);
    expect(contents.compareWith(content('salem'), { fields: place('Akron') }).sharesReference).toBe(true);
  });
});

it('tells whether a job was made in time', () => {
  const window = { notBefore: AT, notAfter: LATER };
  expect([BEFORE, AT, LATER, new Date(LATER.getTime() + 1)].map((at) => isTimely(window, at))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect([
    isTimely(undefined, AT),
    isTimely(window, undefined),
    isTimely({ ...window, notAfter: undefined }, LATER),
  ]).toEqual([undefined, undefined, true]);
});
