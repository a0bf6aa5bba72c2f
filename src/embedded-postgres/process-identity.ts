// Tells processes apart for good: a process number alone is given to another process sooner or later.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';

const onLinux = process.platform === 'linux';

/** `pid@start`, a text that no other process on this machine has or will have; undefined where no such process lives. */
export function identityOf(pid: number): string | undefined {
  const start = onLinux ? startFromProc(pid) : askPs(pid, 'lstart=');
  return start ? `${pid}@${start}` : undefined;
}

/** Whether the process of an {@link identityOf} still lives. */
export function isAlive(identity: string): boolean {
  return identityOf(Number.parseInt(identity, 10)) === identity;
}

/** Whether a live process `pid` is the postmaster of the cluster in `dataFolder`, also after that folder was renamed. */
export function isPostmasterOf(pid: number, dataFolder: string): boolean {
  if (!onLinux) return askPs(pid, 'command=')?.includes(dataFolder) ?? false;
  try {
    // A postmaster works in its data folder. A dead one that nobody has collected yet (a zombie) works nowhere.
    const [cwd, data] = [statSync(`/proc/${pid}/cwd`), statSync(dataFolder)];
    return cwd.ino === data.ino && cwd.dev === data.dev;
  } catch {
    return false;
  }
}

function startFromProc(pid: number): string | undefined {
  try {
    // proc(5): the command in parentheses may hold blanks; behind it stand the state and, 19 fields on, the start in clock ticks.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return undefined;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${fields[19]}`;
  } catch {
    return undefined;
  }
}

function askPs(pid: number, column: string): string | undefined {
  try {
    return execFileSync('ps', ['-ww', '-o', column, '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}
