// Runs a command on a test's installation, in this process, which saves starting a new one.
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runProgram as runArguments } from '../../src/cli/program.ts';
import type { Mirror } from '../support/mirror.ts';
import { SHIPPED_PROGRAM, startProgram } from './program.ts';

export interface ProgramResult {
  readonly status: number | null;
  readonly out: string;
  readonly errors: string;
  /** Standard output parsed as JSON, line by line. */
  json<T = Record<string, unknown>>(): T[];
}

/** Resolves when the commands begun so far have ended: they share process-wide state, so they run one after another. */
let former: Promise<unknown> = Promise.resolve();

/** What a command needs of an installation; without `configPath`, it gets no `--config`. */
export type Installation = Pick<Mirror, 'folder' | 'env'> & Partial<Pick<Mirror, 'configPath'>>;

const configOf = ({ configPath }: Installation): readonly string[] =>
  configPath === undefined ? [] : ['--config', configPath];

/** Runs without terminal or input. Test exits, limits and signals with {@link spawnProgram}. */
export function runProgram(mirror: Installation, ...args: readonly string[]): Promise<ProgramResult> {
  return afterFormer(async () => {
    const out = collector();
    const errors = collector();
    const streams = { stdin: Readable.from([]), stdout: out.stream, stderr: errors.stream };
    const status = await runHere(mirror, args, streams);
    return resultOf(status, await out.end(), await errors.end());
  });
}

/**
 * Runs as on a terminal where a person types what `answer` returns when the program asks. `answer` must not run a program.
 * `discard-asks.test.ts` uses a real terminal.
 */
export function runAsked(
  mirror: Installation,
  args: readonly string[],
  answer: () => string | Promise<string>,
): Promise<{ readonly status: number; readonly shown: string }> {
  return afterFormer(async () => {
    const terminal = { isTTY: true };
    const stdin = Object.assign(new PassThrough(), terminal);
    const screen = collector();
    let typed: Promise<void> | undefined;
    screen.stream.on('data', (text: Buffer) => {
      if (text.includes('[y/N]')) typed ??= (async () => void stdin.write(await answer()))().finally(() => stdin.end());
    });
    const shown = Object.assign(screen.stream, terminal);
    const status = await runHere(mirror, args, { stdin, stdout: shown, stderr: shown });
    await typed;
    return { status, shown: await screen.end() };
  });
}

function afterFormer<T>(run: () => Promise<T>): Promise<T> {
  const result = former.then(run);
  former = result.catch(() => undefined);
  return result;
}

/** Runs the program as it is shipped, in a process of its own, as a person would. */
export async function spawnProgram(mirror: Installation, ...args: readonly string[]): Promise<ProgramResult> {
  const options = { cwd: mirror.folder, env: mirror.env, program: SHIPPED_PROGRAM };
  const running = startProgram([...args, ...configOf(mirror)], options);
  const { status } = await running.ended;
  return resultOf(status, running.out(), running.errors());
}

interface Streams {
  readonly stdin: Readable;
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
}

/** Returns the exit status. */
async function runHere(mirror: Installation, args: readonly string[], streams: Streams): Promise<number> {
  const restore = replaceProcess({
    argv: [process.execPath, SHIPPED_PROGRAM, ...args, ...configOf(mirror)],
    env: { ...process.env, ...mirror.env },
    ...streams,
    exitCode: undefined,
  });
  const folder = process.cwd();
  process.chdir(mirror.folder);
  try {
    await runArguments();
    return Number(process.exitCode ?? 0);
  } finally {
    process.chdir(folder);
    restore();
  }
}

type Replaced = Partial<Record<'argv' | 'env' | 'stdin' | 'stdout' | 'stderr' | 'exitCode', unknown>>;

/** Returns a function that restores the previous state. */
function replaceProcess({ exitCode, ...properties }: Replaced): () => void {
  const before = Object.keys(properties).map((name) => [name, Object.getOwnPropertyDescriptor(process, name)] as const);
  const exitCodeBefore = process.exitCode;
  for (const [name, value] of Object.entries(properties)) {
    Object.defineProperty(process, name, { value, configurable: true, enumerable: true, writable: true });
  }
  process.exitCode = exitCode as undefined;
  return () => {
    for (const [name, descriptor] of before)
      if (descriptor !== undefined) Object.defineProperty(process, name, descriptor);
    process.exitCode = exitCodeBefore;
  };
}

/** Everything written to the stream, once it has ended. */
function collector(): { readonly stream: PassThrough; end(): Promise<string> } {
  const stream = new PassThrough();
  const written = text(stream);
  return {
    stream,
    end: () => {
      stream.end();
      return written;
    },
  };
}

const resultOf = (status: number | null, out: string, errors: string): ProgramResult => ({
  status,
  out,
  errors,
  json: () =>
    out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line)),
});
