// Lets a test kill or stop this process at a named step; does nothing otherwise.

/** The steps at which a process may die. At each, another process must be able to continue from the database. */
export type Step =
  | 'pull-started'
  | 'records-read'
  | 'changes-merged'
  | 'pull-committed'
  | 'intent-committed'
  | 'answer-received'
  | 'outcome-committed'
  | 'site-page-kept'
  | 'site-read'
  | 'site-searched'
  | 'doubt-listed'
  | 'doubt-resolved';

const desired = process.env.JOBMIRROR_FAULT_AT;
let left = Number(process.env.JOBMIRROR_FAULT_NTH ?? 1);

/** Marks a step. `JOBMIRROR_FAULT_AT=step[:stop]` kills or stops the process there, at the `JOBMIRROR_FAULT_NTH` time. */
export function crossStep(step: Step): void {
  if (desired === undefined) return;
  const [name, how] = desired.split(':');
  if (name !== step || --left !== 0) return;
  process.kill(process.pid, how === 'stop' ? 'SIGSTOP' : 'SIGKILL');
}
