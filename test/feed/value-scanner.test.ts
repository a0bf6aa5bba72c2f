// Finds the ends and the faults of JSON values whose bytes arrive one by one.
import { expect, it } from 'vitest';
import { ValueScanner } from '../../src/feed/format/value-scanner.ts';

function scanBytewise(json: string): readonly [end: string, at: number] {
  const bytes = Buffer.from(json);
  const scanner = new ValueScanner();
  scanner.begin(0);
  for (let to = 1; to <= bytes.length; to++) {
    const end = scanner.scan(bytes.subarray(0, to));
    if (end !== 'more') return [end, scanner.at];
  }
  return ['more', scanner.at];
}

it.each([
  ['{"a":[{},"b"],"c":null}x', 23],
  ['[]]', 2],
  ['"a\\"b\\\\"]', 8],
  ['""', 2],
  ['-1.5e3,', 6],
  ['null ', 4],
  ['true}', 4],
])('%s ends', (json, at) => {
  expect(scanBytewise(json)).toEqual(['end', at]);
});

it.each([
  ['a string after a string', '{"a":"b" "c"}', 9],
  ['a string after a number', '{"a":1 "b":2}', 7],
  ['a string after an object', '[{}"a"]', 3],
  ['a word after a string', '{"a":"b" c"}', 9],
  ['a word after an object', '[{}a]', 3],
  ['an object after an object', '[{}{}]', 3],
  ['an object after a list', '[[]{}]', 3],
  ['a list after a number', '[1[]]', 2],
  ['an object for a name', '{{}:1}', 1],
  ['a list for a name', '{"a":1,[]', 7],
  ['a list closed as an object', '[1}', 2],
  ['an object closed as a list', '{"a":1]', 6],
  ['an outer list closed as an object', '[{"a":[]}}', 9],
  ['a colon for a name', '{:', 1],
  ['a colon in a list', '["a":1]', 4],
  ['two colons', '{"a"::1}', 5],
  ['a closing bracket', ']', 0],
  ['a comma', ',1', 0],
  ['a colon', ':1', 0],
])('%s is a fault', (_what, json, at) => {
  expect(scanBytewise(json)).toEqual(['fault', at]);
});

it.each(['{', '["a', '"a\\"', '12', '{"a":1,', '[[]'])('%s is not whole', (json) => {
  expect(scanBytewise(json)).toEqual(['more', json.length]);
});

it('matches brackets by their kind down to a depth of 1,024, and counts them below', () => {
  const nested = (depth: number, inner: string) => `${'[{"a":'.repeat(depth / 2)}${inner}${'}]'.repeat(depth / 2)}`;
  expect(scanBytewise(nested(1_022, '[{}]'))).toEqual(['end', nested(1_022, '[{}]').length]);
  expect(scanBytewise(nested(1_022, '[{]]'))).toEqual(['fault', 511 * 6 + 2]);
  expect(scanBytewise(nested(1_024, '[{]]'))).toEqual(['end', nested(1_024, '[{]]').length]);
  expect(scanBytewise(nested(1_024, '[{]]').replace('}]', '}}'))).toEqual(['fault', 512 * 6 + 5]);
});
