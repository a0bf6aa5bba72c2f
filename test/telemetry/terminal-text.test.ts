// Text of a feed can't control a terminal, and JSON keeps its value.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { terminalText } from '../../src/telemetry/print.ts';
import { anyCharacter } from '../support/any-character.ts';

describe('terminalText', () => {
  it.each([
    ['an OSC sequence', '\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
    ['a C1 control', '\u009b31m', '\\u009b31m'],
    ['a carriage return', 'hidden\rshown', 'hidden\\u000dshown'],
    ['a backspace and DEL', 'a\b\u007f', 'a\\u0008\\u007f'],
    ['bidirectional controls', '\u202egnp.\u2066exe\u200f\u061c', '\\u202egnp.\\u2066exe\\u200f\\u061c'],
    ['line separators', 'a\u2028b\u2029', 'a\\u2028b\\u2029'],
    ['tag characters', 'a\u{e0041}', 'a\\udb40\\udc41'],
    ['half of a surrogate pair', 'a\ud800', 'a\\ud800'],
  ])('writes %s as its escape', (_name, text, shown) => {
    expect(terminalText(text)).toBe(shown);
  });

  it('leaves ordinary text alone, in any script, with tabs and line breaks', () => {
    const text = 'Zoë\tשלום نص 日本 👩‍⚕️ §\nend';
    expect(terminalText(text)).toBe(text);
    expect(terminalText('a\r\nb')).toBe('a\nb');
  });

  it('keeps the value of JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.string({ unit: anyCharacter }), (value, text) => {
        const json = JSON.stringify([value, text]);
        expect(JSON.parse(terminalText(json))).toEqual(JSON.parse(json));
      }),
    );
  });
});
