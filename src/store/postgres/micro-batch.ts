// Combines many small concurrent calls into few large ones: calls that arrive while one batch runs form the next.
// Not dataloader: it starts a batch while another one runs.

const MOST_ITEMS = 256;

/**
 * Wraps a batch function as a function of one item. At most one batch runs at a time, so one commit, and one fsync, serves
 * all waiting items. `run` must return one result per item, in order. If it throws, all items of the batch reject or, with
 * `one_by_one`, each is run once more alone.
 */
export function microBatch<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  onFailure: 'reject' | 'one_by_one' = 'reject',
): (item: Item) => Promise<Result> {
  type Waiting = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void };
  let waiting: Waiting[] = [];
  let running = false;

  async function drain(): Promise<void> {
    running = true;
    // Waits for one iteration of the event loop, so that calls started together share a batch.
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      const batch = waiting.slice(0, MOST_ITEMS);
      waiting = waiting.slice(MOST_ITEMS);
      await runBatch(batch);
    }
    running = false;
  }

  async function runBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await run(batch.map((call) => call.item));
      for (const [at, call] of batch.entries()) call.resolve(results[at] as Result);
    } catch (error) {
      if (onFailure === 'reject' || batch.length === 1) {
        for (const call of batch) call.reject(error);
      } else {
        for (const call of batch) await runBatch([call]);
      }
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!running) void drain();
    });
}
