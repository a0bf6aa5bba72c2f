// Sends one GET and streams the answer with backpressure, for answers too large to buffer.
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { BrokenBody } from '../xml/body-text.ts';
import { describeTrouble } from './trouble.ts';

export interface GetRequest {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
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

/** Unread bytes above which the connection is paused. */
const MAX_WAITING_BYTES = 256 << 10;
/**
 * Beyond the usual timeout, a large answer may take as long as it needs at this rate: it may be long, but must not
 * trickle, because it occupies one of the site's connections.
 */
const MIN_BYTES_PER_SECOND = 64 << 10;

/** Never throws for anything the network or the site does, never resends, never follows a redirect. */
export function openAnswer(pool: Dispatcher, request: GetRequest): Promise<OpenAnswer> {
  return new Promise((resolve) => {
    const waiting: Buffer[] = [];
    let waitingBytes = 0;
    let received = 0;
    const startedAt = performance.now();
    let controller: Dispatcher.DispatchController | undefined;
    let end: { readonly trouble?: string } | undefined;
    let head: Pick<OpenAnswer, 'status' | 'headers'> | undefined;
    let wake = (): void => {};

    const finish = (trouble?: string): void => {
      if (end) return;
      end = { trouble };
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', onAbort);
      if (!head) resolve({ sent: controller !== undefined, status: 0, headers: {}, trouble, chunks: chunks(), close });
      wake();
    };
    const stop = (trouble: string): void => {
      if (end) return;
      finish(trouble);
      controller?.abort(new Error(trouble));
    };
    const close = (): void => stop('the rest of the answer was not needed');
    const onAbort = (): void => stop('the request was cancelled');
    const onTime = (): void => {
      const left = request.timeoutMs + (received / MIN_BYTES_PER_SECOND) * 1000 - (performance.now() - startedAt);
      if (left <= 0) stop(describeSlowness(request.timeoutMs, received));
      else timer = setTimeout(onTime, left);
    };
    let timer = setTimeout(onTime, request.timeoutMs);

    async function* chunks(): AsyncGenerator<Buffer> {
      for (;;) {
        const chunk = waiting.shift();
        if (chunk) {
          waitingBytes -= chunk.length;
          if (waitingBytes === 0 && !end) controller?.resume();
          yield chunk;
        } else if (end?.trouble !== undefined) throw new BrokenBody(end.trouble);
        else if (end) return;
        else {
          await new Promise<void>((awake) => {
            wake = awake;
          });
        }
      }
    }

    if (request.signal?.aborted) return onAbort();
    request.signal?.addEventListener('abort', onAbort, { once: true });
    pool.dispatch(
      { method: 'GET', path: request.path, headers: request.headers, body: null },
      {
        onRequestStart(started) {
          if (controller) finish('the connection closed before an answer');
          if (end) started.abort(new Error('not to be sent'));
          else controller = started;
        },
        onResponseStart(_controller, status, headers) {
          if (status < 200 || end) return;
          head = { status, headers };
          resolve({ sent: true, ...head, chunks: chunks(), close });
        },
        onResponseData(_controller, chunk) {
          if (end) return;
          waiting.push(chunk);
          waitingBytes += chunk.length;
          received += chunk.length;
          if (waitingBytes > MAX_WAITING_BYTES) controller?.pause();
          wake();
        },
        onResponseEnd: () => finish(),
        onResponseError: (_controller, error) => finish(describeTrouble(error)),
      },
    );
  });
}

const describeSlowness = (timeoutMs: number, received: number): string =>
  received === 0
    ? `no complete answer within ${timeoutMs} ms`
    : `no complete answer within ${timeoutMs} ms, and it arrives slower than ${MIN_BYTES_PER_SECOND} bytes a second`;
