// What BullMQ needs to run on Redis or on Postgres.
import type { BackendFactory, IQueueBackend } from 'bullmq';

export type BackendKind = 'redis' | 'database';

/** Settings of one backend for queues and workers. */
export interface Wiring<B extends IQueueBackend, C> {
  readonly kind: BackendKind;
  readonly factory: BackendFactory<B, C>;
  /** For adding and counting: gives up within seconds if the server is unreachable. */
  readonly producer: C;
  /** For a worker with this many concurrent jobs: waits for the server as long as needed. */
  worker(concurrency: number): C;
  /** Namespace of the keys in Redis. */
  readonly prefix: string;
  /** Jobs added in one round trip. */
  readonly addAtOnce: number;
  readonly secrets: readonly string[];
}
