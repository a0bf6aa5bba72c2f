// Records without what is at a path.
import { expect, it } from 'vitest';
import { parseValuePath, withoutPath } from '../../src/posting/paths/value-path.ts';
import type { RecordTree } from '../../src/posting/posting.ts';

const FIELDS: readonly [RecordTree, RecordTree] = [
  { name: 'id', value: '7' },
  { name: 'updated', value: 'today' },
];

it.each<[string, RecordTree, RecordTree]>([
  ['a', { a: '1', b: '2' }, { b: '2' }],
  ['a/b', { a: [{ b: '1', c: '2' }, { c: '3' }] }, { a: [{ c: '2' }, { c: '3' }] }],
  ['field[name=updated]/value', { field: FIELDS }, { field: [FIELDS[0], { name: 'updated' }] }],
  ['field[name=updated]', { field: FIELDS }, { field: [FIELDS[0]] }],
  ['field[name=updated]', { field: FIELDS[1] }, {}],
  ['field[name=updated]', { field: [[FIELDS[0]], [FIELDS[1]]] }, { field: [[FIELDS[0]], []] }],
  ['x/y', { 'p:x': { 'p:y': '1', z: '2' }, x2: { y: '1' } }, { 'p:x': { z: '2' }, x2: { y: '1' } }],
  ['*/y', { a: { y: '1' }, '@b': '2' }, { a: {}, '@b': '2' }],
  ['a/b/c', { a: 'text' }, { a: 'text' }],
])('%s', (path, record, expected) => {
  expect(withoutPath(record, parseValuePath(path))).toEqual(expected);
});
