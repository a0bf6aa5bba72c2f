// Turns a connection string into the one way to the database: queries, transactions and sessions of one pool.
import pg from 'pg';
import { connectionWaiter, type FreeConnectionOptions, type WhenFree } from '../free-connection.ts';
import { isOfPreparing } from './transient-error.ts';

/** One row as the driver gives it; each query names its own columns. */
// biome-ignore lint/suspicious/noExplicitAny: the driver can't know the columns; every caller states them.
export type Row = Record<string, any>;

/** Anything that a statement can be sent through: the pool, or the client of a transaction. */
export interface Queryable {
  query<R extends Row = Row>(text: string, values?: readonly unknown[]): Promise<R[]>;
}

/** A client of its own, for a transaction or for session-level locks. */
export interface Session extends Queryable {
  /** The driver's client, for COPY streams only. */
  readonly client: pg.Client;
  end(): Promise<void>;
}

/** A session that others use after it: whoever has it either gives it back as it was, or ends it. */
export interface LentSession extends Session {
  giveBack(): void;
}

/** What single statements and whole transactions can be sent through. */
export interface Statements extends Queryable {
  /**
   * Runs `work` in one transaction; an error rolls it back and is thrown on. Statements that `work` sends without waiting
   * for one another travel together, and are done in the order in which they were sent.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

/** Statements of one transaction. Once it is over, or undone, each further one is refused. */
export interface Transaction extends Queryable {
  /** Takes a statement that was sent and need not be waited for: it travels with the commit, and fails it if it fails. */
  leave(statement: Promise<unknown>): void;
}

export interface TransactionOptions {
  /**
   * What `work` sends first, and waits for, only takes locks that end with the transaction, and reads. It is sent together
   * with `begin`; should `begin` fail alone, those answers are withheld, and nothing was done.
   */
  readonly opensWithLocks?: boolean;
}

export interface Database extends Statements {
  readonly url: string;
  /**
   * The same for statements that a worker sends all day: the server parses them once a connection and keeps their plans.
   * Only for texts that are always the same. A plan stays until there are new statistics of a table: whoever makes a
   * table much larger at once has it analyzed.
   */
  readonly prepared: Statements;
  /**
   * Opens a connection beside the pool. `onLost` is called once if it breaks. A query that has no answer after
   * `queryTimeoutMs` throws; whether the server has done it is not known, so the session is of no more use then.
   */
  session(onLost?: (error: Error) => void, options?: { readonly queryTimeoutMs?: number }): Promise<Session>;
  /**
   * Lends a connection that is kept open for a while: what needs one for some milliseconds need not open it. Of
   * {@link MOST_LENT} at most; who asks for more waits, and not for long.
   */
  lend(onLost?: (error: Error) => void): Promise<LentSession>;
  /** How everything here waits for a connection where the server has none to spare; for other pools on the same server. */
  readonly whenFree: WhenFree;
  close(): Promise<void>;
}

/** Those of the pulls that read, with one that holds the locks of all. */
export const MOST_LENT = 16;
const LENT_IDLE_MS = 15_000;

const INT8 = 20;

// Counters and identities stay far below 2^53; numbers are easier to hold right than strings.
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 ? Number : pg.types.getTypeParser(oid, format as 'text')) as pg.CustomTypesConfig['getTypeParser'],
};

/**
 * Opens a pool. Nothing is connected yet: the first query says whether the server is there.
 * @param onError receives errors of idle connections, such as a server restart; the pool replaces them by itself.
 * With `onShortage`, what needs a connection waits where the server has none to spare; otherwise it fails at once.
 */
export function openDatabase(
  url: string,
  options: FreeConnectionOptions & { max?: number; onError?: (error: Error) => void } = {},
): Database {
  const whenFree: WhenFree = options.onShortage ? connectionWaiter(options) : (_pool, connect) => connect();
  const settings = { connectionString: url, types, application_name: 'jobmirror', connectionTimeoutMillis: 15_000 };
  // Statements of one transaction that are sent without waiting travel together; the server keeps their order.
  const pool = new pg.Pool({ ...settings, max: options.max ?? 8, keepAlive: true, pipeline: true });
  // COPY needs a connection without a pipeline.
  const lent = new pg.Pool({ ...settings, max: MOST_LENT, keepAlive: true, idleTimeoutMillis: LENT_IDLE_MS });
  const out = new Set<LentSession>();
  for (const each of [pool, lent]) {
    each.on('error', (error: Error & { client?: unknown }) => {
      // The driver hangs the whole connection on it, password and all, which no log needs.
      delete error.client;
      options.onError?.(error);
    });
  }
  return {
    url,
    ...statementsOf(pool, run, whenFree),
    prepared: statementsOf(pool, runPrepared, whenFree),
    whenFree,
    async session(onLost, { queryTimeoutMs } = {}) {
      const client = await whenFree(undefined, async () => {
        const opened = new pg.Client({ ...settings, keepAlive: true, query_timeout: queryTimeoutMs });
        let isOpen = false;
        opened.on('error', (error) => isOpen && onLost?.(error));
        await opened.connect();
        isOpen = true;
        return opened;
      });
      return {
        client,
        query: oneByOne(client),
        end: () => client.end(),
      };
    },
    async lend(onLost) {
      // Those that are lent are kept for long: the pool is not to wait for them.
      const session = lendOut(await whenFree(undefined, () => lent.connect()), out, onLost);
      out.add(session);
      return session;
    },
    async close() {
      // Whoever has not given a connection back by now loses it: a pool ends only with all that it has lent.
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
    // An error after that is the pool's to hear; until it listens, somebody has to.
    client.off('error', onError);
  };
  const session: LentSession = {
    client,
    query: oneByOne(client),
    giveBack: () => release(broken),
    async end() {
      // Over with the server as well when this resolves: what was open in a transaction is undone.
      if (!over) await client.end().catch(() => undefined);
      release(true);
    },
  };
  return session;
}

/** Many may ask on one connection at a time; the driver is to be asked again only after it has answered. */
function oneByOne(client: pg.Client): Queryable['query'] {
  let last: Promise<unknown> = Promise.resolve();
  return <R extends Row>(text: string, values?: readonly unknown[]): Promise<R[]> => {
    const answer = last.then(() => run<R>(client, text, values));
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
      // A connection that breaks inside a transaction is thrown away, never lent again.
      let broken: Error | undefined;
      const onError = (error: Error) => {
        broken = error;
      };
      client.on('error', onError);
      let over = false;
      // Of statements that travel together, those behind the one that fails do too, and may be heard of before it.
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
        const query = async <R extends Row>(text: string, values?: readonly unknown[]): Promise<R[]> => {
          // Behind a rollback it would be a transaction of its own, and stay.
          if (over) throw new Error('the transaction is over');
          try {
            const rows = await send<R>(client, text, values);
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
        // What the server makes of a commit after a statement that failed, whoever heard of that failure.
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
  query(statement: { name?: string; text: string; values?: unknown[] }): Promise<{ rows: Row[] }>;
}

async function run<R extends Row>(
  target: Target,
  text: string,
  values?: readonly unknown[],
  name?: string,
): Promise<R[]> {
  const { rows } = await target.query({ name, text, values: values as unknown[] | undefined });
  return rows as R[];
}

/** A prepared statement has one name, whichever connection it is prepared on; none any more once that went wrong. */
const names = new Map<string, string | undefined>();

async function runPrepared<R extends Row>(target: Target, text: string, values?: readonly unknown[]): Promise<R[]> {
  if (!names.has(text)) names.set(text, `jobmirror_${names.size + 1}`);
  try {
    return await run<R>(target, text, values, names.get(text));
  } catch (error) {
    // From now on this process does without, so that the next try succeeds.
    if (isOfPreparing(error)) names.set(text, undefined);
    throw error;
  }
}

/** The statement was refused because one before it had failed. */
const isAfterFailure = (error: unknown): boolean => (error as { code?: string }).code === '25P02';
