// Turns SIGINT, SIGTERM, SIGHUP and broken output into an abort signal; a second signal ends the process at once. SIGHUP may ask for
// something else.
import { isatty } from 'node:tty';
import { onOutputFailure, printNotice } from '../telemetry/print.ts';

/** Time for requests in flight to finish, so everything ends within 10 s of the signal. */
export const STOP_WITHIN_MS = 7_000;

export interface StopSignal {
  readonly signal: AbortSignal;
  /** Resolves when the first signal comes. */
  readonly stopped: Promise<void>;
  /** How often SIGHUP has asked a service to read its configuration again. */
  hangUps(): number;
  /** Stops listening. */
  release(): void;
}

/** Awaits what a service opens; `undefined` if the stop ended the opening, which is then a normal end. */
export async function unlessStopped<Opened>(
  { signal }: StopSignal,
  opening: Promise<Opened>,
): Promise<Opened | undefined> {
  try {
    return await opening;
  } catch (error) {
    if (signal.aborted && error === signal.reason) return undefined;
    throw error;
  }
}

/** Anything that still hangs then, such as a dead connection or a blocked output, is cut off. */
const END_AFTER_MS = 9_500;

/** Shell convention: a process ended by a signal exits with 128 plus the signal's number. */
const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
type SignalName = keyof typeof SIGNAL_NUMBERS;

/** Ctrl-C in a terminal reaches npm and the program, and npm passes it on: what comes so soon after the first is the same one. */
const SAME_WITHIN_MS = 500;

/**
 * The first signal aborts; whatever still runs `endAfterMs` later is cut off with the process.
 * @param reloads whether SIGHUP asks for the configuration to be read again, except on a terminal, where it says that this is gone
 */
export function stopSignal(endAfterMs = END_AFTER_MS, { reloads = false } = {}): StopSignal {
  const controller = new AbortController();
  let resolveStopped: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    resolveStopped = resolve;
  });
  const stop = (cause: string, status: number): void => {
    setTimeout(() => process.exit(status), endAfterMs).unref();
    controller.abort(new UserError(`stopped by ${cause}`));
    resolveStopped();
  };
  let signalledAt = Number.NEGATIVE_INFINITY;
  const onSignal = (name: SignalName): void => {
    if (performance.now() - signalledAt < SAME_WITHIN_MS) return;
    const status = 128 + SIGNAL_NUMBERS[name];
    if (controller.signal.aborted) process.exit(status);
    signalledAt = performance.now();
    printNotice(`\n${name}: stopping; finishing requests in flight first. A second signal stops at once.`);
    stop(name, status);
  };
  let hangUps = 0;
  const onHangUp = (): void => {
    hangUps++;
  };
  const isOnTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor));
  const ignored: readonly SignalName[] = reloads && !isOnTerminal ? ['SIGHUP'] : [];
  const names = (Object.keys(SIGNAL_NUMBERS) as SignalName[]).filter((name) => !ignored.includes(name));
  for (const name of names) process.on(name, onSignal);
  for (const name of ignored) process.on(name, onHangUp);
  const forgetOutput = onOutputFailure(() => {
    if (!controller.signal.aborted) stop('output that cannot be written', 1);
  });
  return {
    signal: controller.signal,
    stopped,
    hangUps: () => hangUps,
    release() {
      for (const name of names) process.off(name, onSignal);
      for (const name of ignored) process.off(name, onHangUp);
      forgetOutput();
    },
  };
}

/** Runs work that the first stop signal aborts. */
export async function untilSignalled<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopping = stopSignal();
  try {
    return await work(stopping.signal);
  } finally {
    stopping.release();
  }
}

// The exit statuses of commands, which scripts rely on (docs/reference.md, "Exit status").

export const ExitStatus = {
  /** Everything is mirrored. */
  done: 0,
  /**
   * The command could not do its work: configuration, source or site unreachable, feed not readable or not complete.
   */
  failed: 1,
  /** Mirrored, but something waits for review. */
  review: 2,
} as const;
export type ExitStatus = (typeof ExitStatus)[keyof typeof ExitStatus];

/** The combined status of several results: a failure outweighs entries that wait. */
export function worstStatus(statuses: readonly ExitStatus[]): ExitStatus {
  if (statuses.includes(ExitStatus.failed)) return ExitStatus.failed;
  return statuses.includes(ExitStatus.review) ? ExitStatus.review : ExitStatus.done;
}

/** An error whose message tells its user everything needed: no stack is shown. */
export class UserError extends Error {
  override name = 'UserError';
}
