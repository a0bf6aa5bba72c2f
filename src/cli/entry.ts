// Where the bundled program begins, which Node.js runs as a module: its status tells of a process that ended before its work was done.
import { keepCompiled, loadBundled } from './load-bundled.ts';

/** Node.js's exit status when the event loop runs empty while a top-level await is pending. */
const UNFINISHED = 13;
process.on('exit', (status) => {
  if (status === UNFINISHED) process.stderr.write('jobmirror: the process ended before its work was done\n');
});

const { runProcess } = loadBundled('run-process') as typeof import('./run-process.ts');
await runProcess();
keepCompiled();
