// Opens the database: queries, transactions, sessions and snapshots on one pool.
import pg from 'pg';
import { backoffMs, type RetryPolicy, retry } from '../../flow/retry.ts';
import { isOfPreparing } from './transient-error.ts';

export interface LockTiming {
  /** How often an otherwise idle holder sends a statement. */
  readonly keepAliveEveryMs: number;
  /** A holder that has sent no statement for this long is stale. */
  readonly staleAfterMs: number;
  /** How long a leader waits for the database; shorter than `staleAfterMs`, so that it stops leading before another starts. */
  readonly answerWithinMs: number;
}

export const LOCK_TIMING: LockTiming = { keepAliveEveryMs: 3_000, staleAfterMs: 15_000, answerWithinMs: 5_000 };

/** SQL condition: this transaction may write. */
export const IS_WRITABLE = "current_setting('transaction_read_only') = 'off'";

/** The modules of the driver by their names, for tracing. Its class of pools extends that of `pg-pool`. */
export const driverModules: ReadonlyMap<string, unknown> = new Map([
  ['pg', pg],
  ['pg-pool', Object.getPrototypeOf(pg.Pool)],
]);

/** A row of which no column is read. */
type NoColumns = Readonly<Record<never, never>>;

/** A row as a statement returns it: a member that may be `undefined` is null instead. None may be null for another reason. */
export type Stored<Row> = {
  readonly [Name in keyof Row]: null extends Row[Name]
    ? never
    : undefined extends Row[Name]
      ? Exclude<Row[Name], undefined> | null
      : Row[Name];
};

/** The row that a statement has returned with the names that its members have here. */
export function withoutNulls<Row extends object>(stored: Stored<Row>): Row {
  const row: { [Name in keyof Row]?: unknown } = { ...stored };
  for (const name in row) row[name] ??= undefined;
  return row as Row;
}

/** The values of these members of all rows, each as a column for `unnest`. */
export const columnsOf = <Row>(rows: readonly Row[], ...names: readonly (keyof Row)[]): readonly unknown[] =>
  names.map((name) => rows.map((row) => row[name]));

/** Anything that can run a statement: the pool, or the client of a transaction. */
export interface Queryable {
  /** `Row`: the columns that the statement returns, as its caller states them: the driver can't know them. */
  query<Row extends object = NoColumns>(text: string, values?: readonly unknown[]): Promise<Row[]>;
}

// Statements of which less is read than rows.

/** The first column of the first row; `undefined`: there is no row, or it is null. */
export async function readValue<Value>(
  db: Queryable,
  text: string,
  values?: readonly unknown[],
): Promise<Value | undefined> {
  const [row] = await db.query(text, values);
  return row === undefined ? undefined : ((Object.values(row)[0] as Value | null) ?? undefined);
}

/** The same of a number; 0 instead of `undefined`. */
export const readNumber = async (db: Queryable, text: string, values?: readonly unknown[]): Promise<number> =>
  (await readValue<number>(db, text, values)) ?? 0;

/** The same of a condition; `false` instead of `undefined`. */
export const readFlag = async (db: Queryable, text: string, values?: readonly unknown[]): Promise<boolean> =>
  (await readValue<boolean>(db, text, values)) === true;

/** The only column of all rows. */
export const readColumn = async <Value>(db: Queryable, text: string, values?: readonly unknown[]): Promise<Value[]> =>
  (await db.query(text, values)).map((row) => Object.values(row)[0] as Value);

/** The second of two columns of all rows, by the first one. */
export const readMap = async <Key, Value>(
  db: Queryable,
  text: string,
  values?: readonly unknown[],
): Promise<Map<Key, Value>> => new Map((await db.query(text, values)).map((row) => Object.values(row) as [Key, Value]));

/** Whether the statement returns a row. */
export const returnsRow = async (db: Queryable, text: string, values?: readonly unknown[]): Promise<boolean> =>
  (await db.query(text, values)).length > 0;

/** A dedicated connection, for a transaction or for session-level locks. */
export interface Session extends Queryable {
  /** The driver's client, for COPY streams only. */
  readonly client: pg.Client;
  end(): Promise<void>;
}

/** A session that is reused: its user gives it back in its original state, or ends it. */
export interface LentSession extends Session {
  giveBack(): void;
}

/** Runs single statements and whole transactions. */
export interface Statements extends Queryable {
  /**
   * Runs `work` in one transaction; an error rolls it back and is rethrown. Statements that `work` sends without awaiting the
   * previous ones are pipelined and run in the order in which they were sent.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

/** Statements of one transaction. Once it has ended, further statements are refused. */
export interface Transaction extends Queryable {
  /** Hands over a statement that need not be awaited: it is awaited with the commit, and its error fails the commit. */
  leave(statement: Promise<unknown>): void;
}

export interface TransactionOptions {
  /**
   * The first statements that `work` sends and awaits only read and take transaction-level locks. They are sent together with
   * `begin`; if `begin` fails, their results are withheld and nothing was changed.
   */
  readonly opensWithLocks?: boolean;
}

export interface Database extends Statements {
  readonly url: string;
  /**
   * The same with prepared statements, for texts that never change: the server parses them once per connection and caches
   * their plans. A plan is used until its tables get new statistics, so whoever makes a table much larger must analyze it.
   */
  readonly prepared: Statements;
  /**
   * Opens a connection outside the pool. Calls `onLost` once if it breaks, which may be before the caller has it: then its first
   * query throws. A query without a response after `queryTimeoutMs` throws; the server may have executed it, so the session must
   * not be used further.
   */
  session(
    onLost?: (error: Error, lost: Session) => void,
    options?: { readonly queryTimeoutMs?: number },
  ): Promise<Session>;
  /**
   * Lends a connection that stays open for a while, so that short uses need not open one. At most {@link MOST_LENT}; further
   * callers wait, usually not for long.
   */
  lend(onLost?: (error: Error) => void): Promise<LentSession>;
  /** Waits for a connection while the server has none to spare; also for other pools on the same server. */
  readonly whenFree: WhenFree;
  readonly lockTiming: LockTiming;
  close(): Promise<void>;
}

/** One for each pull that may read at the same time, and one that holds the locks of all. */
const MOST_LENT = 16;
const LENT_IDLE_MS = 15_000;

const INT8 = 20;

// Counters and identities stay far below 2^53, so numbers are safe and easier to use than strings.
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as pg.CustomTypesConfig['getTypeParser'],
};

/**
 * What administrators may have set otherwise. Times are parsed as ISO writes them. A statement must see what was committed before it, as
 * after a lock that it waited for. Where the server may forget the last commits in a crash, it would forget creates that were sent (law 1).
 * A pooler passes no such settings on when a connection is opened.
 */
const NEEDED_SETTINGS = `select set_config('datestyle', 'ISO', false), set_config('default_transaction_isolation', 'read committed', false),
  set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'local'), false)`;

/**
 * Opens a pool. Nothing is connected yet: the first query shows whether the server is reachable.
 * @param onError receives errors of idle connections, for example after a server restart; the pool replaces these connections.
 * With `onShortage`, operations wait while the server has no connection to spare; without it, they fail at once.
 */
export function openDatabase(
  url: string,
  options: FreeConnectionOptions & { max?: number; onError?: (error: Error) => void; lockTiming?: LockTiming } = {},
): Database {
  const whenFree: WhenFree = options.onShortage ? connectionWaiter(options) : (_pool, connect) => connect();
  const settings = { connectionString: url, types, application_name: 'jobmirror', connectionTimeoutMillis: 15_000 };
  const onConnect = (client: pg.ClientBase): Promise<unknown> => client.query(NEEDED_SETTINGS);
  // Pipelined statements of one transaction travel together; the server keeps their order.
  const pool = new pg.Pool({ ...settings, max: options.max ?? 8, keepAlive: true, pipeline: true, onConnect });
  // COPY needs a connection without a pipeline.
  const lent = new pg.Pool({
    ...settings,
    max: MOST_LENT,
    keepAlive: true,
    idleTimeoutMillis: LENT_IDLE_MS,
    onConnect,
  });
  const out = new Set<LentSession>();
  for (const each of [pool, lent]) {
    // The pool listens only while a connection is idle. One that breaks as it is handed over must not end the process: its
    // next statement fails.
    each.on('connect', (client) => client.on('error', () => undefined));
    each.on('error', (error: Error & { client?: unknown }) => {
      // The driver attaches the whole connection, with the password, which must not be logged.
      delete error.client;
      options.onError?.(error);
    });
  }
  return {
    url,
    ...statementsOf(pool, run, whenFree),
    prepared: statementsOf(pool, runPrepared, whenFree),
    whenFree,
    lockTiming: options.lockTiming ?? LOCK_TIMING,
    async session(onLost, { queryTimeoutMs } = {}) {
      return whenFree(undefined, async () => {
        const client = new pg.Client({ ...settings, keepAlive: true, query_timeout: queryTimeoutMs });
        let session: Session | undefined;
        client.on('error', (error) => session !== undefined && onLost?.(error, session));
        await client.connect();
        await onConnect(client).catch(async (error: unknown) => {
          await client.end();
          throw error;
        });
        session = { client, query: oneByOne(client), end: () => client.end() };
        return session;
      });
    },
    async lend(onLost) {
      // Lent connections are out for long, so the pool must not wait for them.
      const session = lendOut(await whenFree(undefined, () => lent.connect()), out, onLost);
      out.add(session);
      return session;
    },
    async close() {
      // Ends connections that were not given back: a pool ends only after all of its connections.
      await Promise.all([...out].map((session) => session.end()));
      await Promise.all([pool.end(), lent.end()]);
    },
  };
}

function lendOut(lent: pg.PoolClient, out: Set<LentSession>, onLost?: (error: Error) => void): LentSession {
  const client = lent as unknown as pg.Client;
  let over = false;
  let broken = false;
  const onError = (error: Error) => {
    broken = true;
    onLost?.(error);
  };
  client.on('error', onError);
  const release = (ends: boolean) => {
    if (over) return;
    over = true;
    out.delete(session);
    lent.release(ends);
    // Later errors go to the pool, which listens again after the release.
    client.off('error', onError);
  };
  const session: LentSession = {
    client,
    query: oneByOne(client),
    giveBack: () => release(broken),
    async end() {
      // Waits until the server has closed it too, so that an open transaction is undone.
      if (!over) await client.end().catch(() => undefined);
      release(true);
    },
  };
  return session;
}

/** Serialises concurrent queries on one connection, as the driver takes a new one only after the previous has ended. */
function oneByOne(client: pg.Client): Queryable['query'] {
  let last: Promise<unknown> = Promise.resolve();
  return <Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> => {
    const answer = last.then(() => run<Row>(client, text, values));
    last = answer.catch(() => undefined);
    return answer;
  };
}

type Run = typeof run;

function statementsOf(pool: pg.Pool, send: Run, whenFree: WhenFree): Statements {
  return {
    query: (text, values) => whenFree(pool, () => send(pool, text, values)),
    async transaction(work, { opensWithLocks = false } = {}) {
      const client = await whenFree(pool, () => pool.connect());
      // A connection that breaks inside a transaction is discarded, never reused.
      let broken: Error | undefined;
      const onError = (error: Error) => {
        broken = error;
      };
      client.on('error', onError);
      let over = false;
      // In a pipeline, statements after a failed one fail too, and their errors may arrive first.
      let first: unknown;
      try {
        const left: Promise<unknown>[] = [];
        const leave = (statement: Promise<unknown>): void => {
          left.push(statement);
          // Reported with the commit; never an unhandled rejection meanwhile.
          statement.catch(() => undefined);
        };
        const begun = client.query('begin');
        leave(begun);
        if (!opensWithLocks) await begun;
        const query = async <Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> => {
          // After a rollback it would run, and persist, in a transaction of its own.
          if (over) throw new Error('the transaction is over');
          try {
            const rows = await send<Row>(client, text, values);
            await begun;
            return rows;
          } catch (error) {
            first ??= error;
            throw error;
          }
        };
        const result = await work({ query, leave });
        over = true;
        const [{ command }] = await Promise.all([client.query('commit'), ...left]);
        // After a failed statement the server turns a commit into a rollback, even if the error was handled.
        if (command === 'COMMIT') return result;
        throw new Error(`the transaction ended with ${command} instead of COMMIT`, { cause: first });
      } catch (error) {
        over = true;
        await client.query('rollback').catch((cause: Error) => {
          broken ??= cause;
        });
        throw isAfterFailure(error) ? (first ?? error) : error;
      } finally {
        client.off('error', onError);
        client.release(broken);
      }
    },
  };
}

interface Target {
  query(statement: { name?: string; text: string; values?: unknown[] }): Promise<{ rows: object[] }>;
}

async function run<Row extends object>(
  target: Target,
  text: string,
  values?: readonly unknown[],
  name?: string,
): Promise<Row[]> {
  const { rows } = await target.query({ name, text, values: values as unknown[] | undefined });
  return rows as Row[];
}

/** Names of prepared statements by text, the same on every connection; `undefined` after preparing failed. */
const names = new Map<string, string | undefined>();

async function runPrepared<Row extends object>(
  target: Target,
  text: string,
  values?: readonly unknown[],
): Promise<Row[]> {
  if (!names.has(text)) names.set(text, `jobmirror_${names.size + 1}`);
  try {
    return await run<Row>(target, text, values, names.get(text));
  } catch (error) {
    // Not prepared any more in this process, so that the next try succeeds.
    if (isOfPreparing(error)) names.set(text, undefined);
    throw error;
  }
}

/** The statement was refused because an earlier one had failed. */
const isAfterFailure = (error: unknown): boolean => (error as { code?: string }).code === '25P02';

/** Runs `work` in a transaction of the session, which may be used further: an error rolls it back and is rethrown. */
export async function transactionOn<T>(session: Session, work: () => Promise<T>): Promise<T> {
  await session.query('begin');
  try {
    const result = await work();
    await session.query('commit');
    return result;
  } catch (error) {
    await session.query('rollback').catch(() => undefined);
    throw error;
  }
}

/** Every statement of `work` sees the database as of the first one. It can't write. */
export const inSnapshot = <T>(db: Database, work: (session: Session) => Promise<T>): Promise<T> =>
  onLentSession(db, async (session) => {
    await session.query('begin isolation level repeatable read read only');
    const result = await work(session);
    await session.query('commit');
    return result;
  });

/** Runs `work`, which leaves no transaction open, on a connection of its own. An error is rethrown, and rolls back what is open. */
export async function onLentSession<T>(
  db: Pick<Database, 'lend'>,
  work: (session: LentSession) => Promise<T>,
): Promise<T> {
  const session = await db.lend();
  try {
    const result = await work(session);
    session.giveBack();
    return result;
  } catch (error) {
    // Its transaction may be in any state, so the connection is not used again.
    await session.end().catch(() => undefined);
    throw error;
  }
}

// Waits for a database connection when the server has none to spare.

/** The parts of a pool that are needed to keep it from growing. */
export interface GrowingPool {
  readonly totalCount: number;
  readonly options: { max?: number | undefined };
}

/**
 * Runs an operation that may open a connection, and retries it while the server refuses for lack of connections; nothing was
 * sent in that case.
 * @param pool the pool that opens the connection: it is kept from growing for a while, so its connections serve everybody.
 * @throws the server's error once it has refused for too long or the process is stopping.
 */
type WhenFree = <T>(pool: GrowingPool | undefined, connect: () => Promise<T>) => Promise<T>;

interface FreeConnectionOptions {
  /** Called now and then while somebody waits. */
  readonly onShortage?: ((error: Error) => void) | undefined;
  /** The process is stopping: nobody waits much longer. */
  readonly stopping?: AbortSignal | undefined;
}

/** As long as for a database that is unreachable. */
const SHORTAGE: RetryPolicy = { firstDelayMs: 100, maxDelayMs: 2_000, factor: 1.5, forMs: 2 * 60_000 };
/** A pool with connections gets one back soon. */
const WITH_CONNECTIONS: RetryPolicy = { ...SHORTAGE, maxDelayMs: SHORTAGE.firstDelayMs };
/** An outcome still to be recorded may wait a little while a process stops. */
const WAIT_WHILE_STOPPING_MS = 2_000;
const STAYS_SMALL_MS = 10_000;
const REPORT_EVERY_MS = 10_000;

/** Whether the server refused a connection for lack of free ones: SQLSTATE 53300. */
const isShortage = (error: unknown): boolean => (error as { code?: unknown }).code === '53300';

function connectionWaiter({ onShortage, stopping }: FreeConnectionOptions = {}): WhenFree {
  const small = new WeakSet<GrowingPool>();
  let reportedAt = Number.NEGATIVE_INFINITY;
  let stopsAt = Number.POSITIVE_INFINITY;
  const stop = (): void => {
    stopsAt = performance.now() + WAIT_WHILE_STOPPING_MS;
  };
  if (stopping?.aborted) stop();
  else stopping?.addEventListener('abort', stop, { once: true });

  function report(error: unknown): void {
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return;
    reportedAt = performance.now();
    onShortage?.(error as Error);
  }

  function keepSmall(pool: GrowingPool): void {
    if (small.has(pool)) return;
    small.add(pool);
    const { max } = pool.options;
    pool.options.max = Math.max(1, pool.totalCount);
    const grow = () => {
      small.delete(pool);
      pool.options.max = max;
    };
    setTimeout(grow, STAYS_SMALL_MS).unref();
  }

  return (pool, connect) =>
    retry(connect, SHORTAGE, {
      worthAgain: (error) => isShortage(error) && performance.now() <= stopsAt,
      onRetry(error) {
        report(error);
        if (pool !== undefined) keepSmall(pool);
      },
      // The random delay keeps waiting processes from retrying together.
      delayMs: (attempt) =>
        backoffMs(pool !== undefined && pool.totalCount > 0 ? WITH_CONNECTIONS : SHORTAGE, attempt, Math.random()),
    });
}
