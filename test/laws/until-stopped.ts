// Waits until a process was stopped by a signal.
import { readFile } from 'node:fs/promises';
import type { Running } from './installation.ts';

/**
 * Polls the system as `ps` does, because it offers no event for this.
 * @throws Error with the output of a process that ended instead.
 */
export async function untilStopped({ child, ended }: Running): Promise<void> {
  for (;;) {
    const stat = await readFile(`/proc/${child.pid}/stat`, 'utf8').catch(() => '');
    if (/\) T /.test(stat)) return;
    if (stat === '' || child.exitCode !== null || child.signalCode !== null) {
      const { status, signal, output } = await ended;
      throw new Error(`process ${child.pid} ended (${status ?? signal}) instead of being stopped:\n${output}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
