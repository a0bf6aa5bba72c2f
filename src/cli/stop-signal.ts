// Turns SIGINT and SIGTERM into an abort signal; a second one ends the process at once.

/** Time for requests in flight, so that everything has ended within 10 s of the signal. */
export const STOP_WITHIN_MS = 7_000;

export interface StopSignal {
  readonly signal: AbortSignal;
  /** Resolves when the first signal comes. */
  readonly stopped: Promise<void>;
  /** Stops listening. */
  release(): void;
}

/** Whatever hangs then, a connection to a server that is away or a reader that does not read, is cut off. */
const END_AFTER_MS = 9_500;

/** Exit status of a process that a signal ended, by convention of the shells: 128 and the signal's number. */
const SIGNAL_NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

export function stopSignal(): StopSignal {
  const controller = new AbortController();
  let resolveStopped: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    resolveStopped = resolve;
  });
  const onSignal = (name: keyof typeof SIGNAL_NUMBERS) => {
    if (controller.signal.aborted) process.exit(128 + SIGNAL_NUMBERS[name]);
    process.stderr.write(`\n${name}: stopping; what is in flight ends first. Once more to end at once.\n`);
    setTimeout(() => process.exit(128 + SIGNAL_NUMBERS[name]), END_AFTER_MS).unref();
    controller.abort(new Error(`stopped by ${name}`));
    resolveStopped();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return {
    signal: controller.signal,
    stopped,
    release() {
      process.off('SIGINT', onSignal);
      process.off('SIGTERM', onSignal);
    },
  };
}
