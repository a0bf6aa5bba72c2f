// Lets a test end this process, or stop it, at a named step; outside tests it does nothing.

/** The steps between which a process may die. Each must leave the books so that another process can go on. */
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

/** Marks that a step is reached. `JOBMIRROR_FAULT_AT=step[:stop]` kills or stops the process there, the n-th time. */
export function crossStep(step: Step): void {
  if (desired === undefined) return;
  const [name, how] = desired.split(':');
  if (name !== step || --left !== 0) return;
  process.kill(process.pid, how === 'stop' ? 'SIGSTOP' : 'SIGKILL');
}
