// Old and new values of a field, as a person gives them in a file.
import { describe, expect, it } from 'vitest';
import { readValueTable } from '../../src/review/csv.ts';

describe('a table of values', () => {
  it.each([
    ['Jalisco,Texas\nSonora,Arizona\n', { Jalisco: 'Texas', Sonora: 'Arizona' }],
    ['\ufeffOld,New\r\n"Baja, California",California\r\n\r\nX,\r\n', { 'Baja, California': 'California', X: '' }],
    ['a,b\na,b', { a: 'b' }],
  ])('%j has values', (text, values) => {
    expect(readValueTable(text)).toEqual({ kind: 'table', values });
  });
  it.each([
    ['', 'it has no line with an old and a new value'],
    ['old,new', 'it has no line with an old and a new value'],
    ['a,b\nc', 'line 2 has 1 columns, not 2: the old and the new value'],
    ['a,b\na,c', 'line 2 replaces "a" with "c", and an earlier line with "b"'],
    ['"a,b', expect.stringContaining('Quote Not Closed')],
  ])('%j is unusable', (text, message) => {
    expect(readValueTable(text)).toEqual({ kind: 'unusable', message });
  });
});
