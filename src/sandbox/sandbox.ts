// Starts a complete job site that implements site-interface.md, for demos, tests and dry runs.

import { once, setMaxListeners } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Fault } from './faults/fault-table.ts';
import { createSwitchboard } from './faults/switchboard.ts';
import { asksForXml, createXmlApp } from './interface/xml-app.ts';
import type { JobSite } from './job-site.ts';
import { createPageApp } from './pages/page-app.tsx';
import { createRequestLog, type RequestLog, type SandboxLog } from './request-log.ts';
import { defaultSettings, type SandboxSettings } from './settings.ts';
import { createSignInLimit } from './sign-in-limit.ts';
import { type EnsuredUser, ensureUser, openAccounts, openSessions } from './store/accounts.ts';
import { type Inspection, openDatabase, openInspection } from './store/database.ts';
import { openJobs } from './store/jobs.ts';

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
  /** The seed of the random numbers of faults with a `rate`; default 1. */
  readonly faultSeed?: number;
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
  const faults = createSwitchboard(options.faultSeed ?? 1);
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
