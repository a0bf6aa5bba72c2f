// Identifies processes uniquely: a process ID alone is eventually reused.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';

const onLinux = process.platform === 'linux';

/** `pid@start`, unique among all processes of this machine, past and future; undefined if the process is not alive. */
export function identityOf(pid: number): string | undefined {
  const start = onLinux ? startFromProc(pid) : askPs(pid, 'lstart=');
  return start ? `${pid}@${start}` : undefined;
}

/** Whether the process with this {@link identityOf} is still alive. */
export function isAlive(identity: string): boolean {
  return identityOf(Number.parseInt(identity, 10)) === identity;
}

/** Whether the live process `pid` is the postmaster of the cluster in `dataFolder`, even after the folder was renamed. */
export function isPostmasterOf(pid: number, dataFolder: string): boolean {
  if (!onLinux) return askPs(pid, 'command=')?.includes(dataFolder) ?? false;
  try {
    // A postmaster has its data folder as working directory. A zombie has no working directory.
    const [cwd, data] = [statSync(`/proc/${pid}/cwd`), statSync(dataFolder)];
    return cwd.ino === data.ino && cwd.dev === data.dev;
  } catch {
    return false;
  }
}

function startFromProc(pid: number): string | undefined {
  try {
    // proc(5): the command in parentheses may contain spaces; after it come the state and, 19 fields later, the start time.
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
