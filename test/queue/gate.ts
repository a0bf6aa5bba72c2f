// A promise that a test resolves by hand, and a collector whose size can be awaited.

export interface Gate<T = void> {
  readonly passed: Promise<T>;
  open(value: T): void;
}

export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => undefined;
  const passed = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { passed, open: (value) => open(value) };
}

/** Collects values; `reached(n)` resolves as soon as there are that many. */
export function collector<T>() {
  const values: T[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  return {
    values,
    add(value: T) {
      values.push(value);
      for (const { count, resolve } of waiting) if (values.length >= count) resolve();
    },
    reached: (count: number) =>
      new Promise<void>((resolve) => {
        waiting.push({ count, resolve });
        if (values.length >= count) resolve();
      }),
  };
}
