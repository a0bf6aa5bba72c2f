// Runs the command line in a child process, as a person would from a shell.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.ts';

/** The program as it is shipped. */
export const SHIPPED_PROGRAM = join(packageRoot, 'dist/src/cli/main.js');
/** The same without the file that people call: its hints say `jobmirror`, as if it were installed. */
export const PROGRAM = join(packageRoot, 'dist/bundled/entry.js');

export interface ProgramOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** By default {@link PROGRAM}. */
  readonly program?: string;
}

export interface RunningProgram {
  readonly process: ChildProcess;
  /** The output so far. */
  readonly out: () => string;
  readonly errors: () => string;
  /** Resolves when standard output matches; rejects if the program ends before that. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves when it has ended and all its output is read. */
  readonly ended: Promise<{ readonly status: number | null; readonly signal: NodeJS.Signals | null }>;
}

export function startProgram(args: readonly string[], { cwd, env, program = PROGRAM }: ProgramOptions): RunningProgram {
  const child = spawn(process.execPath, [program, ...args], { cwd, env: { ...process.env, ...env } });
  let out = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    child.emit('printed');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const ended = once(child, 'close').then(([status, signal]) => ({ status, signal }));
  return {
    process: child,
    out: () => out,
    errors: () => errors,
    ended,
    async printed(pattern) {
      for (;;) {
        const found = pattern.exec(out);
        if (found !== null) return found;
        const ending = await Promise.race([once(child, 'printed').then(() => undefined), ended]);
        if (ending !== undefined && !pattern.test(out)) {
          throw new Error(`it ended with ${ending.status ?? ending.signal} and without ${pattern}:\n${out}\n${errors}`);
        }
      }
    },
  };
}
