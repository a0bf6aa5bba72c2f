// What pages and API ask of the running process besides its database.
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { QueueCounts } from '../queue/site-queue.ts';
import type { AdoptionRequest, AdoptionStart } from '../runtime/adopting/run-adoption.ts';
import type { PullSoon, PullStart } from '../runtime/schedule/pull-now.ts';

export interface Control {
  /** Starts a pull; resolves once it has a number, or is refused. */
  pull(feed: FeedName): Promise<PullStart>;
  /** The feed has changed: starts a pull, or another one after that which runs. */
  pullSoon(feed: FeedName): Promise<PullSoon>;
  /** Changes became ready to be sent. */
  wake(): void;
  /** The queue of each site; empty as long as the process does not send. @throws if the queue can't be reached */
  queueCounts(): Promise<ReadonlyMap<SiteName, QueueCounts>>;
  /** Carries out an action on many entries that was stored. */
  bulk(id: number): void;
  /** Matches the jobs of a feed's site with its postings, and adopts what is accepted; resolves once that runs, or is refused. */
  adopt(feed: FeedName, actor: string, request: AdoptionRequest): Promise<AdoptionStart>;
}

/** The HTTP server answers before the process can pull and send. */
export function lateControl(): Control & { begin(control: Control): void } {
  let present: Control | undefined;
  return {
    begin(control) {
      present = control;
    },
    pull: async (feed) => present?.pull(feed) ?? STARTING,
    pullSoon: async (feed) => present?.pullSoon(feed) ?? STARTING,
    wake: () => present?.wake(),
    queueCounts: async () => present?.queueCounts() ?? new Map(),
    bulk: (id) => present?.bulk(id),
    adopt: async (feed, actor, request) =>
      present?.adopt(feed, actor, request) ?? { kind: 'refused', message: STARTING.message },
  };
}

const STARTING = { kind: 'unusable', message: 'the process is still starting; try again' } as const;
