// Random numbers from a seed, to make failed simulations repeatable.

export interface Random {
  /** From 0 to `below` - 1. */
  number(below: number): number;
  /** True in the given percentage of cases. */
  chance(percent: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** Up to `count` different ones, in random order. */
  some<T>(list: readonly T[], count: number): T[];
}

/** mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const number = (below: number): number => Math.floor(next() * below);
  const pick = <T>(list: readonly T[]): T => list[number(list.length)] as T;
  return {
    number,
    chance: (percent) => next() * 100 < percent,
    pick,
    some(list, count) {
      const left = [...list];
      return Array.from({ length: Math.min(count, left.length) }, () => left.splice(number(left.length), 1)).flat();
    },
  };
}
