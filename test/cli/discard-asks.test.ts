// `jobmirror review discard` on a terminal.
// @module-tag slow
import { beforeEach, expect, it } from 'vitest';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { hasTerminal, runOnTerminal } from './on-terminal.ts';
import { runAsked, runProgram } from './run-program.ts';

const mirror = openedForEach(() => openMirror());
beforeEach(async () => {
  await mirror.writeFeed(feedXml(['a', 'b'].map((key) => posting(key, { state: 'Jalisco' }))));
  await runProgram(mirror, 'sync');
});

/** Discards all entries of the feed on a terminal, and types `answer` at the prompt. */
const discard = (answer: string, run = runOnTerminal) => run(mirror, ['review', 'discard', 'acme'], () => answer);

const left = async () => (await runProgram(mirror, 'review', 'list', '--json')).json().length;

it.skipIf(!hasTerminal)('asks, and discards only after a yes', async () => {
  // Only a terminal makes an end of input of the last character.
  for (const [no, run] of [
    ['n\n', runAsked],
    ['\n', runAsked],
    ['\u0004', runOnTerminal],
  ] as const) {
    const { status, shown } = await discard(no, run);
    expect(shown).toContain('This discards 2 entries of feed acme: 2 rejected.');
    expect(shown).toContain('Nothing was discarded.');
    expect([status, await left()]).toEqual([1, 2]);
  }
  const interrupted = await discard('\u0003');
  expect(interrupted.status).not.toBe(0);
  expect(await left()).toBe(2);
  expect(await discard('y\n')).toMatchObject({
    status: 0,
    shown: expect.stringContaining('acme: 2 discarded (2 rejected)'),
  });
  expect(await left()).toBe(0);
});
