// Sends one HTTP request, and reads the body of its response to the proven end.
import { type ClientRequestArgs, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { BrokenOff, type Network, reasonOf } from '../source.ts';
import type { TlsFiles } from './http-config.ts';
import { guardLookup, hostAddress, refusedPlace } from './redirects.ts';

export type Headers = Record<string, string>;

export interface HttpRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: Headers;
  readonly body?: string;
  readonly tls?: TlsFiles;
  /** Refuses private addresses. */
  readonly mustBePublic?: boolean;
}

export interface HttpExchange {
  readonly response: IncomingMessage;
  /** The IP address of the server. The socket no longer knows it once the server has closed the connection. */
  readonly connectedTo: string | undefined;
  /** A connection failure after the response head. The body may look complete despite it. */
  failure?: Error;
}

export interface HttpConditions {
  readonly signal: AbortSignal;
  readonly network: Network;
}

/**
 * Sends one request on a new connection; resolves with the response head. It uses Node's own client, which distinguishes a
 * reset connection from a closed one: undici takes both for the regular end of a body without a length.
 */
export async function send(request: HttpRequest, { signal, network }: HttpConditions): Promise<HttpExchange> {
  const { url, method, headers, body, tls, mustBePublic = false } = request;
  const host = hostAddress(url);
  const refusal = network.publicOnly === true ? refusedPlace : refusedAddress;
  const isGuarded = mustBePublic || network.publicOnly === true;
  if (isGuarded && host !== undefined && network.isPrivate(host)) throw refusal();
  const options: ClientRequestArgs = {
    method,
    headers: {
      'user-agent': 'jobmirror',
      ...headers,
      ...(body === undefined ? {} : { 'content-length': `${Buffer.byteLength(body)}` }),
    },
    agent: false,
    lookup: isGuarded ? guardLookup(network, refusal) : network.lookup,
    signal,
  };
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return await new Promise<HttpExchange>((resolve, reject) => {
    const sent =
      url.protocol === 'https:' ? requestHttps(bare, { ...options, ...tlsOptions(tls) }) : requestHttp(bare, options);
    let exchange: HttpExchange | undefined;
    sent.on('response', (response) => {
      exchange = { response, connectedTo: response.socket.remoteAddress };
      resolve(exchange);
    });
    sent.on('error', (error) => {
      if (exchange === undefined) reject(error);
      else exchange.failure = error;
    });
    sent.end(body);
  });
}

const tlsOptions = ({ cert, key, passphrase, ca }: TlsFiles = {}) => ({
  cert,
  key: key?.reveal(),
  passphrase: passphrase?.reveal(),
  ca,
});

const refusedAddress = (): BrokenOff =>
  new BrokenOff('it redirects to an address that is not public; to allow this, set allow_private_redirects');

/** A body ends properly after Content-Length bytes, with the last chunk, or, without either, by an orderly close. */
export async function* readBody(exchange: HttpExchange, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of exchange.response) yield chunk;
    if (exchange.failure !== undefined) throw exchange.failure;
    if (!exchange.response.complete) throw new Error('the body is incomplete');
  } catch (error) {
    signal.throwIfAborted();
    throw new BrokenOff(`the connection broke off before the end: ${reasonOf(error)}`);
  }
}
