// A command whose work is done ends, even if something keeps the event loop alive.
// @module-tag slow
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';

const MAIN = join(packageRoot, 'dist/src/cli/main.js');
/** Runs before the command and keeps the process alive. */
const KEEPS_ALIVE = 'data:text/javascript,setInterval(() => {}, 1000)';

it('ends, and says what was left open', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', KEEPS_ALIVE, MAIN, '--version']);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+/);
  expect(stderr).toMatch(
    /^jobmirror: the work is done, but something was left open \(.*Timeout.*\); ending the process\n$/,
  );
});
