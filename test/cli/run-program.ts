// Runs one command of the compiled program to its end, on the installation of a test.
import type { Mirror } from '../support/mirror.ts';
import { startProgram } from './program.ts';

export interface ProgramResult {
  readonly status: number | null;
  readonly out: string;
  readonly errors: string;
  /** Standard output as JSON, a line each. */
  json<T = Record<string, unknown>>(): T[];
}

export async function runProgram(mirror: Mirror, ...args: readonly string[]): Promise<ProgramResult> {
  const running = startProgram([...args, '--config', mirror.configPath], { cwd: mirror.folder, env: mirror.env });
  const { status } = await running.ended;
  const out = running.out();
  return {
    status,
    out,
    errors: running.errors(),
    json: () =>
      out
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
  };
}
