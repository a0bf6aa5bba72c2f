// Runs `jobmirror` as it is shipped, and kills or stops its process at a step. The variables are
// FAULT_AT=STEP[:stop], FAULT_NTH (default 1): how often the step must be reached, and TIMING: as JSON, instead of the real one.
import { subscribe } from 'node:diagnostics_channel';
import { fileURLToPath } from 'node:url';

const { FAULT_AT = '', FAULT_NTH = '1', TIMING } = process.env;
const [step, how] = FAULT_AT.split(':');
let left = Number(FAULT_NTH);

subscribe('jobmirror:step', (reached) => {
  if (reached === step && --left === 0) process.kill(process.pid, how === 'stop' ? 'SIGSTOP' : 'SIGKILL');
});

if (TIMING !== undefined) {
  const { loadBundled } = await import('../../dist/bundled/load-bundled.js');
  loadBundled('timing').setProcessTiming(JSON.parse(TIMING));
}

// Hints repeat the command as it was called: it is the program, not this file.
process.argv[1] = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
await import('../../dist/bundled/entry.js');
