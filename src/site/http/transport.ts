// Sends one HTTP request and returns the answer, or how far the request got without one.
import { randomBytes } from 'node:crypto';
import { channel } from 'node:diagnostics_channel';
import {
  type Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  get as requestHttp,
} from 'node:http';
import { get as requestHttps } from 'node:https';
import type { Socket } from 'node:net';
import { type Dispatcher, Pool } from 'undici';
import { onAbort } from '../../flow/pause.ts';
import { agentFor, connectorOf, type ProxyRoute, routeTo } from '../../flow/proxy.ts';
import { type Semaphore, semaphoreFor } from '../../flow/semaphore.ts';
import type { SiteOptions } from '../exchange.ts';
import { BrokenBody, readBodyPieces, readBodyText } from '../xml/body-text.ts';
import { REMOVED } from './scrub-exchange.ts';
import { type Deadline, describeTrouble, throughProxy } from './trouble.ts';

/** One request, ready to send. */
export interface OutgoingRequest {
  readonly method: 'POST' | 'PUT' | 'DELETE' | 'GET';
  readonly url: URL;
  readonly body?: string;
  /** Maximum unpacked bytes of the answer's body; the rest is not read. */
  readonly maxBytes: number;
  /** The request is not started after this. */
  readonly notAfter?: Deadline;
  readonly signal?: AbortSignal;
}

/** The answer as received: it may hold the token, which must be removed before storing or showing it. */
export interface Answer extends AnswerHead {
  /** Another `Location` header that differs from the first. */
  readonly otherLocation?: string;
  readonly body: string;
  /** Why the answer is missing or incomplete; absent: it is complete. */
  readonly trouble?: string;
}

type HeaderName =
  | 'location'
  | 'content-type'
  | 'retry-after'
  | 'date'
  | 'link'
  | 'age'
  | 'server'
  | 'content-range'
  | `x-total${'' | '-count' | '-pages'}`
  | 'total-count';

export interface AnswerHead {
  /** Whether the request was started: any byte of it may have been sent. */
  readonly sent: boolean;
  /** 0: no status line arrived. */
  readonly status: number;
  /** One header's value, or the empty string. */
  readonly header: (name: HeaderName) => string;
}

/** An answer of any size, whose body is read as it arrives. */
export interface StreamedAnswer extends AnswerHead {
  /** Why no answer arrived. */
  readonly trouble?: string;
  /** The body's text. @throws BrokenBody if it cannot be read further */
  readonly pieces: AsyncIterable<string>;
  readonly close: () => void;
}

/** `stranger`: with a token that nobody has. */
type Reader = 'user' | 'stranger';

export interface Transport {
  /** Sends once. Never throws for anything the network or the site does, never resends, never follows a redirect. */
  exchange(wire: OutgoingRequest): Promise<Answer>;
  /**
   * Starts a GET. The answer stays open until it is read to its end, or closed.
   * @param as who reads: by default the user of the token.
   */
  stream(wire: Pick<OutgoingRequest, 'url' | 'maxBytes' | 'signal'>, as?: Reader): Promise<StreamedAnswer>;
  /** Stops reusing the connections that are open now. */
  renew(): void;
  close(): Promise<void>;
}

/**
 * Opens a pool of connections to one site. A connection is reused for at most {@link IDLE_MS} after its last answer,
 * less if the site announces less. That is below what servers allow (5 s in Node.js and Apache, more elsewhere), so a
 * create is rarely sent on a connection that the server is just closing: the one doubt that we would cause ourselves.
 * If undici detects such a close before it writes, it opens a new connection; after that the outcome is unknown.
 */
export function openTransport(options: SiteOptions): Transport {
  const basic = (token: string): string => `Basic ${Buffer.from(`${token}:X`).toString('base64')}`;
  const authorization = basic(options.token.reveal());
  const route = routeTo(options.baseUrl, options.proxy);
  const open = (): Pool =>
    new Pool(options.baseUrl.origin, {
      connections: options.concurrency,
      pipelining: 1,
      allowH2: false,
      connect: route === undefined ? { timeout: options.timeoutMs } : connectorOf(route, options.timeoutMs),
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      keepAliveTimeoutThreshold: 2_000,
      // The one deadline below covers both, even if an answer trickles in.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  const openAgent = (): Agent =>
    agentFor(options.baseUrl, route, { keepAlive: true, maxSockets: options.concurrency, timeout: IDLE_MS }, () =>
      AbortSignal.timeout(options.timeoutMs),
    );
  let pool = open();
  let agent = openAgent();
  // The pool and the agent share them.
  const slots = semaphoreFor(options.concurrency);
  return {
    async exchange(wire) {
      const raw = await dispatchOnce({ pool, slots, route }, wire, options.timeoutMs, authorization);
      const all = (name: string): readonly string[] => [raw.headers[name] ?? []].flat();
      const read = (name: string): string => (name === 'location' ? (all(name)[0] ?? '') : all(name).join(','));
      const otherLocation = all('location').find((location) => location !== read('location'));
      const body = await readBodyText(raw.bytes, read('content-encoding'), read('content-type'), wire.maxBytes);
      const trouble = raw.trouble ?? body.trouble;
      return {
        sent: raw.sent,
        status: raw.status,
        header: read,
        otherLocation,
        // A proxy may pass on what only it should see, and a site repeat it.
        body: (route?.secrets ?? []).slice(0, 1).reduce((text, login) => text.replaceAll(login, REMOVED), body.text),
        trouble,
      };
    },
    async stream({ url, maxBytes, signal }, as = 'user') {
      const { timeoutMs } = options;
      const credentials = as === 'user' ? authorization : basic(randomBytes(20).toString('hex'));
      const headers = requestHeaders({ method: 'GET', url, maxBytes }, credentials);
      const raw = await openAnswer({ url, headers, timeoutMs, signal, agent, slots, route });
      const read = (name: string): string => String(raw.headers[name] ?? '');
      return {
        sent: raw.sent,
        status: raw.status,
        header: read,
        trouble: raw.trouble,
        pieces: readBodyPieces(raw.chunks, read('content-encoding'), read('content-type'), maxBytes),
        close: raw.close,
      };
    },
    renew() {
      const former = pool;
      pool = open();
      agent = openAgent();
      // Requests in flight on the old pool finish normally.
      former.close().catch(() => undefined);
    },
    close() {
      agent.destroy();
      return pool.close();
    },
  };
}

const IDLE_MS = 4_000;

interface RawAnswer {
  readonly sent: boolean;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly trouble?: string;
}

// A request is started at most once: `started` is set in the same tick in which undici writes the first bytes, and a
// second start, which undici may try after a connection closed without an error, is refused.
function dispatchOnce(
  { pool, slots, route }: { readonly pool: Pool; readonly slots: Semaphore; readonly route: ProxyRoute | undefined },
  wire: OutgoingRequest,
  timeoutMs: number,
  authorization: string,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    let done = false;
    let started: Dispatcher.DispatchController | undefined;
    let status = 0;
    let headers: IncomingHttpHeaders = {};
    let size = 0;
    const chunks: Buffer[] = [];
    let forget: () => void = () => undefined;
    let release: () => void = () => undefined;
    let isPassedOn = true;

    const finish = (trouble?: string): void => {
      if (done) return;
      done = true;
      clearTimeout(deadline);
      forget();
      release();
      resolve({ sent: started !== undefined && isPassedOn, status, headers, bytes: Buffer.concat(chunks), trouble });
    };
    const stop = (trouble: string): void => {
      finish(trouble);
      started?.abort(new Error(trouble));
    };
    const deadline = setTimeout(() => stop(describeSlowness(timeoutMs, 0, route)), timeoutMs);

    if (wire.signal !== undefined) forget = onAbort(wire.signal, () => stop('the request was cancelled'));
    if (done) return;
    const dispatch = (): boolean =>
      pool.dispatch(
        {
          method: wire.method,
          path: route?.target(wire.url) ?? wire.url.pathname + wire.url.search,
          headers: { ...requestHeaders(wire, authorization), ...route?.headers },
          body: wire.body === undefined ? null : Buffer.from(wire.body),
        },
        {
          onRequestStart(controller) {
            if (started) finish('the connection closed before an answer');
            // A process that was suspended finds out here that the deadline has passed.
            else if (wire.notAfter?.passed()) finish('its send deadline had passed');
            if (done) controller.abort(new Error('not to be sent'));
            else started = controller;
          },
          onResponseStart(_controller, statusCode, received) {
            if (statusCode < 200) return;
            const refusal = route?.refusalOf(statusCode, received);
            if (refusal !== undefined) {
              isPassedOn = false;
              return stop(refusal.message);
            }
            status = statusCode;
            headers = received;
          },
          onResponseData(_controller, chunk) {
            if (done) return;
            chunks.push(chunk.subarray(0, wire.maxBytes - size));
            size += chunk.length;
            if (size > wire.maxBytes) stop(`the answer is larger than ${wire.maxBytes} bytes`);
          },
          onResponseEnd: () => finish(),
          onResponseError: (_controller, error) => finish(describeTrouble(error, route)),
        },
      );
    slots
      .take()
      .then((granted = () => undefined) => {
        if (done) return granted();
        release = granted;
        dispatch();
      })
      .catch(reject);
  });
}

// No content type without a body: it belongs to POST and PUT only (site-interface.md, section 4).
function requestHeaders(wire: OutgoingRequest, authorization: string): Record<string, string> {
  return {
    authorization,
    accept: 'application/xml',
    'accept-encoding': 'gzip',
    'user-agent': 'jobmirror',
    // A cached copy of a list or a job is not the site's present state.
    ...(wire.method === 'GET' ? { 'cache-control': 'no-cache' } : {}),
    ...(wire.body === undefined ? {} : { 'content-type': 'application/xml' }),
  };
}

// Sends one GET and streams the answer with backpressure, for answers too large to buffer. It uses Node's own client: undici 7 ends the process
// if a connection ends while its answer waits to be read (nodejs/undici#5360).

export interface GetRequest {
  readonly url: URL;
  readonly headers: Record<string, string>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly agent: Agent;
  readonly slots: Semaphore;
  readonly route: ProxyRoute | undefined;
}

/** The beginning of an answer, or why none arrived. */
export interface OpenAnswer {
  readonly sent: boolean;
  /** 0: no status line arrived. */
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trouble?: string;
  /** The bytes as they arrive. @throws BrokenBody */
  readonly chunks: AsyncIterable<Buffer>;
  /** Aborts the answer; the unread rest is discarded. */
  readonly close: () => void;
}

/**
 * Beyond the usual timeout, a large answer may take as long as it needs at this rate: it may be long, but must not
 * trickle, because it occupies one of the site's connections.
 */
const MIN_BYTES_PER_SECOND = 64 << 10;

/** For traces: the instrumentation of undici does not see these requests. */
const listRequests = channel('jobmirror:list-request');

/** Never throws for anything the network or the site does, never resends, never follows a redirect. */
function openAnswer({ url, headers, timeoutMs, signal, agent, slots, route }: GetRequest): Promise<OpenAnswer> {
  return new Promise((resolve, reject) => {
    let received = 0;
    const startedAt = performance.now();
    let sent = false;
    let request: ClientRequest | undefined;
    let response: IncomingMessage | undefined;
    let end: { readonly trouble?: string } | undefined;
    let release: () => void = () => undefined;

    const finish = (trouble?: string): void => {
      if (end) return;
      end = { trouble };
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      release();
      if (!response) resolve({ sent, status: 0, headers: {}, trouble, chunks: chunks(), close });
    };
    const stop = (trouble: string): void => {
      finish(trouble);
      request?.destroy();
    };
    const close = (): void => stop('the rest of the answer was not needed');
    const onAbort = (): void => stop('the request was cancelled');
    const onTime = (): void => {
      const left = timeoutMs + (received / MIN_BYTES_PER_SECOND) * 1000 - (performance.now() - startedAt);
      if (left <= 0) stop(describeSlowness(timeoutMs, received, route));
      else timer = setTimeout(onTime, left);
    };
    let timer = setTimeout(onTime, timeoutMs);

    async function* chunks(): AsyncGenerator<Buffer> {
      try {
        for await (const chunk of response ?? []) {
          received += chunk.length;
          yield chunk;
        }
        finish(response?.complete === false ? 'the connection closed before the end of the answer' : undefined);
      } catch (error) {
        finish(describeTrouble(error as Error, route));
      }
      if (end?.trouble !== undefined) throw new BrokenBody(end.trouble);
    }

    function start(): void {
      const isSecure = url.protocol === 'https:';
      request = (isSecure ? requestHttps : requestHttp)(url, {
        headers: { ...headers, ...route?.headers },
        agent,
        path: route?.target(url) ?? url.pathname + url.search,
      });
      listRequests.publish({ request });
      request.on('socket', (socket: Socket) => {
        if (!socket.connecting) sent = true;
        else socket.once(isSecure ? 'secureConnect' : 'connect', () => (sent = true));
      });
      request.on('response', (answer) => {
        const refusal = route?.refusalOf(answer.statusCode ?? 0, answer.headers);
        if (refusal !== undefined) {
          sent = false;
          return stop(refusal.message);
        }
        response = answer;
        answer.on('error', () => undefined);
        resolve({ sent: true, status: answer.statusCode ?? 0, headers: answer.headers, chunks: chunks(), close });
      });
      request.on('error', (error) => response === undefined && finish(describeTrouble(error, route)));
      request.on('close', () => response === undefined && finish('the connection closed before an answer'));
    }

    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    slots
      .take()
      .then((granted = () => undefined) => {
        if (end) return granted();
        release = granted;
        start();
      })
      .catch(reject);
  });
}

const describeSlowness = (timeoutMs: number, received: number, route: ProxyRoute | undefined): string =>
  `no complete answer within ${timeoutMs} ms` +
  (received === 0 ? '' : `, and it arrives slower than ${MIN_BYTES_PER_SECOND} bytes a second`) +
  throughProxy(route);
