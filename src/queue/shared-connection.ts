// Shares one small pool and one listening connection among all queues and workers of a process, for any number of sites.
import { EventEmitter } from 'node:events';
import { type BackendFactory, PostgresConnection, type PostgresPoolConfig, PostgresQueueBackend } from 'bullmq';

/** Waits for a connection while the server has none to spare. */
export type WhenFree = <T>(
  pool: { readonly totalCount: number; readonly options: { max?: number | undefined } } | undefined,
  connect: () => Promise<T>,
) => Promise<T>;

/** The parts of `pg`'s pool that are used here; BullMQ's own type lacks them. */
interface Pool {
  readonly totalCount: number;
  readonly options: { max?: number | undefined };
  query(...statement: unknown[]): Promise<unknown>;
  connect(callback?: unknown): Promise<unknown>;
}

function openWaiting(options: PostgresPoolConfig, whenFree: WhenFree): PostgresConnection {
  const connection = new PostgresConnection(options);
  const pool = connection.pool as unknown as Pool;
  const [query, connect] = [pool.query.bind(pool), pool.connect.bind(pool)];
  pool.query = (...statement) => whenFree(pool, () => query(...statement));
  // A call with a callback comes from the pool's own query.
  pool.connect = (callback) => (callback === undefined ? whenFree(pool, () => connect()) : connect(callback));
  // Each queue and each worker adds an error listener.
  connection.setMaxListeners(0);
  return connection;
}

/** One queue's or worker's share of the connection: closed with its user; the last share closes the connection. */
function shareOf(connection: PostgresConnection, whenFree: WhenFree, leave: () => Promise<void>): PostgresConnection {
  const events = new EventEmitter();
  const forwarded = (['error', 'ready', 'listenerinvalidated'] as const).map((name) => {
    const forward = (...values: unknown[]): void => {
      if (events.listenerCount(name) > 0) events.emit(name, ...values);
    };
    connection.on(name, forward);
    return { name, forward };
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      for (const { name, forward } of forwarded) connection.off(name, forward);
      await leave();
      events.emit('close');
    })();
    return closing;
  };
  const share = {
    pool: connection.pool,
    schema: connection.schema,
    on: (name: string, listener: (...values: unknown[]) => void) => events.on(name, listener),
    waitUntilReady: () => connection.waitUntilReady(),
    async getListenClient() {
      const client = await whenFree(undefined, () => connection.getListenClient());
      // Each worker adds listeners.
      (client as unknown as EventEmitter).setMaxListeners(0);
      return client;
    },
    // A name would belong to a single worker.
    setListenClientName: async () => undefined,
    get hasListenClientKeepAlive() {
      return connection.hasListenClientKeepAlive;
    },
    get isClosing() {
      return closing;
    },
    close,
    disconnect: close,
  };
  return share as unknown as PostgresConnection;
}

/** Creates BullMQ's backends on one connection of the process, which the first of them opens. */
export function sharingFactory(
  options: PostgresPoolConfig,
  whenFree: WhenFree,
): BackendFactory<PostgresQueueBackend, PostgresPoolConfig> {
  let current: { readonly connection: PostgresConnection; shares: number } | undefined;
  return (name, opts) => {
    current ??= { connection: openWaiting(options, whenFree), shares: 0 };
    const shared = current;
    shared.shares++;
    const leave = async (): Promise<void> => {
      shared.shares--;
      if (shared.shares > 0) return;
      if (current === shared) current = undefined;
      await shared.connection.close();
    };
    return new PostgresQueueBackend(shareOf(shared.connection, whenFree, leave), name, opts);
  };
}
