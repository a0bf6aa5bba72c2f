// A real HTTP site on loopback that follows a small script and records every request, for the client tests.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { siteJobId } from '../../src/posting/identifiers.ts';
import type { SiteClient, SiteOptions, SiteRequest } from '../../src/site/exchange.ts';
import { createSiteClient } from '../../src/site/http/client.ts';
import { deadlineIn } from '../../src/site/http/trouble.ts';
import { freePort } from '../support/free-port.ts';
import { certificate, key } from './tls-identity.ts';

export const TOKEN = 'canary+7f3a/9c=ü';

/** One request as the site received it. */
export interface Got {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface ScriptedSite extends AsyncDisposable {
  readonly url: URL;
  readonly got: Got[];
}

/** What a script answers: status, headers, body. */
export type Reply = readonly [status: number, headers?: Record<string, string>, body?: string | Buffer];

/** An HTTP site that gives a fixed reply, or one from a function, which may also write the response itself. */
export async function openSite(
  script: Reply | ((got: Got, response: ServerResponse) => Reply | undefined),
): Promise<ScriptedSite> {
  const got: Got[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const one: Got = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    got.push(one);
    const reply = typeof script === 'function' ? script(one, response) : script;
    if (reply) response.writeHead(reply[0], reply[1]).end(reply[2]);
  });
  return { url: await listen(server), got, [Symbol.asyncDispose]: () => closeServer(server, []) };
}

export interface RawSite extends AsyncDisposable {
  readonly url: URL;
  /** Number of connections opened. */
  readonly connections: () => number;
  /** Number of connections on which something arrived: undici opens another one after it has aborted a request. */
  readonly usedConnections: () => number;
}

/** A TCP server with a handler for each connection. */
export async function openRawSite(treat: (socket: Socket) => void): Promise<RawSite> {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    treat(socket);
  });
  const url = await listen(server);
  return {
    url,
    connections: () => sockets.length,
    usedConnections: () => sockets.filter(({ bytesRead }) => bytesRead > 0).length,
    [Symbol.asyncDispose]: () => closeServer(server, sockets),
  };
}

/** A server with a self-signed certificate. */
export async function openTlsSite(): Promise<Omit<RawSite, 'usedConnections'>> {
  let connections = 0;
  const server = createTlsServer({ cert: certificate, key }, (_request, response) => response.end());
  server.on('connection', () => {
    connections++;
  });
  const url = new URL((await listen(server)).href.replace('http:', 'https:'));
  return { url, connections: () => connections, [Symbol.asyncDispose]: () => closeServer(server, []) };
}

async function listen(server: Server): Promise<URL> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

async function closeServer(server: Server, sockets: readonly Socket[]): Promise<void> {
  for (const socket of sockets) socket.destroy();
  if ('closeAllConnections' in server && typeof server.closeAllConnections === 'function') server.closeAllConnections();
  server.close();
  await once(server, 'close');
}

/** A URL on which nothing listens. */
export const closedUrl = async (): Promise<URL> => new URL(`http://127.0.0.1:${await freePort()}`);

/** A client that is closed at the end of its scope. */
export function openClient(baseUrl: URL, options: Partial<SiteOptions> = {}): SiteClient & AsyncDisposable {
  const client = createSiteClient({
    baseUrl,
    token: { reveal: () => TOKEN },
    timeoutMs: 10_000,
    concurrency: 2,
    ...options,
  });
  return { ...client, [Symbol.asyncDispose]: () => client.close() };
}

export const create: SiteRequest = { kind: 'create', fields: { title: 'Cook', 'location-state': 'Massachusetts' } };
export const update: SiteRequest = { kind: 'update', siteJobId: siteJobId('12'), fields: { title: 'Chef' } };
export const remove: SiteRequest = { kind: 'delete', siteJobId: siteJobId('12') };

/** A deadline that never passes. */
export const anyTime = { notAfter: deadlineIn(Number.POSITIVE_INFINITY) };
