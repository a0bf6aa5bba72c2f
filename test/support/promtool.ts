// Checks files and texts with Prometheus' own promtool, which Debian's package `prometheus` has.
import { spawnSync } from 'node:child_process';

export interface PromtoolForTests {
  readonly available: boolean;
  /** Title suffix for a suite that needs it, giving the reason for a skip. */
  readonly note: string;
  /** Runs it. Returns its output, and whether it found nothing wrong. */
  run(args: readonly string[], input?: string): { readonly ok: boolean; readonly output: string };
}

/**
 * promtool on this machine.
 * @throws Error if there is none and `JOBMIRROR_REQUIRE_ALL=1` forbids skipping (as in CI).
 */
export function promtoolForTests(): PromtoolForTests {
  const available = spawnSync('promtool', ['--version']).status === 0;
  if (!available && process.env.JOBMIRROR_REQUIRE_ALL === '1') {
    throw new Error('JOBMIRROR_REQUIRE_ALL=1, but no promtool on PATH: take it from the Debian package prometheus');
  }
  return {
    available,
    note: available ? '' : ' (skipped: no promtool on PATH)',
    run(args, input = '') {
      const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
      return { ok: status === 0, output: `${stdout}${stderr}` };
    },
  };
}
