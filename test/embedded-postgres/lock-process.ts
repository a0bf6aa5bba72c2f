// Takes the lock of a folder again and again, and notes in a file when it has it, until it is killed or has had it often enough.
// Arguments: the folder, how often.
import { appendFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { withLock } from '../../src/embedded-postgres/folder-lock.ts';

const [folder = '', times = '0'] = process.argv.slice(2);
const note = (what: string) => appendFileSync(`${folder}/notes`, `${what} ${process.pid}\n`);

for (let round = 0; round < Number(times); round++) {
  await withLock(folder, async () => {
    note('in');
    await setImmediate();
    note('out');
  });
}
