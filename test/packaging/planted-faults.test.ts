// The list of planted faults is up to date: the text that each changes exists, and so do the tests that should fail, which
// `npm test` runs.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { plantedFaults } from '../../bench/planted-faults/faults.ts';
import { packageRoot } from '../../src/config/package-root.ts';
import { slowFiles } from '../support/extent.ts';

it('each planted fault finds its text and its tests', () => {
  const lost = plantedFaults.flatMap(({ file, find, tests }) => {
    const path = join(packageRoot, file);
    if (!existsSync(path)) return [`${file} is gone`];
    const gone = tests.filter((test) => !existsSync(join(packageRoot, test)));
    return [
      ...(readFileSync(path, 'utf8').includes(find) ? [] : [`${file} does not hold any more: ${find}`]),
      ...gone.map((test) => `${test} is gone, which should notice: ${find}`),
    ];
  });
  expect(lost).toEqual([]);
});

it('each planted fault is caught by a file that npm test runs', () => {
  const slow = new Set(slowFiles());
  const uncaught = plantedFaults.filter(({ tests }) => tests.every((test) => slow.has(test)));
  expect(uncaught).toEqual([]);
});
