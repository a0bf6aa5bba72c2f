// Waits until a process was stopped by a signal.
import { readFile } from 'node:fs/promises';

/** Polls the system as `ps` does, because it offers no event for this. */
export async function untilStopped(pid: number): Promise<void> {
  for (;;) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    if (/\) T /.test(stat)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
