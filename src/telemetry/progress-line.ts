// Shows the progress of long work: a rewritten line on a terminal, occasional plain lines in a pipe.
import type { WriteStream } from 'node:tty';
import { terminalText } from './terminal-text.ts';

export interface ProgressLine {
  /** Shows the text, unless the last one was shown too recently. */
  show(text: string): void;
  /** Clears the line before something else is printed. */
  clear(): void;
}

const TERMINAL_EVERY_MS = 100;
const PIPE_EVERY_MS = 10_000;

/** Writes to standard error; standard output is for results. */
export function startProgressLine(stream: NodeJS.WriteStream | WriteStream = process.stderr): ProgressLine {
  const everyMs = stream.isTTY ? TERMINAL_EVERY_MS : PIPE_EVERY_MS;
  let shownAt = stream.isTTY ? Number.NEGATIVE_INFINITY : performance.now();
  let dirty = false;
  return {
    show(text) {
      if (performance.now() - shownAt < everyMs) return;
      shownAt = performance.now();
      if (stream.isTTY) {
        const width = Math.max(20, (stream.columns ?? 80) - 1);
        stream.write(`\r\x1b[2K${terminalText(text).slice(0, width)}`);
        dirty = true;
      } else {
        stream.write(`${terminalText(text)}\n`);
      }
    },
    clear() {
      if (dirty) stream.write('\r\x1b[2K');
      dirty = false;
    },
  };
}

/** The share of the time that a progress check may take. */
const SHARE_OF_TIME = 0.05;

/** Returns a throttled `check`: calls are skipped if checking would take more than {@link SHARE_OF_TIME}. */
export function throttled(
  check: () => Promise<void>,
  now: () => number = () => performance.now(),
): () => Promise<void> {
  let nextAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const begin = now();
    if (begin < nextAt) return;
    await check();
    nextAt = now() + (now() - begin) / SHARE_OF_TIME;
  };
}

/** Bytes for people, such as `12.3 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power]}`;
}

/** Seconds for people, such as `2 min 05 s`. */
export function formatSeconds(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
}
