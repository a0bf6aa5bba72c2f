// By which values a posting's job is found among many, without comparing all.
import { describe, expect, it } from 'vitest';
import {
  blockingKeysOfJob,
  blockingKeysOfPosting,
  featuresOfJob,
  featuresOfPosting,
} from '../../../src/plan/match/job-features.ts';
import type { Fields } from '../../../src/posting/posting.ts';

const rules = { referenceField: 'number', stateField: 'location-state', stateOf: () => undefined, learnt: new Map() };
const PLACE = { 'location-city': 'Salem', 'location-state': 'Ohio' };
const TEXT =
  'We are looking for a nurse with five years of experience who will work in the emergency room of our hospital and ' +
  'support patients and doctors during the night shift every week';
const SENT = { title: 'Nurse', description: TEXT, 'contact-web-address': 'https://a.example.com/1', ...PLACE };

/** The kinds of blocks that a posting shares with a job. */
function sharedKinds(sent: Fields, shown: Fields): string[] {
  const own = blockingKeysOfPosting(featuresOfPosting('key-1', sent, rules)).map(({ kind, hash }) => `${kind} ${hash}`);
  const found = blockingKeysOfJob(featuresOfJob(shown, rules)).filter(({ kind, hash }) =>
    own.includes(`${kind} ${hash}`),
  );
  return [...new Set(found.map(({ kind }) => kind))];
}

describe('a job with another title is found by', () => {
  it.each<[string, Fields, Fields, readonly string[]]>([
    [
      'a similar text that was edited at its beginning',
      SENT,
      { title: 'Opening', description: `Now: ${TEXT}` },
      ['parts'],
    ],
    ['its place, if it shows nothing else', SENT, { title: 'Opening', ...PLACE }, ['place']],
    [
      'its place, if it shows its own address',
      SENT,
      { title: 'Opening', url: 'https://b.example.com/7', ...PLACE },
      ['place'],
    ],
    ['nothing, if it shows another reference', SENT, { title: 'Opening', number: 'x', ...PLACE }, []],
    [
      'nothing, if it shows another text',
      SENT,
      { title: 'Opening', description: 'You drive a lorry from one town to the next and back again.', ...PLACE },
      [],
    ],
    [
      'a value with the key of the posting',
      { ...SENT, apply: 'x-key-1' },
      { title: 'Opening', apply: 'x-key-1' },
      ['value'],
    ],
    [
      'no value that others have as well',
      { ...SENT, 'zip-code': '44460' },
      { title: 'Opening', 'zip-code': '44460' },
      [],
    ],
  ])('%s', (_name, sent, shown, expected) => {
    expect(sharedKinds(sent, shown)).toEqual(expected);
  });
});
