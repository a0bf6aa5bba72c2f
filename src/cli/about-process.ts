// Tells what other processes on the same database need to know of this one.
import { hostname } from 'node:os';
import type { Config } from '../config/config.ts';
import { configParts } from '../config/config-parts.ts';
import type { ProcessAbout } from '../store/processes.ts';

export const aboutProcess = (config: Config, command: string): ProcessAbout => ({
  command,
  host: hostname(),
  pid: process.pid,
  parts: configParts(config),
  feeds: new Map([...config.feeds.values()].map(({ name, siteName }) => [name, siteName])),
});
