// Opens BullMQ queues and workers on the configured `queue`, and hides whether Redis or Postgres stores them.
import {
  type BackendFactory,
  type IQueueBackend,
  type Processor,
  Queue,
  type QueueBase,
  type QueueOptions,
  type Telemetry,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { pause } from '../flow/pause.ts';
import { backoffMs, type RetryPolicy } from '../flow/retry.ts';
import { databaseWiring } from './database-wiring.ts';
import { redisWiring } from './redis-wiring.ts';
import type { WhenFree } from './shared-connection.ts';
import { reporter } from './shared-connection.ts';
import type { BackendKind, Wiring } from './wiring.ts';

export interface QueueBackendOptions {
  /** `database`, or a `redis://` or `rediss://` URL. */
  readonly queue: string;
  /** The installation's Postgres; used only by `queue: database`. */
  readonly databaseUrl: string;
  /** Waits for a connection while that Postgres has none to spare, for `queue: database`; without it, fails at once. */
  readonly whenFree?: WhenFree;
  /** Separates installations that share one Redis: letters, digits, `-` and `_`. */
  readonly installation: string;
  /** Whether queue jobs carry the trace that they belong to. */
  readonly traced?: boolean;
  /** Called with what is wrong with the settings of the server, for people. */
  readonly onWarning?: (message: string) => void;
  /** Called with every connection error, without passwords; the same message at most once a second. */
  readonly onError: (error: Error) => void;
}

export type AnyQueue<Data> = Queue<Data, void, string, Data, void, string, IQueueBackend, unknown>;
export type AnyWorker<Data> = Worker<Data, void, string, IQueueBackend, object, unknown>;

export interface QueueBackend {
  readonly kind: BackendKind;
  readonly addAtOnce: number;
  /** Reports an error through `onError` of the options, without secrets and floods. */
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

/** A server without memory, or with an error of its own, answers at once and again and again. */
const AFTER_ERRORS: RetryPolicy = { firstDelayMs: 100, maxDelayMs: 2_000 };

/** No window is so much longer than that of the process which asks. */
const FALSE_CLOCK_MS = 60_000;

/**
 * A worker asks for the next queue job as soon as it has an answer, even if that is an error. What is left of a rate limit that began
 * while the server's clock was ahead is removed: it would hold for as long as that.
 */
function withCare<B extends IQueueBackend, C>(factory: BackendFactory<B, C>): BackendFactory<B, C> {
  return (...settings) => {
    const backend = factory(...settings);
    const [, { limiter }] = settings as unknown as [string, Pick<WorkerOptions, 'limiter'>];
    const ask = backend.moveToActive.bind(backend);
    const moveToActive: typeof ask = async (...values) => {
      const next = await ask(...values);
      const [, , limitedMs] = next;
      if (limiter === undefined || !(limitedMs > limiter.duration + FALSE_CLOCK_MS)) return next;
      await backend.removeRateLimitKey();
      return ask(...values);
    };
    let failures = 0;
    backend.moveToActive = async (...values) => {
      try {
        const next = await moveToActive(...values);
        failures = 0;
        return next;
      } catch (error) {
        failures++;
        await pause(backoffMs(AFTER_ERRORS, failures));
        throw error;
      }
    };
    return backend;
  };
}

/** Nobody watches BullMQ's events, so a short stream suffices. */
const EVENTS_KEPT = 100;

function backendOf<B extends IQueueBackend, C>(
  wiring: Wiring<B, C>,
  onError: (error: Error) => void,
  telemetry: Telemetry | undefined,
): QueueBackend {
  const report = reporter(onError, wiring.secrets);
  // The server's version is checked once, when the backend is opened, so connections skip BullMQ's check.
  const reportErrorsOf = (emitter: Pick<QueueBase<B, C>, 'on' | 'closing'>) => {
    emitter.on('error', (error) => {
      // Commands that fail while it closes are expected.
      if (emitter.closing === undefined) report(error);
    });
  };
  const factory = withCare(wiring.factory);
  const common = { prefix: wiring.prefix, skipVersionCheck: true, ...(telemetry && { telemetry }) };
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
      const queue = new Queue<Data, void, string, Data, void, string, B, C>(name, options, factory);
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
        factory,
      );
      reportErrorsOf(worker);
      await worker.waitUntilReady().catch((error) => {
        // The worker would ask for queue jobs all the same, again and again without a pause.
        worker.close(true).catch(report);
        throw error;
      });
      return worker as unknown as AnyWorker<Data>;
    },
  };
}

/**
 * Opens the configured queue and prepares it: checks the version of Redis, or creates or migrates the schema `queue` in
 * Postgres.
 *
 * @throws Error that says what is unreachable and what to do, without passwords.
 */
export async function openQueueBackend(options: QueueBackendOptions): Promise<QueueBackend> {
  const telemetry =
    options.traced === true ? new (await import('bullmq-otel')).BullMQOtel({ tracerName: 'jobmirror' }) : undefined;
  if (options.queue === 'database') {
    return backendOf(await databaseWiring(options.databaseUrl, options.whenFree), options.onError, telemetry);
  }
  const wiring = await redisWiring(options.queue, options.installation, options.onWarning ?? (() => undefined));
  return backendOf(wiring, options.onError, telemetry);
}
