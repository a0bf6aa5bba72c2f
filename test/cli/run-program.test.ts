// Most command tests rely on this: a command behaves the same inside the test process as in its own process.
import { beforeAll, expect, it } from 'vitest';
import { firstOf } from '../support/extent.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForAll } from '../support/opened.ts';
import { runProgram, spawnProgram } from './run-program.ts';

const mirror = openedForAll(() => openMirror());
beforeAll(async () => {
  await mirror.syncOf([...postings(2), posting('odd', { state: 'Jalisco' })]);
  await mirror.stopEngine();
});

it.each(
  firstOf(
    [
      { args: ['status', '--check'], status: 2 },
      { args: ['no-such-command'], status: 1 },
      { args: ['review', 'list', '--json'], status: 0 },
      { args: ['resume', 'nowhere'], status: 1 },
    ],
    1,
  ),
)('$args', async ({ args, status }) => {
  const { json: _, ...here } = await runProgram(mirror, ...args);
  const { json: __, ...there } = await spawnProgram(mirror, ...args);
  // Time passes between the two.
  const ageless = (text: string) => text.replace(/\d+ (?:s|min)\b|(?<="age_seconds":)\d+/g, 'N');
  expect(here.status).toBe(status);
  expect({ ...here, out: ageless(here.out) }).toEqual({ ...there, out: ageless(there.out) });
});
