// The scripts of package.json, in a checkout that was installed with --ignore-scripts and is therefore not compiled.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';

const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));

it.each(['demo', 'jobmirror'])('%s says that it has to be compiled first', (name) => {
  const cwd = mkdtempSync(join(tmpdir(), 'jobmirror-scripts-'));
  const { status, stderr } = spawnSync('/bin/sh', ['-c', scripts[name]], { cwd, encoding: 'utf8' });
  rmSync(cwd, { recursive: true });
  expect([status, stderr]).toEqual([1, 'jobmirror is not compiled: npm run build\n']);
});
