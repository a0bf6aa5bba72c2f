// Describes this process for other processes on the same database.
import { hostname } from 'node:os';
import type { Config } from '../config/config.ts';
import { configDigests } from '../config/config-digests.ts';
import type { SiteName } from '../posting/identifiers.ts';
import { type ProcessAbout, tokenPart } from '../store/locks/processes.ts';

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
