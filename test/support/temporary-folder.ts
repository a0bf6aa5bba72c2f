// A folder for the files of one test file.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** Makes a folder for the calling file, or for the calling suite. It is removed after the last test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'jobmirror-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
