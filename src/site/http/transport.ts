// Turns one HTTP request into what came back for it: the answer, or how far it got without one.
import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, Pool } from 'undici';
import type { SiteOptions } from '../exchange.ts';
import { readBodyPieces, readBodyText } from '../xml/body-text.ts';
import type { Deadline } from './deadline.ts';
import { openAnswer } from './open-answer.ts';
import { describeTrouble } from './trouble.ts';

/** One request, ready to go. */
export interface Wire {
  readonly method: 'POST' | 'PUT' | 'DELETE' | 'GET';
  readonly url: URL;
  readonly body?: string;
  /** Bytes of the answer's body at most, unpacked; what is above is not read. */
  readonly maxBytes: number;
  /** Past it the request is not begun any more. */
  readonly notAfter?: Deadline;
  readonly signal?: AbortSignal;
}

/** What came back, as it came: it may hold the token, and what is stored or shown of it must not. */
export interface Answer extends AnswerHead {
  /** Another `Location` than the first, where there are several. */
  readonly otherLocation?: string;
  readonly body: string;
  /** Why the answer is missing or not complete, in words; absent: it is complete. */
  readonly trouble?: string;
}

type HeaderName =
  | 'location'
  | 'content-type'
  | 'retry-after'
  | 'date'
  | 'link'
  | 'age'
  | 'content-range'
  | `x-total${'' | '-count' | '-pages'}`
  | 'total-count';

export interface AnswerHead {
  /** Whether the request was begun: any byte of it may have left. */
  readonly sent: boolean;
  /** 0: no status line arrived. */
  readonly status: number;
  /** One header's value, or the empty string. */
  readonly header: (name: HeaderName) => string;
}

/** An answer of any size, whose body is read while it comes in. */
export interface StreamedAnswer extends AnswerHead {
  /** Why no answer began, in words. */
  readonly trouble?: string;
  /** The body's text. @throws BrokenBody where it can't be read on */
  readonly pieces: AsyncIterable<string>;
  readonly close: () => void;
}

export interface Transport {
  /** Sends once. Never throws for what the network or the site does, never sends again, never follows a redirect. */
  exchange(wire: Wire): Promise<Answer>;
  /** Begins a GET. The answer lasts until it is read to its end, or closed. */
  stream(wire: Pick<Wire, 'url' | 'maxBytes' | 'signal'>): Promise<StreamedAnswer>;
  /** From now on no connection is used again that is open already. */
  renew(): void;
  close(): Promise<void>;
}

/**
 * Opens a pool of connections to one site. A connection is used again for at most {@link IDLE_MS} after its last answer,
 * less where the site announces less: that is below what servers grant (5 s in Node.js and Apache, more elsewhere), so
 * that a create seldom goes into a connection that the server is just closing, the one doubt that is of our own making.
 * What undici learns of such a close before it writes, it settles with a new connection; after that the outcome is open.
 */
export function openTransport(options: SiteOptions): Transport {
  const authorization = `Basic ${Buffer.from(`${options.token.reveal()}:X`).toString('base64')}`;
  const open = (): Pool =>
    new Pool(options.baseUrl.origin, {
      connections: options.concurrency,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: options.timeoutMs },
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      keepAliveTimeoutThreshold: 2_000,
      // The one deadline below covers them, also where an answer trickles in.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  let pool = open();
  return {
    async exchange(wire) {
      const raw = await dispatchOnce(pool, wire, options.timeoutMs, authorization);
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
        body: body.text,
        trouble,
      };
    },
    async stream({ url, maxBytes, signal }) {
      const { timeoutMs } = options;
      const headers = requestHeaders({ method: 'GET', url, maxBytes }, authorization);
      const raw = await openAnswer(pool, { path: url.pathname + url.search, headers, timeoutMs, signal });
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
      // What is under way on it ends as it would have.
      former.close().catch(() => undefined);
    },
    close: () => pool.close(),
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

// One request is begun at most once: `begun` is set in the same tick in which undici writes the first bytes, and a
// second start, which undici may try after a connection closed without an error, is refused.
function dispatchOnce(pool: Pool, wire: Wire, timeoutMs: number, authorization: string): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let done = false;
    let begun: Dispatcher.DispatchController | undefined;
    let status = 0;
    let headers: IncomingHttpHeaders = {};
    let size = 0;
    const chunks: Buffer[] = [];

    const finish = (trouble?: string): void => {
      if (done) return;
      done = true;
      clearTimeout(deadline);
      wire.signal?.removeEventListener('abort', onAbort);
      resolve({ sent: begun !== undefined, status, headers, bytes: Buffer.concat(chunks), trouble });
    };
    const stop = (trouble: string): void => {
      finish(trouble);
      begun?.abort(new Error(trouble));
    };
    const onAbort = (): void => stop('the request was cancelled');
    const deadline = setTimeout(() => stop(`no complete answer within ${timeoutMs} ms`), timeoutMs);

    if (wire.signal?.aborted) return onAbort();
    wire.signal?.addEventListener('abort', onAbort, { once: true });
    pool.dispatch(
      {
        method: wire.method,
        path: wire.url.pathname + wire.url.search,
        headers: requestHeaders(wire, authorization),
        body: wire.body === undefined ? null : Buffer.from(wire.body),
      },
      {
        onRequestStart(controller) {
          if (begun) finish('the connection closed before an answer');
          // A process that was stopped for a while finds out here that its time is over.
          else if (wire.notAfter?.passed()) finish('its time was over');
          if (done) controller.abort(new Error('not to be sent'));
          else begun = controller;
        },
        onResponseStart(_controller, statusCode, received) {
          if (statusCode < 200) return;
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
        onResponseError: (_controller, error) => finish(describeTrouble(error)),
      },
    );
  });
}

// No content type without content: it belongs to POST and PUT only (site-interface.md, section 4).
function requestHeaders(wire: Wire, authorization: string): Record<string, string> {
  return {
    authorization,
    accept: 'application/xml',
    'accept-encoding': 'gzip',
    'user-agent': 'jobmirror',
    // What a cache kept of a list or a job is not what the site has now.
    ...(wire.method === 'GET' ? { 'cache-control': 'no-cache' } : {}),
    ...(wire.body === undefined ? {} : { 'content-type': 'application/xml' }),
  };
}
