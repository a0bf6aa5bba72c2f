// Sends the ready changes of some feeds; returns when that is done or waiting no longer makes sense.
import type { Message } from '../plan/message.ts';
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { App } from './app.ts';
import { awaitQuiet } from './await-quiet.ts';
import { startEngine } from './engine.ts';
import { STOP_WITHIN_MS, stopSignal } from './stop-signal.ts';

/** Sends in this process, alongside any others, until the feeds are quiet. Returns what a person has paused, so that it waits. */
export async function sendWaiting(app: App, feeds: readonly FeedName[]): Promise<readonly Message[]> {
  const bySite = new Map<SiteName, FeedName[]>();
  for (const name of feeds) {
    const site = app.config.feeds.get(name)?.siteName;
    if (site !== undefined) bySite.set(site, [...(bySite.get(site) ?? []), name]);
  }
  if (bySite.size === 0) return [];
  const stopping = stopSignal();
  const engine = await startEngine(app, new Set(bySite.keys()));
  try {
    const ends = await Promise.all(
      [...bySite].map(([site, names]) => awaitQuiet(app, engine, site, names, { signal: stopping.signal })),
    );
    return ends.flatMap((end) => (end.kind === 'waiting' && end.isPaused === true ? [end.message] : []));
  } finally {
    await engine.stop(STOP_WITHIN_MS);
    stopping.release();
  }
}
