// The one HTTP server of a running process, for whatever routes it is given.
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';

export interface HttpServer {
  /** `http://host:port` with the actual port. */
  readonly url: string;
  /** Also ends open connections. */
  close(): Promise<void>;
}

export interface HttpServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly routes: Hono;
}

/** Somebody who sends slowly keeps a connection no longer than this. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 30_000;
const MOST_CONNECTIONS = 1_000;

/** @throws the system's error if it cannot listen on the address, such as EADDRINUSE */
export async function startHttpServer({ host, port, routes }: HttpServerOptions): Promise<HttpServer> {
  const server = createAdaptorServer({
    fetch: routes.fetch,
    serverOptions: { headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS, connectionsCheckingInterval: 1_000 },
  }) as Server;
  server.maxConnections = MOST_CONNECTIONS;
  server.listen(port, host);
  await once(server, 'listening');
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${actual}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
