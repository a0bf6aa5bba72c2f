// Which shown values mean what was sent: by the type that the site states, or by what both texts certainly are.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  meaningsOfSent,
  meaningsOfShown,
  meansTheSame,
  plainMeaning,
  type ValueType,
} from '../../src/plan/same-meaning.ts';
import '../support/property-seed.ts';

/** What was sent, what is shown, and the stated type. */
type Case = readonly [sent: string, shown: string | undefined, type?: ValueType];

const SAME: readonly Case[] = [
  ['2027-01-01T12:00:00Z', '2027-01-01T02:00:00-10:00', 'instant'],
  ['2027-01-01T12:00:00Z', '2027-01-01T02:00:00-10:00'],
  ['2027-01-01T12:00:00Z', '2027-01-01 12:00:00 UTC'],
  ['2027-01-01T12:00:00Z', '2027-01-01 02:00:00 -1000'],
  ['2027-01-01T12:00:00Z', '2027-01-01T12:00:00.000Z'],
  ['2027-01-01T12:00:00.123456Z', '2027-01-01T12:00:00.123Z'],
  ['2027-01-01T12:00:00.7Z', '2027-01-01T12:00:00Z'],
  ['2027-01-01T12:00:00.7Z', '2027-01-01T12:00:01Z'],
  ['2027-01-01T12:00Z', '2027-01-01T12:00:00Z'],
  ['Fri, 01 Jan 2027 12:00:00 GMT', '2027-01-01T02:00:00-10:00', 'instant'],
  ['2027-01-01T12:00:00', '2027-01-01T12:00:00-10:00'],
  ['2027-01-01T12:00:00-10:00', '2027-01-01 12:00:00'],
  ['2027-01-01T12:00:00-10:00', '2027-01-01 22:00:00'],
  ['2027-01-01T05:45:00+05:45', '2027-01-01T00:00:00Z'],
  ['2027-01-01', '2027-01-01T00:00:00-10:00', 'instant'],
  ['2027-01-01', '2027-01-01T00:00:00-10:00'],
  ['2027-01-01T12:00:00Z', '2027-01-01', 'date'],
  ['20.50', '20.5'],
  ['20.50', '20.500', 'number'],
  ['20.50', '2.05e1', 'float'],
  ['20', '20.0'],
  ['-0.50', '-.5', 'number'],
  ['1,500', '1500.0', 'number'],
  ['007', '7', 'number'],
  ['+5', '5', 'number'],
  ['0.00', '0', 'number'],
  ['100', '1e2', 'number'],
  ['true', '1'],
  ['0', 'false'],
  ['no', '0'],
  ['TRUE', 'true'],
  ['yes', 'true', 'boolean'],
  ['t', '1', 'boolean'],
  ['off', 'false', 'boolean'],
  ['', undefined],
  ['', 'x', 'nil'],
  ['  ', ''],
  ['a\r\nb', 'a\nb'],
  [' Nurse ', 'Nurse'],
];

const DIFFERENT: readonly Case[] = [
  ['2027-01-01T12:00:00Z', '2027-01-01T12:00:00-10:00'],
  ['2027-01-01T12:00:00Z', '2027-01-01T12:00:01Z'],
  ['2027-01-01T12:00:00Z', '2027-01-01'],
  ['2027-01-01', '2027-01-01T10:00:00Z'],
  ['2027-01-01', '2027-01-02T00:00:00-10:00', 'instant'],
  ['2027-01-01T12:00:00Z', '2027-01-02', 'date'],
  ['2027-01-01T12:00:00.123Z', '2027-01-01T12:00:00.124Z'],
  ['2027-02-30', '2027-03-02'],
  ['007', '7'],
  ['02134', '2134'],
  ['1e5', '100000'],
  ['+15550100', '15550100'],
  ['1,500', '1500'],
  ['20.50', '20.5', 'text'],
  ['1', '1.0', 'text'],
  ['12345678901234567890', '12345678901234567891', 'number'],
  ['20.50', '20.51', 'number'],
  ['', '0', 'number'],
  ['yes', 'true'],
  ['t', '1'],
  ['true', 'false', 'boolean'],
  ['1', '0', 'boolean'],
  ['Nurse', 'nurse'],
  ['Nurse', undefined],
  ['Nurse', '', 'nil'],
];

describe('what is shown', () => {
  it.each(SAME.map((each) => [each]))('%j means the same', ([sent, shown, type]) => {
    expect(meansTheSame(sent, shown, type)).toBe(true);
  });

  it.each(DIFFERENT.map((each) => [each]))('%j does not', ([sent, shown, type]) => {
    expect(meansTheSame(sent, shown, type)).toBe(false);
  });
});

const seconds = fc.integer({ min: Date.UTC(1971, 0) / 1000, max: Date.UTC(2099, 0) / 1000 });
const offset = fc.integer({ min: -12 * 4, max: 14 * 4 }).map((quarters) => quarters * 15);
const TYPES = [undefined, 'text', 'number', 'float', 'boolean', 'date', 'instant', 'nil'] as const;

function written(at: number, minutes: number, separator = 'T', colon = ':'): string {
  const wall = new Date((at + minutes * 60) * 1000).toISOString().slice(0, 19).replace('T', separator);
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const zone = `${String(hours).padStart(2, '0')}${colon}${String(rest).padStart(2, '0')}`;
  return `${wall}${separator === ' ' ? ' ' : ''}${minutes < 0 ? '-' : '+'}${zone}`;
}

describe('for any values', () => {
  it('an instant is the same in any zone, and no other', () => {
    fc.assert(
      fc.property(seconds, offset, offset, fc.integer({ min: 1, max: 86_400 * 400 }), (at, one, other, later) => {
        for (const type of [undefined, 'instant'] as const) {
          expect(meansTheSame(written(at, one), written(at, other, ' ', ''), type)).toBe(true);
          expect(meansTheSame(written(at, one), written(at + later, other), type)).toBe(false);
        }
      }),
    );
  });

  it('a decimal is the same with more zeros, and no other', () => {
    const digits = fc.integer({ min: 1, max: 999_999_999 });
    fc.assert(
      fc.property(digits, digits, fc.nat(6), fc.nat(12), (whole, part, zeros, moved) => {
        const value = `${whole}.${part}`;
        expect(meansTheSame(value, `${value}${'0'.repeat(zeros)}`)).toBe(true);
        expect(meansTheSame(value, `${'0'.repeat(zeros)}${value}`, 'number')).toBe(true);
        expect(meansTheSame(value, `${whole}${part}e-${String(part).length}`, 'number')).toBe(true);
        expect(meansTheSame(value, `${whole}${part}e${moved}`, 'number')).toBe(false);
        expect(meansTheSame(value, `${whole + 1}.${part}`, 'number')).toBe(false);
      }),
    );
  });

  it('a text of digits is another one with a leading zero, unless the site states a number', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 99_999 }), (code) => {
        expect(meansTheSame(`0${code}`, String(code))).toBe(false);
        expect(meansTheSame(`0${code}`, String(code), 'number')).toBe(true);
      }),
    );
  });

  it('the same text means the same, whatever is stated', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom(...TYPES), (text, type) => {
        expect(meansTheSame(text, text, type)).toBe(true);
        expect(meansTheSame(text, ` ${text}\n`, type === 'nil' ? undefined : type)).toBe(true);
      }),
    );
  });

  it('without a type, the same plain meaning is the same meaning', () => {
    const value = fc.oneof(
      fc.string(),
      fc.double({ noNaN: true }).map(String),
      fc.tuple(seconds, offset).map(([at, minutes]) => written(at, minutes)),
    );
    fc.assert(
      fc.property(value, value, (one, other) => {
        if (plainMeaning(one) === plainMeaning(other)) expect(meansTheSame(one, other)).toBe(true);
      }),
    );
  });

  it('never throws, and always knows the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom(...TYPES), (text, type) => {
        expect(meaningsOfSent(text).length).toBeGreaterThan(0);
        expect(meaningsOfShown(text, type).length).toBeGreaterThan(0);
      }),
    );
  });
});
