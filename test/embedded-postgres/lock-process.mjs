// Takes the lock of a folder repeatedly and records it in a file, until killed or done.
// Arguments: the folder, the number of times.
import { appendFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { withLock } from '../../dist/src/embedded-postgres/cluster-paths.js';

const [folder = '', times = '0'] = process.argv.slice(2);
const note = (what) => appendFileSync(`${folder}/notes`, `${what} ${process.pid}\n`);

for (let round = 0; round < Number(times); round++) {
  await withLock(folder, async () => {
    note('in');
    await setImmediate();
    note('out');
  });
}
