// Names the processes with one configuration: they see the same, so one of them evaluates for a destination.
import { hash } from 'node:crypto';
import { lockKey } from '../../store/locks/advisory-locks.ts';
import { aboutProcess } from '../about-process.ts';
import type { App } from '../app.ts';
import { tokenDigests } from '../token-digests.ts';

/** The key of the lock that the evaluating process holds for a destination. Differs where feeds, sites or tokens do. */
export async function evaluatorKeys({ config, db }: App): Promise<(destination: string) => string> {
  const { parts } = aboutProcess(config, 'start', await tokenDigests(db, config));
  const broken = [...config.brokenFeeds].map(([feed, { complaints }]) => [feed, complaints]);
  const seen = hash('sha256', JSON.stringify([Object.entries(parts).sort(), broken]));
  return (destination) => lockKey('lead', `alerts of ${destination}: ${seen}`);
}
