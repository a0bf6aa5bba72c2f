// Repairs of JSON records: what is repaired, what is not, and that well-formed records stay as they are.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatOf } from '../../src/feed/format/formats.ts';
import { generated } from '../support/extent.ts';
import { splitAs } from './collect.ts';

const parse = (text: string, lenient = true) => formatOf('json').parseRecord(Buffer.from(text), { lenient });

describe('a lenient feed', () => {
  it.each([
    ['{"a": "one\ntwo\tthree"}', { a: 'one\ntwo\tthree' }, ['2 line breaks or other control characters in strings']],
    [
      '{"a": "x\r\n", "b": [1, 2,\n],}',
      { a: 'x\r\n', b: ['1', '2'] },
      ['2 line breaks or other control characters in strings', '2 commas before closing brackets'],
    ],
    ['{"a": "b,}",}', { a: 'b,}' }, ['1 comma before a closing bracket']],
    ['{"a\n": "\\"\n"}', { 'a\n': '"\n' }, ['2 line breaks or other control characters in strings']],
  ])('reads %j', (text, tree, repairs) => {
    expect(parse(text)).toEqual({ kind: 'tree', tree, repairs });
    expect(parse(text, false).kind).toBe('unreadable');
  });

  it.each(['{"a": "b" c"\n"}', '{"a": b,}', '{"a":,}', '[1,,]', '{"a": "\n', '{a: "\n"}', '{"a": "\\x\n"}'])(
    'does not read %j, and says what is wrong with it',
    (text) => expect(parse(text)).toEqual(parse(text, false)),
  );

  it('reads long records', () => {
    for (const long of ['x\n', '\\n\n', '\\\\', '"', ',\n', '[', '{"a":'].map((part) =>
      part.repeat(generated(1_000_000)),
    )) {
      expect(() => parse(`{"a": "${long}"}`)).not.toThrow();
    }
  });

  it('reads strings with more escapes than a regular expression can match', () => {
    const long = { a: '\u0001'.repeat(1_500_000) };
    const parsed = parse(JSON.stringify(long), false);
    expect(parsed.kind === 'tree' && Reflect.get(parsed.tree as object, 'a') === long.a).toBe(true);
  });

  it('reads well-formed records as any other feed does', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parse(text)).toEqual(parse(text, false));
      }),
    );
  });

  it('reads postings of pages with line breaks in their descriptions', () => {
    const json = '{"@type": "JobPosting", "description": "<p>one\ntwo</p>",}';
    const { records } = splitAs('json-ld', `<html><script type="application/ld+json">${json}</script></html>`);
    expect(records).toEqual([json]);
    expect(parse(records[0] ?? '')).toMatchObject({ tree: { description: '<p>one\ntwo</p>' } });
  });
});
