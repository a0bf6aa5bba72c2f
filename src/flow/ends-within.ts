// Waits for a promise with a time limit.

/** Whether the promise was fulfilled or rejected in time. It is not cancelled otherwise. */
export async function endsWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const ended = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
