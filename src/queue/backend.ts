// Opens BullMQ queues and workers on the configured `queue`, Redis or Postgres, and hides which of them stores them.
import {
  assertSchemaCompatibility,
  type BackendFactory,
  type ConnectionOptions,
  createRedisBackend,
  type IQueueBackend,
  LATEST_SCHEMA_VERSION,
  PostgresConnection,
  type PostgresPoolConfig,
  type PostgresQueueBackend,
  type Processor,
  Queue,
  type QueueBase,
  type QueueOptions,
  type RedisQueueBackend,
  runMigrations,
  SchemaMigrationRequiredError,
  type Telemetry,
  Worker,
  type WorkerOptions,
} from 'bullmq';
import { Redis } from 'ioredis';
import { pause } from '../flow/pause.ts';
import { backoffMs, type RetryPolicy } from '../flow/retry.ts';
import { passwordForms, reportedError, reporter, sharingFactory, type WaitForConnection } from './shared-connection.ts';

type EndFalseTimes = (queueName: string, lockMs: number, mostAheadMs: number) => Promise<void>;

export interface QueueBackendOptions {
  /** `database`, or a `redis://` or `rediss://` URL. */
  readonly queue: string;
  /** The installation's Postgres; used only by `queue: database`. */
  readonly databaseUrl: string;
  /** Waits for a connection while that Postgres has none to spare, for `queue: database`; without it, fails at once. */
  readonly whenFree?: WaitForConnection;
  /** Corrects what a false clock of that Postgres left in a queue, for `queue: database`. */
  readonly endFalseTimes?: EndFalseTimes;
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

/** No rate limit, lock or check of this program lasts so much longer than that of the process which asks. */
const FALSE_CLOCK_MS = 60_000;

/**
 * A worker asks for the next queue job as soon as it has an answer, even if that is an error. What began while the server's clock was
 * ahead would hold for as long as that once the clock is set back: what is left of a rate limit is removed; the locks of queue jobs,
 * perhaps of a dead worker, and the wait for the next check of them, are shortened.
 */
function withCare<B extends IQueueBackend, C>({
  factory,
  endFalseTimes,
}: Pick<Wiring<B, C>, 'factory' | 'endFalseTimes'>): BackendFactory<B, C> {
  return (...settings) => {
    const backend = factory(...settings);
    const [name, { limiter, lockDuration }] = settings as unknown as [
      string,
      Pick<WorkerOptions, 'limiter' | 'lockDuration'>,
    ];
    const ask = backend.moveToActive.bind(backend);
    const moveToActive: typeof ask = async (...values) => {
      const next = await ask(...values);
      const [, , limitedMs] = next;
      if (limiter === undefined || !(limitedMs > limiter.duration + FALSE_CLOCK_MS)) return next;
      await backend.removeRateLimitKey();
      return ask(...values);
    };
    const moveStalled = backend.moveStalledJobsToWait.bind(backend);
    let correctedAt = Number.NEGATIVE_INFINITY;
    backend.moveStalledJobsToWait = async () => {
      if (lockDuration !== undefined && performance.now() - correctedAt >= lockDuration) {
        await endFalseTimes(backend, name, lockDuration);
        correctedAt = performance.now();
      }
      return moveStalled();
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
  const factory = withCare(wiring);
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
    return backendOf(
      await databaseWiring(options.databaseUrl, options.whenFree, options.endFalseTimes),
      options.onError,
      telemetry,
    );
  }
  const wiring = await redisWiring(options.queue, options.installation, options.onWarning ?? (() => undefined));
  return backendOf(wiring, options.onError, telemetry);
}

// Configures BullMQ to keep its queues in the schema `queue` of the installation's Postgres.

const SCHEMA = 'queue';

/** For the whole process. More connections do not finish jobs faster, as their transactions wait for one another. */
const MOST_CONNECTIONS = 6;

/**
 * Pool options for the given database. The queue may be lost at any time, so its commits do not wait for the disk.
 * BullMQ names its schema in the connection's `options`, which poolers refuse or ignore. Those of the URL replace them, even if they
 * are empty, and each connection gets its settings once it is open.
 */
function poolOptions(databaseUrl: string, max: number): PostgresPoolConfig {
  const url = new URL(databaseUrl);
  url.searchParams.set('options', url.searchParams.get('options') ?? '');
  const settings = `set search_path = ${SCHEMA}; set synchronous_commit = off; set default_transaction_isolation = 'read committed'`;
  const onConnect = (client: { query(text: string): Promise<unknown> }): Promise<unknown> => client.query(settings);
  const options = {
    connectionString: url.href,
    schema: SCHEMA,
    max,
    application_name: 'jobmirror queue',
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    onConnect,
  };
  return options;
}

/** Creates the schema, or migrates it to this version of BullMQ. Several processes may do so at once. */
async function migrate(databaseUrl: string): Promise<void> {
  const connection = new PostgresConnection(poolOptions(databaseUrl, 1));
  try {
    const client = await connection.pool.connect();
    try {
      if (!(await isMigrated(client))) await runMigrations(client, SCHEMA);
    } finally {
      client.release();
    }
  } finally {
    await connection.close();
  }
}

/** With one statement that locks nothing: mostly there is nothing to migrate. */
async function isMigrated(client: Parameters<typeof assertSchemaCompatibility>[0]): Promise<boolean> {
  try {
    return (await assertSchemaCompatibility(client, SCHEMA)) >= LATEST_SCHEMA_VERSION;
  } catch (error) {
    if (error instanceof SchemaMigrationRequiredError) return false;
    throw error;
  }
}

/**
 * Prepares the schema and returns the connection settings.
 *
 * @throws Error without the password.
 */
async function databaseWiring(
  databaseUrl: string,
  whenFree: WaitForConnection = (_pool, connect) => connect(),
  endFalseTimes: EndFalseTimes = async () => undefined,
): Promise<Wiring<PostgresQueueBackend, PostgresPoolConfig>> {
  const secrets = passwordForms(new URL(databaseUrl));
  try {
    await whenFree(undefined, () => migrate(databaseUrl));
  } catch (error) {
    throw new Error(`queue: the database can't hold the queue: ${reportedError(error, secrets).message}`);
  }
  const options = poolOptions(databaseUrl, MOST_CONNECTIONS);
  return {
    kind: 'database',
    factory: sharingFactory(options, whenFree),
    endFalseTimes: (_backend, queueName, lockMs) => endFalseTimes(queueName, lockMs, FALSE_CLOCK_MS),
    producer: options,
    worker: () => options,
    prefix: '',
    // Each deduplicated job holds an advisory lock until its batch is added; Postgres has room for some thousands.
    addAtOnce: 200,
    secrets,
  };
}

// Configures BullMQ to keep its queues in Redis.

/** BullMQ's scripts need this version or later. */
const OLDEST_REDIS = [6, 2] as const;
const CONNECT_TIMEOUT_MS = 5000;
const COMMAND_TIMEOUT_MS = 5000;

/** Reconnects within two seconds after the server is back, however long it was away. */
const RECONNECTING: RetryPolicy = { firstDelayMs: 100, maxDelayMs: 2_000 };
const retryStrategy = (attempt: number): number => backoffMs(RECONNECTING, attempt);

/** Connections to a server that has become a replica stay open, while its address may lead to the new primary. */
const isDemoted = ({ message }: Error): boolean => message.startsWith('READONLY');

function readRedisUrl(text: string): URL {
  // The message omits the text, as a mistyped URL may still contain the password.
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'redis:' && url.protocol !== 'rediss:')) {
    throw new Error('queue: neither "database" nor a URL such as redis://host:6379');
  }
  return url;
}

/**
 * Connects once and reads the version, so that a wrong address or password is reported at the start. Returns what is wrong with the
 * server's settings, for people.
 * @throws Error without the password.
 */
export async function inspectRedis(text: string): Promise<readonly string[]> {
  const url = readRedisUrl(text);
  const shown = `${url.protocol}//${url.host}`;
  const probe = new Redis(url.href, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: COMMAND_TIMEOUT_MS,
    maxRetriesPerRequest: 0,
  });
  // The reason arrives here; `connect()` itself only reports a closed connection.
  let reason: unknown;
  probe.on('error', (error) => {
    reason = error;
  });
  let info: string;
  let state: string;
  try {
    await probe.connect();
    info = await probe.info('server');
    state = `${await probe.info('memory')}\n${await probe.info('replication')}`;
  } catch (error) {
    const { message } = reportedError(reason ?? error, passwordForms(url));
    throw new Error(
      `queue: Redis at ${shown} can't be used: ${message}. Check the address, the password and the server`,
    );
  } finally {
    probe.disconnect();
  }
  const version = /^redis_version:(\d+)\.(\d+)/m.exec(info);
  const [major, minor] = version === null ? OLDEST_REDIS : [Number(version[1]), Number(version[2])];
  if (major < OLDEST_REDIS[0] || (major === OLDEST_REDIS[0] && minor < OLDEST_REDIS[1])) {
    throw new Error(`queue: Redis at ${shown} is ${major}.${minor}; ${OLDEST_REDIS.join('.')} or later is needed`);
  }
  return faultsOf(state, `queue: Redis at ${shown}`);
}

/** @param info of Redis, which tells it also where its command CONFIG is not available */
function faultsOf(info: string, server: string): string[] {
  const settingOf = (name: string): string => new RegExp(`^${name}:(\\S*)`, 'm').exec(info)?.[1] ?? '';
  const [policy, limit] = [settingOf('maxmemory_policy'), Number(settingOf('maxmemory'))];
  const faults: string[] = [];
  if (policy !== '' && policy !== 'noeviction') {
    faults.push(`${server} may remove parts of the queue: its maxmemory-policy is ${policy}; set it to noeviction`);
  }
  if (limit > 0 && Number(settingOf('used_memory')) >= limit) {
    const help = 'raise maxmemory, or remove other data; nothing is sent until then';
    faults.push(`${server} is full: it has reached its maxmemory of ${limit} bytes; ${help}`);
  }
  if (settingOf('role') === 'slave')
    faults.push(
      `${server} is a replica of another one: configure the address of its primary; nothing is sent until then`,
    );
  return faults;
}

/** The times are those of keys, which the server ends by its own clock. A live worker renews its locks, which corrects them. */
const END_FALSE_TIMES_SCRIPT = {
  numberOfKeys: 2,
  lua: `local check, active, queue, lockMs, falseMs = KEYS[1], KEYS[2], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
if redis.call('PTTL', check) > falseMs then redis.call('DEL', check) end
for _, id in ipairs(redis.call('LRANGE', active, 0, -1)) do
  local lock = queue .. id .. ':lock'
  if redis.call('PTTL', lock) > lockMs + falseMs then redis.call('PEXPIRE', lock, lockMs) end
end`,
};

/**
 * Checks the server and returns the connection settings.
 *
 * @param installation part of every key, so that two installations on one Redis do not take each other's jobs.
 * @throws Error without the password.
 */
async function redisWiring(
  text: string,
  installation: string,
  onWarning: (message: string) => void,
): Promise<Wiring<RedisQueueBackend, ConnectionOptions>> {
  const url = readRedisUrl(text);
  for (const fault of await inspectRedis(text)) onWarning(fault);
  const connection = { url: url.href, connectTimeout: CONNECT_TIMEOUT_MS, retryStrategy, reconnectOnError: isDemoted };
  return {
    kind: 'redis',
    factory: createRedisBackend,
    endFalseTimes: async (backend, _queueName, lockMs) => {
      const client = await backend.client;
      client.defineCommand('endFalseTimes', END_FALSE_TIMES_SCRIPT);
      const { 'stalled-check': check = '', active = '' } = backend.keys;
      await client.runCommand('endFalseTimes', [check, active, backend.toKey(''), lockMs, FALSE_CLOCK_MS]);
    },
    producer: { ...connection, maxRetriesPerRequest: 1, commandTimeout: COMMAND_TIMEOUT_MS },
    worker: () => ({ ...connection, maxRetriesPerRequest: null }),
    prefix: `jobmirror-${installation}`,
    addAtOnce: 500,
    secrets: passwordForms(url),
  };
}

// What BullMQ needs to run on Redis or on Postgres.

type BackendKind = 'redis' | 'database';

/** Settings of one backend for queues and workers. */
interface Wiring<B extends IQueueBackend, C> {
  readonly kind: BackendKind;
  readonly factory: BackendFactory<B, C>;
  /** Corrects the times of a queue that are too far ahead of the server's clock. @param lockMs how long its locks last */
  endFalseTimes(backend: B, queueName: string, lockMs: number): Promise<void>;
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
