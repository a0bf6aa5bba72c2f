// Shares one reading of the database among all who ask for it at the same time.

interface Turn {
  readonly running: Promise<unknown>;
  next?: Promise<unknown>;
}

const turnsOf = new WeakMap<object, Map<string, Turn>>();

/**
 * Whoever asks while one is being read gets the next reading, together with all others who ask meanwhile: each gets what was read after it
 * asked, and at most one is read at a time.
 * @param owner what is read depends on it; its readings are forgotten with it
 * @param name of the reading among those of the owner, always with the same kind of result
 */
export function shareReading<T>(owner: object, name: string, read: () => Promise<T>): Promise<T> {
  const turns = turnsOf.get(owner) ?? new Map<string, Turn>();
  turnsOf.set(owner, turns);
  const begin = (): Promise<T> => {
    const running = read();
    const turn: Turn = { running };
    turns.set(name, turn);
    const end = (): void => {
      if (turn.next === undefined) turns.delete(name);
    };
    running.then(end, end);
    return running;
  };
  const turn = turns.get(name);
  if (turn === undefined) return begin();
  turn.next ??= turn.running.then(begin, begin);
  return turn.next as Promise<T>;
}
