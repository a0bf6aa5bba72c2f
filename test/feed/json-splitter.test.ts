// Lists of JSON that PHP has made objects, because an index is missing: their members are the records.
import { expect, it } from 'vitest';
import { splitAs } from './collect.ts';

const LISTS = [
  ['the document', '', (list: string) => list],
  ['a member', 'data/jobs', (list: string) => `{"total":2, "data" : {"jobs" : ${list}, "page": {"1": {}}}}`],
] as const;
const SIZES = [[1], [7], [1e9]];

it.each(LISTS)('are read as %s', (_where, recordPath, within) => {
  for (const sizes of SIZES) {
    const document = within('{ "1" :{"id": "a"},\n"12":{"id": {"0": {}}} }');
    expect(splitAs('json', document, { recordPath }, sizes)).toMatchObject({
      records: ['{"id": "a"}', '{"id": {"0": {}}}'],
      refusal: undefined,
      shortfalls: [],
    });
  }
});

it.each(LISTS)('are incomplete if they are cut, as %s', (_where, recordPath, within) => {
  const document = within('{"0":{"id":"a"},"2":{"id":"b"}}');
  for (let length = document.indexOf('"0"') + 4; length < document.length; length++) {
    const { shortfalls, refusal } = splitAs('json', document.slice(0, length), { recordPath });
    expect([...shortfalls, refusal ?? ''].join(''), `${length}`).not.toBe('');
  }
});

it.each([
  ['a posting', '{"jobs":{"id":"a","0":{}}}', ['{"id":"a","0":{}}']],
  ['a posting without members', '{"jobs":{}}', ['{}']],
  ['texts', '{"jobs":{"0":"a","1":"b"}}', ['{"0":"a","1":"b"}']],
])('are not %s', (_what, document, records) => {
  for (const sizes of SIZES) expect(splitAs('json', document, { recordPath: 'jobs' }, sizes).records).toEqual(records);
});
