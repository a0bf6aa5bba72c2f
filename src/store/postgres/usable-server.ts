// Refuses a database server that jobmirror cannot work with: an older Postgres, or a pooler that lends a connection for one transaction only.
import { randomUUID } from 'node:crypto';
import { type Database, type Queryable, readValue, type Session } from './database.ts';

/** The oldest version that its makers support. */
const OLDEST_MAJOR = 14;

/** How often the pooler is asked for another connection, if it is not seen at once to share them. */
const ASKED = 3;
/** A pooler without a free connection answers late; one that shares them, at once. */
const WAIT_FOR_CONNECTION_MS = 5_000;

/** The server, or what stands before it, has to be configured otherwise: trying again is of no use. */
export class UnusableServerError extends Error {
  override name = 'UnusableServerError';
}

const SHARED =
  'a pooler gives each transaction another connection (pgbouncer: pool_mode = transaction), but locks and settings of jobmirror ' +
  'belong to a connection: set pool_mode = session for this database, or configure the address of Postgres itself';
const WITHOUT_TRANSACTIONS =
  'a pooler allows no transactions (pgbouncer: pool_mode = statement): set pool_mode = session for this database, or configure the ' +
  'address of Postgres itself';

/**
 * Opens a session, checks what is at its other end, and lends it to `work`.
 * @throws UnusableServerError that says what to do.
 */
export async function onUsableServer<Result>(
  database: Pick<Database, 'session'>,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  const session = await database.session();
  try {
    await refuseUnusable(database, session);
    return await work(session);
  } finally {
    await session.end();
  }
}

async function refuseUnusable(database: Pick<Database, 'session'>, session: Session): Promise<void> {
  const [server] = await session.query<{ version: number; name: string; pid: number }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_version') as name, pg_backend_pid() as pid`,
  );
  if (server === undefined) return;
  if (server.version < OLDEST_MAJOR * 10_000) {
    throw new UnusableServerError(
      `it is Postgres ${server.name.split(' ')[0]}, and jobmirror needs ${OLDEST_MAJOR} or later: update it, or configure another server`,
    );
  }
  // A pooler invents the process ID that it tells its clients.
  const told = (session.client as unknown as { readonly processID: number | null }).processID;
  if (told !== server.pid) await refuseShared(database, session);
}

/** Marks the connection, and finds out whether others get it, or this one another. */
async function refuseShared(database: Pick<Database, 'session'>, session: Session): Promise<void> {
  const mark = randomUUID();
  await session.query(`select set_config('jobmirror.mark', $1, false)`, [mark]);
  const others: Session[] = [];
  try {
    for (let asked = 0; asked < ASKED; asked++) {
      const other = await openTransaction(database);
      // No connection is free, which is no sign that they are shared.
      if (other === undefined) return;
      others.push(other);
      if ((await markOf(other)) === mark || (await markOf(session)) !== mark) throw new UnusableServerError(SHARED);
    }
  } finally {
    await Promise.all(others.map((other) => other.end().catch(() => undefined)));
  }
}

const markOf = (db: Queryable): Promise<string | null | undefined> =>
  readValue<string>(db, `select current_setting('jobmirror.mark', true) as mark`);

/** Keeps its connection to the server as long as it is open. */
async function openTransaction(database: Pick<Database, 'session'>): Promise<Session | undefined> {
  const session = await database.session(undefined, { queryTimeoutMs: WAIT_FOR_CONNECTION_MS });
  try {
    await session.query('begin');
    return session;
  } catch (error) {
    await session.end().catch(() => undefined);
    const { message } = error as Error;
    if (/statement pooling/i.test(message)) throw new UnusableServerError(WITHOUT_TRANSACTIONS);
    if (/timeout/i.test(message)) return undefined;
    throw error;
  }
}
