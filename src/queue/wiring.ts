// What Redis and Postgres each bring for BullMQ to work on them.
import type { BackendFactory, IQueueBackend } from 'bullmq';

export type BackendKind = 'redis' | 'database';

/** What one backend brings to a queue or a worker. */
export interface Wiring<B extends IQueueBackend, C> {
  readonly kind: BackendKind;
  readonly factory: BackendFactory<B, C>;
  /** For adding and counting: gives up within seconds while the server is away. */
  readonly producer: C;
  /** For a worker with that many jobs at a time: waits for the server as long as it takes. */
  worker(concurrency: number): C;
  /** Namespace of the keys in Redis. */
  readonly prefix: string;
  /** Jobs added in one round trip. */
  readonly addAtOnce: number;
  readonly secrets: readonly string[];
}
