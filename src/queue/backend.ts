// Turns the configured `queue` into BullMQ queues and workers, and hides whether Redis or Postgres carries them.
import {
  type IQueueBackend,
  type Processor,
  Queue,
  type QueueBase,
  type QueueOptions,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { databaseWiring } from './database-wiring.ts';
import { redisWiring } from './redis-wiring.ts';
import { reporter } from './reported-error.ts';
import type { WhenFree } from './shared-connection.ts';
import type { BackendKind, Wiring } from './wiring.ts';

export interface QueueBackendOptions {
  /** `database`, or a `redis://` or `rediss://` URL. */
  readonly queue: string;
  /** The installation's Postgres, used by `queue: database` alone. */
  readonly databaseUrl: string;
  /** How `queue: database` waits for a connection where that Postgres has none to spare; absent: not at all. */
  readonly whenFree?: WhenFree;
  /** Keeps installations that share one Redis apart: letters, digits, `-` and `_`. */
  readonly installation: string;
  /** Hears of every trouble of a connection; passwords are removed, the same message comes once a second at most. */
  readonly onError: (error: Error) => void;
}

export type AnyQueue<Data> = Queue<Data, void, string, Data, void, string, IQueueBackend, unknown>;
export type AnyWorker<Data> = Worker<Data, void, string, IQueueBackend, object, unknown>;

export interface QueueBackend {
  readonly kind: BackendKind;
  readonly addAtOnce: number;
  /** Reports a trouble as `onError` of the options asks: no secrets, no floods. */
  readonly report: (thrown: unknown) => void;
  /** Opens a queue for adding. Resolves once it is connected; the caller closes it. */
  queue<Data>(name: string): Promise<AnyQueue<Data>>;
  /** Starts a worker. Resolves once it is connected; the caller closes it. */
  worker<Data>(
    name: string,
    process: Processor<Data, void, string, object>,
    options: Omit<WorkerOptions, 'connection' | 'prefix' | 'concurrency'> & { readonly concurrency: number },
  ): Promise<AnyWorker<Data>>;
}

/** Events are for watchers, of whom there are none; a short stream costs the least. */
const EVENTS_KEPT = 100;

function backendOf<B extends IQueueBackend, C>(wiring: Wiring<B, C>, onError: (error: Error) => void): QueueBackend {
  const report = reporter(onError, wiring.secrets);
  // The server's version was checked once, when the backend was opened: no connection has to pass that check again.
  const reportErrorsOf = (emitter: Pick<QueueBase<B, C>, 'on' | 'closing'>) => {
    emitter.on('error', (error) => {
      // While it closes, its last commands fail as a matter of course.
      if (emitter.closing === undefined) report(error);
    });
  };
  const common = { prefix: wiring.prefix, skipVersionCheck: true };
  return {
    kind: wiring.kind,
    addAtOnce: wiring.addAtOnce,
    report,
    async queue<Data>(name: string) {
      const options: QueueOptions<C> = {
        ...common,
        connection: wiring.producer,
        streams: { events: { maxLen: EVENTS_KEPT } },
        defaultJobOptions: { attempts: 1, removeOnComplete: true, removeOnFail: true },
      };
      const queue = new Queue<Data, void, string, Data, void, string, B, C>(name, options, wiring.factory);
      reportErrorsOf(queue);
      await queue.waitUntilReady();
      return queue as unknown as AnyQueue<Data>;
    },
    async worker<Data>(
      name: string,
      process: Processor<Data, void, string, object>,
      options: Omit<WorkerOptions, 'connection' | 'prefix'> & { readonly concurrency: number },
    ) {
      const worker = new Worker<Data, void, string, B, object, C>(
        name,
        process,
        { ...options, ...common, connection: wiring.worker(options.concurrency) },
        wiring.factory,
      );
      reportErrorsOf(worker);
      await worker.waitUntilReady().catch((error) => {
        // It would ask for queue jobs all the same, again and again without a pause.
        worker.close(true).catch(report);
        throw error;
      });
      return worker as unknown as AnyWorker<Data>;
    },
  };
}

/**
 * Opens the queue that the configuration names and makes it ready for use: Redis is asked for its version, in Postgres
 * the schema `queue` is created or brought up to date.
 *
 * @throws Error that says what could not be reached and what to do, without passwords.
 */
export async function openQueueBackend(options: QueueBackendOptions): Promise<QueueBackend> {
  if (options.queue === 'database') {
    return backendOf(await databaseWiring(options.databaseUrl, options.whenFree), options.onError);
  }
  return backendOf(await redisWiring(options.queue, options.installation), options.onError);
}
