// Detects processes that use one database with different configurations, and describes the differences.
import { hostname } from 'node:os';
import type { Config } from '../config/config.ts';
import { configDigests } from '../config/config-digests.ts';
import type { SiteName } from '../posting/identifiers.ts';
import { type LiveProcess, liveProcesses, type ProcessAbout, tokenPart } from '../store/locks/processes.ts';
import type { Database } from '../store/postgres/database.ts';
import type { Logger } from '../telemetry/log.ts';
import { formatTime } from '../telemetry/times.ts';

/** Maximum number of parts named in one message. */
const MOST_NAMED = 5;

/** A site or feed that live processes have configured differently. */
interface Difference {
  /** For example `feed acme`. */
  readonly part: string;
  readonly kind: 'differs' | 'missing';
  /**
   * `missing`: the processes without it. `differs`: those whose version is not that of the newest process that has it.
   */
  readonly processes: readonly LiveProcess[];
}

/** Differences between live processes, by name. `processes` is ordered from oldest to newest. */
export function differencesOf(processes: readonly LiveProcess[]): Difference[] {
  const names = new Set(processes.flatMap((process) => Object.keys(process.parts)));
  // The feed's own part already covers its source.
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

/** The differences in one sentence; `undefined`: there are none. */
export function describeDifferences(differences: readonly Difference[]): string | undefined {
  if (differences.length === 0) return undefined;
  const named = differences.slice(0, MOST_NAMED).map(({ part, kind, processes }) => {
    const who = processes.map(nameOfProcess).join(', ');
    return kind === 'missing' ? `${part} is missing from ${who}` : `${part} differs in ${who}`;
  });
  const more = differences.length - named.length;
  return (
    `processes with different configurations work on this database: ${named.join('; ')}` +
    `${more > 0 ? `; and ${more} more` : ''}. Each process pulls the feeds in its own configuration; the newest process pulls those that differ; ` +
    'to fix this, give all processes the same configuration and restart the others'
  );
}

/** Names a process in a message. */
export const nameOfProcess = ({ command, host, pid, startedAt }: LiveProcess): string =>
  `${command} (process ${pid} on ${host}, since ${formatTime(startedAt)})`;

/** Returns a function to call regularly: it warns whenever the differences change. */
export function watchConfigurations(db: Database, log: Logger): () => Promise<void> {
  let known: string | undefined;
  return async () => {
    const text = describeDifferences(differencesOf(await liveProcesses(db)));
    if (text !== undefined && text !== known) log.warn(text);
    if (text === undefined && known !== undefined) log.info('all processes have the same configuration again');
    known = text;
  };
}

/** @param tokens digest of the token of each site: see `tokenDigest`. */
export const aboutProcess = (config: Config, command: string, tokens: ReadonlyMap<SiteName, string>): ProcessAbout => ({
  command,
  host: hostname(),
  pid: process.pid,
  parts: {
    ...configDigests(config),
    ...Object.fromEntries([...tokens].map(([site, token]) => [tokenPart(site), token])),
  },
  feeds: new Map([...config.feeds.values()].map(({ name, siteName }) => [name, siteName])),
});
