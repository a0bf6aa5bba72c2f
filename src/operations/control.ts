// What operations ask of the running process besides its database.
import type { FeedName, SiteName } from '../posting/identifiers.ts';
import type { QueueCounts } from '../queue/site-queue.ts';
import type { AdoptionRequest, AdoptionStart } from '../runtime/run-adoption.ts';
import type { PullSoon, PullStart } from '../runtime/schedule/pull-now.ts';
import type { CommittedUndo } from '../runtime/undo-feed-pull.ts';

export interface ProcessControl {
  /** Starts a pull; resolves once it has a number, or is refused. */
  pull(feed: FeedName): Promise<PullStart>;
  /** The feed has changed: starts a pull, or another one after that which runs. */
  pullSoon(feed: FeedName): Promise<PullSoon>;
  /** Sends what the undo of a pull has left to send, and concludes it. */
  undone(undo: CommittedUndo): void;
  /** Changes became ready to be sent. */
  wake(): void;
  /** The queue of each site; empty as long as the process does not send. @throws if the queue can't be reached */
  queueCounts(): Promise<ReadonlyMap<SiteName, QueueCounts>>;
  /** Carries out an action on many entries that was stored. */
  bulk(id: number): void;
  /** Matches the jobs of a feed's site with its postings, and adopts what is accepted; resolves once that runs, or is refused. */
  adopt(feed: FeedName, actor: string, request: AdoptionRequest): Promise<AdoptionStart>;
}

/** Of a process that can neither pull nor adopt, for this reason, and sends by other ways. */
export const refusingControl = (message: string): ProcessControl => ({
  pull: async () => ({ kind: 'unusable', message }),
  pullSoon: async () => ({ kind: 'unusable', message }),
  undone: () => undefined,
  wake: () => undefined,
  queueCounts: async () => new Map(),
  bulk: () => undefined,
  adopt: async () => ({ kind: 'refused', message }),
});

/** The HTTP server answers before the process can pull and send. */
export function controlToCome(): ProcessControl & { begin(control: ProcessControl): void } {
  return {
    ...refusingControl('the process is still starting; try again'),
    begin(control) {
      Object.assign(this, control);
    },
  };
}
