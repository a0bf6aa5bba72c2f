// Notices processes that work on one database with different configurations, and says what differs.

import { type LiveProcess, liveProcesses } from '../store/locks/processes.ts';
import type { Database } from '../store/postgres/database.ts';
import type { Logger } from '../telemetry/log.ts';
import { formatTime } from '../telemetry/times.ts';

/** Parts named in one message. */
const MOST_NAMED = 5;

/** A site or feed that is not the same for all live processes. */
export interface Difference {
  /** Such as `feed acme`. */
  readonly part: string;
  readonly kind: 'differs' | 'missing';
  /** Those that do not have it; where it differs, those that have another one than the newest process that has it. */
  readonly processes: readonly LiveProcess[];
}

/** What differs between live processes, by name; the oldest process comes first in `processes`. */
export function differencesOf(processes: readonly LiveProcess[]): Difference[] {
  const names = new Set(processes.flatMap((process) => Object.keys(process.parts)));
  // That is in the part of the feed already.
  const parts = [...names].filter((name) => !name.startsWith('source of ')).sort();
  return parts.flatMap((part): Difference[] => {
    const newest = processes.findLast((process) => process.parts[part] !== undefined)?.parts[part];
    const lacking = processes.filter((process) => process.parts[part] === undefined);
    const others = processes.filter((process) => process.parts[part] !== undefined && process.parts[part] !== newest);
    return [
      ...(others.length === 0 ? [] : [{ part, kind: 'differs', processes: others } as const]),
      ...(lacking.length === 0 ? [] : [{ part, kind: 'missing', processes: lacking } as const]),
    ];
  });
}

/** The differences for people, in one sentence; `undefined`: there are none. */
export function describeDifferences(differences: readonly Difference[]): string | undefined {
  if (differences.length === 0) return undefined;
  const named = differences.slice(0, MOST_NAMED).map(({ part, kind, processes }) => {
    const who = processes.map(nameOfProcess).join(', ');
    return kind === 'missing' ? `${part} is missing from that of ${who}` : `${part} differs in that of ${who}`;
  });
  const more = differences.length - named.length;
  return (
    `processes with different configurations work on this database: ${named.join('; ')}` +
    `${more > 0 ? `; and ${more} more` : ''}. Each process pulls the feeds that it knows; where they differ, the newest process pulls; ` +
    'give all processes the same configuration and restart the others'
  );
}

/** A process, for people. */
export const nameOfProcess = ({ command, host, pid, startedAt }: LiveProcess): string =>
  `${command} (process ${pid} on ${host}, since ${formatTime(startedAt)})`;

/** Gives what is to be called now and then: it warns when what differs is not what differed before. */
export function watchConfigurations(db: Database, log: Logger): () => Promise<void> {
  let known: string | undefined;
  return async () => {
    const text = describeDifferences(differencesOf(await liveProcesses(db)));
    if (text !== undefined && text !== known) log.warn(text);
    if (text === undefined && known !== undefined) log.info('all processes have the same configuration again');
    known = text;
  };
}
