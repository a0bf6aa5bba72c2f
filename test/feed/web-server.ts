// A web server on loopback whose requests a test examines.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { text } from 'node:stream/consumers';
import type { TLSSocket } from 'node:tls';
import { listen } from '../support/listen.ts';

export interface WebRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The name in the client's certificate. */
  readonly client?: string;
}

export interface WebServer {
  /** For example `http://127.0.0.1:1234`. */
  readonly origin: string;
  readonly requests: WebRequest[];
  close(): Promise<void>;
}

/** @param answer is called for each request. @param tls for https. */
export async function serveWeb(
  answer: (request: WebRequest, response: ServerResponse) => void,
  tls?: ServerOptions,
): Promise<WebServer> {
  const requests: WebRequest[] = [];
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  server.on('request', async (incoming, response) => {
    const path = incoming.url ?? '';
    const request: WebRequest = {
      method: incoming.method ?? '',
      path,
      query: new URL(path, 'http://localhost').searchParams,
      headers: incoming.headers,
      body: await text(incoming),
      client: tls === undefined ? undefined : String((incoming.socket as TLSSocket).getPeerCertificate().subject?.CN),
    };
    requests.push(request);
    answer(request, response);
  });
  const port = await listen(server);
  return {
    origin: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers with JSON. */
export function sendJson(
  response: ServerResponse,
  value: unknown,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}
