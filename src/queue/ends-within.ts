// Waits for a promise, but no longer than it is worth: connections may never say that they are closed.

/** Whether it settled in time, whichever way. It goes on if it did not. */
export async function endsWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const recorded = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([recorded, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
