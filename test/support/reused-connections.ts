// Keeps the connections to reusable test databases open after their clients have ended, for the next clients, and prepares their
// statements: a new server process would read its catalogs and plan every statement again, which takes longer than most tests.
import pg from 'pg';

/** What is used of a client of the driver, beyond its public interface. */
interface Client extends NodeJS.EventEmitter {
  readonly host: string;
  readonly port: number;
  readonly database: string | undefined;
  connection: Connection;
  processID: number | null;
  secretKey: number | null;
  _connected: boolean;
  _ending: boolean;
  _ended: boolean;
  _queryable: boolean;
  readonly _activeQuery: unknown;
  readonly _queryQueue: readonly unknown[];
  readonly _sentQueryQueue: readonly unknown[];
  readonly _txStatus: string | null;
  query(text: string): Promise<unknown>;
  getStartupConf(): Readonly<Record<string, string>>;
}

interface Connection extends NodeJS.EventEmitter {
  readonly stream: { readonly writable: boolean };
  connect(port: number, host: string): void;
  query(text: string): void;
  ref(): void;
  unref(): void;
  end(): void;
}

interface Idle {
  readonly key: string;
  readonly database: string;
  readonly connection: Connection;
  readonly processID: number;
  readonly secretKey: number;
}

type Done = (error?: Error) => void;

const prototype = pg.Client.prototype as unknown as { connect: unknown; end: unknown; query: unknown };
const connect = prototype.connect as (this: Client, done?: Done) => Promise<unknown> | undefined;
const end = prototype.end as (this: Client, done?: Done) => Promise<unknown> | undefined;
const query = prototype.query as (this: Client, statement: unknown, ...rest: unknown[]) => unknown;

/** Kept connections of this process that nobody uses; all processes together must leave the server enough for those in use. */
const MOST_IDLE = 40;

const reusable = new Set<string>();
/** In the order in which they were kept. */
const idle: Idle[] = [];
const ending = new Set<Promise<void>>();

/** What a session may leave behind; cached plans and prepared statements stay, which is the purpose. */
const FORGET = [
  'unlisten *',
  'select pg_advisory_unlock_all()',
  'reset all',
  'close all',
  'discard temp',
  // It is no connection of the program any more.
  `set application_name = 'kept by the tests'`,
].join('; ');

/** From now on, connections of this process to the database of that name are kept. */
export function keepConnections(database: string): void {
  reusable.add(database);
}

/** Whether connections to the database of that name are kept. */
export const keepsConnections = (database: string | undefined): boolean => reusable.has(database as string);

/** Process IDs, at the server, of the kept connections that nobody uses. Pools do not wait for the end of their clients. */
export async function idleConnections(database: string): Promise<number[]> {
  await Promise.allSettled(ending);
  return idle.filter((kept) => kept.database === database).map(({ processID }) => processID);
}

/** Ends the kept connections, all of them unless `which` selects some. */
export function endIdleConnections(database: string, which: (processID: number) => boolean = () => true): void {
  for (const kept of idle.filter((each) => each.database === database && which(each.processID))) forget(kept).end();
}

/** The database is going to be dropped: its connections are kept no longer. */
export function dropConnections(database: string): void {
  reusable.delete(database);
  endIdleConnections(database);
}

function forget(kept: Idle): Connection {
  idle.splice(idle.indexOf(kept), 1);
  detach(kept.connection);
  kept.connection.on('error', () => undefined);
  return kept.connection;
}

/** Removes the listeners of a client. `newListener` is the connection's own. */
function detach(connection: Connection): void {
  for (const name of connection.eventNames()) if (name !== 'newListener') connection.removeAllListeners(name);
}

const keyOf = (client: Client): string => JSON.stringify([client.host, client.port, client.getStartupConf()]);

prototype.connect = function (this: Client, done?: Done) {
  if (!keepsConnections(this.database)) return connect.call(this, done);
  const connected = reuse(this).then((reused) => connect.call(reused));
  if (done === undefined) return connected;
  connected.then(() => done(), done);
  return undefined;
};

/** Gives the client a kept connection, if there is one that still works. */
async function reuse(client: Client): Promise<Client> {
  const key = keyOf(client);
  for (;;) {
    const kept = idle.findLast((each) => each.key === key);
    if (kept === undefined) return client;
    const connection = forget(kept);
    connection.ref();
    if (!(await answers(connection))) continue;
    detach(connection);
    client.connection = connection;
    client.processID = kept.processID;
    client.secretKey = kept.secretKey;
    // As the server says after the sign-in.
    connection.connect = () => process.nextTick(() => connection.emit('readyForQuery', { status: 'I' }));
    return client;
  }
}

function answers(connection: Connection): Promise<boolean> {
  return new Promise((resolve) => {
    connection.once('readyForQuery', () => resolve(true));
    connection.once('end', () => resolve(false));
    if (connection.stream.writable) connection.query('reset application_name');
    else resolve(false);
  });
}

const isQuiet = (client: Client): boolean =>
  client._connected &&
  !client._ending &&
  client._queryable &&
  !client._activeQuery &&
  client._queryQueue.length === 0 &&
  client._sentQueryQueue.length === 0 &&
  client._txStatus === 'I' &&
  client.connection.stream.writable;

prototype.end = function (this: Client, done?: Done) {
  if (!keepsConnections(this.database) || !isQuiet(this)) return end.call(this, done);
  const kept = keep(this);
  ending.add(kept);
  const over = () => ending.delete(kept);
  kept.then(over, over);
  if (done === undefined) return kept;
  kept.then(() => done(), done);
  return undefined;
};

async function keep(client: Client): Promise<void> {
  const answer = client.query(FORGET).then(
    () => true,
    () => false,
  );
  // No further statement is accepted.
  client._ending = true;
  const forgotten = await answer;
  const { connection, processID, secretKey } = client;
  const database = client.database as string;
  if (!forgotten || !keepsConnections(database) || !connection.stream.writable) {
    await end.call(client);
    return;
  }
  detach(connection);
  client._ended = true;
  client._queryable = false;
  const kept = { key: keyOf(client), database, connection, processID: Number(processID), secretKey: Number(secretKey) };
  connection.on('error', () => undefined);
  connection.once('end', () => {
    if (idle.includes(kept)) forget(kept);
  });
  connection.unref();
  idle.push(kept);
  for (const oldest of idle.slice(0, -MOST_IDLE)) forget(oldest).end();
  process.nextTick(() => client.emit('end'));
}

/** One statement that a plan can be kept for. */
const PLANNED = /^\s*(?:--[^\n]*\n\s*)*(?:select|with|insert|update|delete)\b[^;]*$/i;
const names = new Map<string, string>();

/** The name under which each connection keeps the plan of this text. */
function planName(text: string): string {
  const name = names.get(text) ?? `planned_${names.size + 1}`;
  names.set(text, name);
  return name;
}

interface Statement {
  readonly text?: string;
  readonly name?: string;
  readonly submit?: unknown;
}

prototype.query = function (this: Client, given: string | Statement, ...rest: unknown[]) {
  const statement = typeof given === 'string' ? { text: given } : given;
  const { text, name, submit } = statement;
  const isPlanned = text !== undefined && name === undefined && submit === undefined && PLANNED.test(text);
  if (!isPlanned || !keepsConnections(this.database)) return query.call(this, given, ...rest);
  return query.call(this, { ...statement, name: planName(text) }, ...rest);
};
