// Documents with one JSON value per line: lines in random chunks, damaged lines, and the end.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { splitAs } from './collect.ts';

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
const lines = fc.array(
  fc.record({ id: fc.integer(), text: fc.string() }).map((value) => JSON.stringify(value)),
  { minLength: 1, maxLength: 8 },
);
const ends = fc.array(fc.constantFrom('\n', '\r\n', '\n\n', '\n \t\n'), { minLength: 8, maxLength: 8 });
const trimmed = (records: readonly string[]) => records.map((record) => record.trim());

describe('JSON Lines', () => {
  it('every line that is not blank is a record, in any chunks', () => {
    fc.assert(
      fc.property(lines, ends, sizes, fc.boolean(), (values, breaks, chunks, isEnded) => {
        const text = values.map((value, at) => value + breaks[at]).join('');
        const document = isEnded ? text : text.trimEnd();
        // The last bracket ends a document that nothing else ends.
        const result = splitAs('jsonl', document, {}, chunks, false);
        expect(result).toMatchObject({ refusal: undefined, shortfalls: [] });
        expect(trimmed(result.records)).toEqual(values);
      }),
    );
  });

  it('a document cut in a line is not complete, and that line is no record', () => {
    fc.assert(
      fc.property(lines, fc.nat(), (values, at) => {
        const last = values.at(-1) ?? '';
        const cut = last.slice(0, 1 + (at % (last.length - 1)));
        const { records, shortfalls } = splitAs('jsonl', [...values.slice(0, -1), cut].join('\n'), {}, [7], false);
        expect(records).toHaveLength(values.length - 1);
        expect(shortfalls).toEqual([`the document ends inside record ${values.length}`]);
      }),
    );
  });

  it('a broken line affects no other line', () => {
    const { records, shortfalls } = splitAs('jsonl', '{"id":1}\n{"id":2,"a":"x"y"\n{"id":3}\n', {}, [5]);
    expect(records).toEqual(['{"id":1}', '{"id":2,"a":"x"y"', '{"id":3}']);
    expect(shortfalls).toEqual([]);
  });

  it('a line above the size limit is oversized', () => {
    const long = `{"id":2,"a":"${'x'.repeat(5_000)}"}`;
    for (const end of ['\n', '']) {
      const document = `{"id":1}\n${long}${end}`;
      const { records, oversized, shortfalls } = splitAs('jsonl', document, { maxRecordBytes: 100 }, [64]);
      expect(records).toEqual(['{"id":1}']);
      expect(oversized).toEqual([{ head: long.slice(0, oversized[0]?.head.length), length: long.length }]);
      expect(shortfalls).toEqual([]);
    }
  });

  it.each([
    ['HTML', '<!doctype html><title>Sign in</title>', /HTML where a JSON Lines feed was expected/],
    ['XML', '<source/>\n', /XML where a JSON Lines feed was expected/],
    ['text', 'Bad Gateway\n', /this is not a JSON Lines feed; it starts with "Bad Gateway"/],
    ['a JSON list', '[\n{"id":1}\n]', /this is a JSON document, not one JSON value per line/],
    ['a JSON object on several lines', '{\n"jobs":[]\n}', /this is a JSON document, not one JSON value per line/],
    ['nothing', ' \n', /the feed is empty/],
  ])('%s is refused', (_name, document, message) => {
    const { refusal, records } = splitAs('jsonl', document, {}, [4]);
    expect(refusal).toMatch(message);
    expect(records).toEqual([]);
  });
});
