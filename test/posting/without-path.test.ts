// Records without what is at a path, or with it sorted.
import { expect, it } from 'vitest';
import { parseValuePath, withoutPath, withSorted } from '../../src/posting/paths/value-path.ts';
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

it.each<[string, RecordTree, RecordTree]>([
  ['a', { a: ['2', '1'], b: ['2', '1'] }, { a: ['1', '2'], b: ['2', '1'] }],
  ['a/b', { a: [{ b: ['3', '2'] }, { b: '1' }] }, { a: [{ b: ['2', '3'] }, { b: '1' }] }],
  [
    'a',
    {
      'p:a': [
        ['9', 'x'],
        ['1', 'y'],
      ],
    },
    {
      'p:a': [
        ['1', 'y'],
        ['9', 'x'],
      ],
    },
  ],
  ['a/b', { a: 'text' }, { a: 'text' }],
  ['a,a/b', { a: [{ b: ['3', '2'] }, { b: ['2', '9'] }] }, { a: [{ b: ['2', '3'] }, { b: ['2', '9'] }] }],
])('%s, sorted', (path, record, expected) => {
  expect(withSorted(record, path.split(',').map(parseValuePath))).toEqual(expected);
});
