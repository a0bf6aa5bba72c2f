// Simulates lives of an installation, plain ones and ones that combine features, with new seeds each time, for some minutes:
// npm run soak -- --minutes 60.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../src/config/package-root.ts';

/** Simulated lives of each kind per run of the tests. */
const AT_ONCE = 12;
const KINDS = ['test/laws/simulation.test.ts', 'test/laws/crossing.test.ts'];

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '10' }, seed: { type: 'string' } },
});
const endAt = Date.now() + Number(values.minutes) * 60_000;
let seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
let lives = 0;
process.stdout.write(`from seed ${seed}, for ${values.minutes} minutes\n`);
while (Date.now() < endAt && process.exitCode === undefined) {
  const child = spawn(
    process.execPath,
    [join(packageRoot, 'node_modules/vitest/vitest.mjs'), 'run', ...KINDS, '--reporter', 'dot'],
    {
      cwd: packageRoot,
      env: { ...process.env, FIRST_SEED: String(seed), SEEDS: String(AT_ONCE) },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) process.exitCode = 1;
  seed += AT_ONCE;
  lives += AT_ONCE;
}
process.stdout.write(
  `${lives} lives of each kind, up to seed ${seed - 1}: ${process.exitCode === 1 ? 'a law was broken' : 'all laws held'}\n`,
);
