// Bounds what the pulls of a process do at a time. Waiting for a source takes no place; small feeds have places of their own.

import type { Wait } from '../feed/source/gathered-body.ts';
import { type Semaphore, semaphoreFor } from '../site/semaphore.ts';

/** Pulls that begin, with some statements: more than anything else, so that a thousand that are due at once begin soon. */
const brief = semaphoreFor(8);
/** Pulls that are reported. They have the time. */
const reports = semaphoreFor(2);
/** Feeds whose whole body is in memory: each takes some milliseconds. */
const small = semaphoreFor(4);
/** Feeds that are read while they stream. Each has a connection, a transaction and some megabytes. */
const streaming = semaphoreFor(8);
/** Those of them that have bytes to work on. */
const working = semaphoreFor(2);

/** A streaming feed that has waited for its source for this long lets another one work. */
const YIELD_AFTER_MS = 250;

const NEVER = new AbortController().signal;

/** Some statements. */
export const briefly = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => withSlot(brief, signal, work);

/** The report of a pull that has ended. It is made whatever has been stopped. */
export const asReport = <T>(work: () => Promise<T>): Promise<T> => withSlot(reports, NEVER, work);

/** A feed that is in memory as a whole. */
export const asSmallFeed = <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
  withSlot(small, signal, work);

/** A feed that streams. @param work is given how to wait for the source. */
export function asStreamingFeed<T>(signal: AbortSignal, work: (wait: Wait) => Promise<T>): Promise<T> {
  return withSlot(streaming, signal, async () => {
    let leave = await takeSlot(working, signal);
    let ended = false;
    const wait: Wait = async (next) => {
      if (await comesWithin(next, YIELD_AFTER_MS)) return next;
      leave();
      await next.catch(() => undefined);
      const taken = await takeSlot(working, signal);
      if (ended) taken();
      else leave = taken;
      return next;
    };
    try {
      return await work(wait);
    } finally {
      ended = true;
      leave();
    }
  });
}

async function withSlot<T>(requestSlots: Semaphore, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const leave = await takeSlot(requestSlots, signal);
  try {
    return await work();
  } finally {
    leave();
  }
}

/** These places are never closed. */
async function takeSlot(requestSlots: Semaphore, signal: AbortSignal): Promise<() => void> {
  const leave = (await requestSlots.take()) ?? (() => undefined);
  if (!signal.aborted) return leave;
  leave();
  throw signal.reason;
}

async function comesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const came = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([came, late]);
  } finally {
    clearTimeout(timer);
  }
}
