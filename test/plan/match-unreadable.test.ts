// Unreadable records are recognised although their bytes differ from pull to pull.
import { describe, expect, it } from 'vitest';
import { faultOf, matchUnreadable, shapeOf, type UnreadableMarks } from '../../src/plan/match-unreadable.ts';
import { postingKey } from '../../src/posting/identifiers.ts';

describe('the shape of a record', () => {
  it.each([
    ['a time', '<job><at>2026-11-23T09:00</at>', '<job><at>2026-11-24T10:15</at>', true],
    ['a session ID', '<job href="/a?s=ab12cd">', '<job href="/a?s=9f8e7d">', true],
    ['white space', '<job>\n  <title>Nurse', '<job>\t<title>Nurse', true],
    ['a word', '<job><title>Nurse', '<job><title>Baker', false],
    ['an element', '<job><title>Nurse', '<job><name>Nurse', false],
  ])('%s', (_name, one, other, same) => {
    expect(shapeOf(Buffer.from(one)).equals(shapeOf(Buffer.from(other)))).toBe(same);
  });
});

it.each([
  [['line 12, column 7: "<b>" is not closed'], 'line #, column #: "…" is not closed'],
  [['unknown entity &nbsp;', 'another problem'], 'unknown entity &…;'],
  [[], ''],
])('the fault of %j is %s', (messages, fault) => {
  expect(faultOf(messages.map((message) => ({ message })))).toBe(fault);
});

describe('a record finds its entry', () => {
  const marks = (over: Partial<UnreadableMarks>): UnreadableMarks => ({
    key: undefined,
    bytes: 'b1',
    shape: 's1',
    fault: 'f1',
    ...over,
  });
  const entry = (id: number, over: Partial<UnreadableMarks>) => ({ id, discarded: false, ...marks(over) });
  const key = postingKey('A');

  it.each([
    ['by its key, whatever else', marks({ key }), entry(1, { key, bytes: 'b2', shape: 's2', fault: 'f2' }), 1],
    ['by its bytes, although its key is known only now', marks({ key }), entry(1, { shape: 's2', fault: 'f2' }), 1],
    ['by its shape', marks({}), entry(1, { bytes: 'b2', fault: 'f2' }), 1],
    ['by its fault', marks({}), entry(1, { bytes: 'b2', shape: 's2' }), 1],
    ['never by shape or fault if it has a key', marks({ key, bytes: 'b3' }), entry(1, { bytes: 'b2' }), undefined],
    ['never that of a key', marks({}), entry(1, { key, bytes: 'b2' }), undefined],
  ])('%s', (_name, record, known, id) => {
    expect(matchUnreadable([record], [known])[0]?.id).toBe(id);
  });

  it('that no other record has', () => {
    const records = [marks({ bytes: 'b7' }), marks({}), marks({ bytes: 'b8' })];
    const found = matchUnreadable(records, [entry(1, {}), entry(2, { bytes: 'b9' })]);
    expect(found.map((each) => each?.id)).toEqual([2, 1, undefined]);
  });
});
