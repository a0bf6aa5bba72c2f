// Runs the program on a terminal, simulated by `script` (util-linux).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Mirror } from '../support/mirror.ts';
import { PROGRAM } from './program.ts';

/** Linux only: `script` on macOS has other options. */
export const hasTerminal = existsSync('/usr/bin/script') && process.platform === 'linux';

/** Types what `answer` returns at the prompt. */
export async function runOnTerminal(
  mirror: Mirror,
  args: readonly string[],
  answer: () => string | Promise<string>,
): Promise<{ status: number; shown: string }> {
  const command = `'${process.execPath}' '${PROGRAM}' ${args.join(' ')} --config '${mirror.configPath}'`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: mirror.folder,
    env: { ...process.env, ...mirror.env },
  });
  let shown = '';
  let answered: Promise<void> | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (answered !== undefined || !shown.includes('[y/N]')) return;
    answered = Promise.resolve(answer()).then((typed) => void child.stdin.write(typed));
  });
  const [status] = await once(child, 'close');
  await answered;
  return { status, shown };
}
