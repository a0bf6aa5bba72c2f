// Applies the active faults to each request.

import type { FaultStep } from './fault-row.ts';
import { type Fault, type FaultName, faultTable } from './fault-table.ts';
import type { Operation } from './write-xml.ts';

/** One request, before it is passed through the faults. */
export type FaultedRequest = Omit<FaultStep, 'process'> & {
  readonly operation: Operation | undefined;
  /** Receives the name of each fault that strikes. */
  struck(name: FaultName): void;
};

export interface FaultSwitch {
  /** Replaces all faults; restarts counts and random numbers. */
  set(faults: readonly Fault[]): void;
  /** Passes a request through the faults, in table order, and then to the site. */
  run(request: FaultedRequest, site: () => Promise<Response>): Promise<Response>;
}

/** Random numbers from 0 to 1, reproducible from the seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Returns whether a fault strikes the next request; keeps its counts. */
function striker(fault: Fault, random: () => number): (operation: Operation | undefined) => boolean {
  let seen = 0;
  let struck = 0;
  return (operation) => {
    if (fault.on && !(operation && fault.on.includes(operation))) return false;
    seen += 1;
    if (seen <= (fault.after ?? 0) || struck >= (fault.count ?? Number.POSITIVE_INFINITY)) return false;
    if (fault.rate !== undefined && random() >= fault.rate) return false;
    struck += 1;
    return true;
  };
}

interface ActiveFault {
  readonly fault: Fault;
  readonly row: (typeof faultTable)[number];
  readonly strikes: (operation: Operation | undefined) => boolean;
}

/** Creates a switch without faults. Each fault has its own sequence of random numbers, independent of the others. */
export function createFaultSwitch(): FaultSwitch {
  let active: readonly ActiveFault[] = [];
  return {
    set(faults) {
      active = faultTable
        .flatMap((row) => faults.filter((fault) => fault.name === row.name).map((fault) => ({ fault, row })))
        .map((entry, index) => ({ ...entry, strikes: striker(entry.fault, randomNumbers(1 + index)) }));
    },
    run(request, site) {
      const faults = active;
      const from = async (index: number): Promise<Response> => {
        for (let at = index; at < faults.length; at += 1) {
          const candidate = faults[at];
          if (!candidate?.strikes(request.operation)) continue;
          request.struck(candidate.fault.name);
          return candidate.row.strike({ ...request, process: () => from(at + 1) }, candidate.fault);
        }
        return site();
      };
      return from(0);
    },
  };
}
