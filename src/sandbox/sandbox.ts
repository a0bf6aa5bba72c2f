// Starts a complete job site that implements site-interface.md, for demos, tests and dry runs.

import { once, setMaxListeners } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { Pool } from 'pg';
import { packageRoot } from '../config/package-root.ts';
import { type EnsuredUser, ensureUser, openAccounts, openSessions } from './accounts.ts';
import type { Fault } from './interface/fault-table.ts';
import { createFaultSwitch } from './interface/switchboard.ts';
import { asksForXml, createXmlApp } from './interface/xml-app.ts';
import { createSignInLimit, type JobSite } from './job-site.ts';
import { type JobFields, openJobs } from './jobs.ts';
import { createPageApp } from './page-app.tsx';
import { createRequestLog, type RequestLog, type SandboxLog } from './request-log.ts';
import { defaultSettings, type SandboxSettings } from './settings.ts';

export interface SandboxOptions {
  /** `postgres://…`: all data is stored there, in the schema `sandbox`, and survives a restart. */
  readonly databaseUrl: string;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Overrides of {@link defaultSettings}. */
  readonly settings?: Partial<SandboxSettings>;
  readonly faults?: readonly Fault[];
  /** Maximum number of database connections; default 10. */
  readonly connections?: number;
  /** Requests kept in the log; default 1,000. */
  readonly keepRequests?: number;
  readonly log?: SandboxLog;
}

export interface Sandbox {
  /** Such as `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly port: number;
  /** Replaces all faults; an empty list removes them. Resolves once connections are refused or accepted accordingly. */
  setFaults(faults: readonly Fault[]): Promise<void>;
  /** Changes the given settings only. */
  setSettings(settings: Partial<SandboxSettings>): void;
  /** Creates an account unless it exists; see {@link ensureUser}. */
  ensureUser(email: string, password?: string, token?: string): Promise<EnsuredUser>;
  /** Changes the password and with it the token; the old token gets a 401. @throws Error if there is no such account */
  changePassword(email: string, password: string): Promise<{ readonly token: string }>;
  readonly inspect: Inspection;
  readonly requests: Omit<RequestLog, 'begin' | 'end'>;
  /** Ends all connections, pending waits and database connections. */
  close(): Promise<void>;
}

/** How long idle connections are kept. Long enough that a request rarely hits a connection that is just closing. */
const KEEP_ALIVE_MS = 60_000;

/**
 * Starts the site.
 * @throws the database's error if it can't be reached, or the system's if it can't listen
 */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { host = '127.0.0.1', log = () => undefined } = options;
  const pool = await openDatabase(options.databaseUrl, options.connections ?? 10, log);
  const accounts = openAccounts(pool);
  const requests = createRequestLog(options.keepRequests ?? 1_000);
  const faults = createFaultSwitch();
  const closing = new AbortController();
  // Every delayed request listens to this signal.
  setMaxListeners(0, closing.signal);
  let settings: SandboxSettings = { ...defaultSettings, ...options.settings };

  const site: JobSite = {
    settings: () => settings,
    accounts,
    sessions: openSessions(pool),
    signIns: createSignInLimit(),
    jobs: openJobs(pool),
    requests,
    faults,
    log,
    closing: closing.signal,
    refuseConnections: (ms) => listener.refuse(ms),
  };
  const xmlApp = createXmlApp(site);
  const pageApp = await createPageApp(site);
  const server = createAdaptorServer({
    fetch(request, env) {
      // Neither XML nor the database can store NUL, so no resource has it in its path.
      if (request.url.includes('%00'))
        return new Response('Bad request: a NUL character in the address.\n', { status: 400 });
      return (asksForXml(new URL(request.url).pathname) ? xmlApp : pageApp).fetch(request, env);
    },
  }) as Server;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const listener = await listen(server, host, options.port ?? 0, log).catch(async (error: unknown) => {
    await pool.end();
    throw error;
  });

  const setFaults = async (desired: readonly Fault[]): Promise<void> => {
    const atOnce = desired.find(refusesAtOnce);
    faults.set(desired.filter((fault) => fault !== atOnce));
    if (atOnce) listener.refuse(atOnce.ms ?? 0);
    else await listener.accept();
  };
  await setFaults(options.faults ?? []);

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${listener.port}`,
    port: listener.port,
    inspect: openInspection(pool),
    requests,
    setFaults,
    setSettings(changes) {
      settings = { ...settings, ...changes };
    },
    ensureUser: (email, password, token) => ensureUser(accounts, email, password, token),
    async changePassword(email, password) {
      const account = await accounts.byEmail(email);
      if (!account) throw new Error(`the sandbox has no account ${email}`);
      return { token: await accounts.changePassword(account.id, password) };
    },
    async close() {
      closing.abort();
      listener.close();
      await requests.idle();
      await pool.end();
    },
  };
}

/** A `refuse` fault without conditions takes effect as soon as it is set. */
const refusesAtOnce = ({ name, on, after, count, rate }: Fault): boolean =>
  name === 'refuse' && on === undefined && after === undefined && count === undefined && rate === undefined;

// An HTTP server that can stop and resume listening on the same port.

export interface Listener {
  readonly port: number;
  /** Refuses new connections for `ms` (0: until {@link Listener.accept}); requests in flight are still answered. */
  refuse(ms: number): void;
  /** Accepts connections again. */
  accept(): Promise<void>;
  /** Closes the server and all connections. */
  close(): void;
}

const AGAIN_AFTER_MS = 1_000;

/**
 * Starts listening.
 * @param port 0: any free port
 * @throws the system's error, such as EADDRINUSE
 */
async function listen(server: Server, host: string, port: number, log: SandboxLog): Promise<Listener> {
  let refusing = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  const open = async (at: number): Promise<void> => {
    server.listen(at, host);
    await once(server, 'listening');
  };
  // A kept-alive connection would let its client bypass the refusal.
  server.on('request', ({ socket }, response) => {
    response.once('close', () => {
      if (refusing) socket.destroy();
    });
  });
  await open(port);
  const { port: found } = server.address() as AddressInfo;

  const accept = async (): Promise<void> => {
    clearTimeout(timer);
    if (!refusing || closed) return;
    refusing = false;
    await open(found).catch((error: unknown) => {
      // Another program may have taken the port: connections stay refused until it can listen again.
      refusing = true;
      if (!closed) acceptAfter(AGAIN_AFTER_MS);
      throw error;
    });
    if (closed) server.close();
  };
  function acceptAfter(ms: number): void {
    timer = setTimeout(() => {
      accept().catch((error: unknown) => log('the sandbox cannot listen again', { error: String(error) }));
    }, ms);
  }
  return {
    port: found,
    accept,
    refuse(ms) {
      clearTimeout(timer);
      if (closed) return;
      if (!refusing) server.close();
      refusing = true;
      if (ms === 0) return;
      acceptAfter(ms);
    },
    close() {
      closed = true;
      clearTimeout(timer);
      if (!refusing) server.close();
      server.closeAllConnections();
    },
  };
}

// Opens a database pool and migrates the schema `sandbox`.

const migrationsFolder = join(packageRoot, 'src', 'sandbox', 'migrations');
/** Prevents two sandboxes from migrating one database at the same time. The number is arbitrary. */
const MIGRATION_LOCK = 7_262_663;

/**
 * Connects and brings the schema up to date.
 * @param url `postgres://user:password@host/name`
 * @throws the driver's error, if the database can't be reached
 */
async function openDatabase(url: string, connections: number, log: SandboxLog): Promise<Pool> {
  const pool = new Pool({ connectionString: url, max: connections });
  pool.on('error', (error) => log('database connection lost', { error: error.message }));
  try {
    await migrate(pool);
    return pool;
  } catch (error) {
    await pool.end();
    throw error;
  }
}

async function migrate(pool: Pool): Promise<void> {
  const files = (await readdir(migrationsFolder)).filter((name) => name.endsWith('.sql')).sort();
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    await client.query('create schema if not exists sandbox');
    await client.query(
      'create table if not exists sandbox.migration (name text primary key, applied_at timestamptz not null default now())',
    );
    const { rows } = await client.query<{ name: string }>('select name from sandbox.migration');
    const applied = new Set(rows.map((row) => row.name));
    for (const name of files.filter((file) => !applied.has(file))) {
      await client.query(await readFile(join(migrationsFolder, name), 'utf8'));
      await client.query('insert into sandbox.migration (name) values ($1)', [name]);
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

// Inspects the stored jobs for tests and measurements: all jobs, and duplicates.

export interface InspectedJob {
  readonly id: string;
  readonly owner: string;
  readonly fields: JobFields;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** Jobs of one owner that have the same value in one field. */
export interface Duplicate {
  readonly owner: string;
  readonly value: string;
  readonly ids: readonly string[];
}

interface Inspection {
  /** All jobs that were not deleted, oldest first. */
  jobs(): Promise<readonly InspectedJob[]>;
  count(): Promise<number>;
  /** Duplicates by this field; jobs without it are ignored. */
  duplicates(field?: string): Promise<readonly Duplicate[]>;
  /**
   * Deletes a job, as somebody on the website might. Returns whether it existed.
   * @param isKept the site can still tell that it was deleted.
   */
  removeJob(id: string, isKept?: boolean): Promise<boolean>;
}

const openInspection = (pool: Pool): Inspection => ({
  async jobs() {
    const { rows } = await pool.query<InspectedJob>(
      `select job.id, account.email as owner, fields, job.created_at as "createdAt", updated_at as "updatedAt"
       from sandbox.job join sandbox.account on account.id = owner_id where deleted_at is null order by sequence`,
    );
    return rows;
  },
  async count() {
    const { rows } = await pool.query<{ count: number }>(
      'select count(*)::integer as count from sandbox.job where deleted_at is null',
    );
    return rows[0]?.count ?? 0;
  },
  async duplicates(field = 'number') {
    const { rows } = await pool.query<Duplicate>(
      `select account.email as owner, fields->>$1 as value, array_agg(job.id order by sequence) as ids
       from sandbox.job join sandbox.account on account.id = owner_id
       where fields->>$1 is not null and deleted_at is null group by 1, 2 having count(*) > 1 order by 1, 2`,
      [field],
    );
    return rows;
  },
  async removeJob(id, isKept = false) {
    const deleting = isKept
      ? 'update sandbox.job set deleted_at = clock_timestamp() where id = $1 and deleted_at is null'
      : 'delete from sandbox.job where id = $1';
    return (await pool.query(deleting, [id])).rowCount === 1;
  },
});
