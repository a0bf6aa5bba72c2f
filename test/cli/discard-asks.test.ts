// `jobmirror review discard` on a terminal, simulated by `script` (util-linux).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { PROGRAM } from './program.ts';
import { runProgram } from './run-program.ts';

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let mirror: Mirror;
beforeEach(async () => {
  mirror = await openMirror();
  await mirror.writeFeed(feedXml(['a', 'b'].map((key) => posting(key, { state: 'Jalisco' }))));
  await runProgram(mirror, 'sync');
});
afterEach(() => mirror.close());

/** Discards all entries of the feed on a terminal, and types `answer` at the prompt. */
async function discard(answer: string): Promise<{ status: number; shown: string }> {
  const command = `'${process.execPath}' '${PROGRAM}' review discard acme --config '${mirror.configPath}'`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: mirror.folder,
    env: { ...process.env, ...mirror.env },
  });
  let shown = '';
  let answered = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (answered || !shown.includes('[y/N]')) return;
    answered = true;
    child.stdin.write(answer);
  });
  const [status] = await once(child, 'close');
  return { status, shown };
}

const left = async () => (await runProgram(mirror, 'review', 'list', '--json')).json().length;

// Linux only: `script` on macOS has other options.
it.skipIf(!existsSync('/usr/bin/script') || process.platform !== 'linux')(
  'asks, and discards only after a yes',
  async () => {
    for (const no of ['n\n', '\n', '\u0004']) {
      const { status, shown } = await discard(no);
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
  },
);
