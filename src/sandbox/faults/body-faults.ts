// Faults in response bodies, and responses that do not come from the interface: HTML pages and redirects.
import { setTimeout as delay } from 'node:timers/promises';
import { fault } from './fault-row.ts';

/** The same response with another body and its length. */
function withBody(answer: Response, body: string | ReadableStream<Uint8Array>): Response {
  const headers = new Headers(answer.headers);
  headers.delete('content-length');
  return new Response(body, { status: answer.status === 204 ? 200 : answer.status, headers });
}

/** A stream that produces its chunks on demand. */
const streamOf = (pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> => {
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await iterator.return?.();
    },
  });
};

export const malformed = fault(
  'malformed',
  'processes the request and answers with half of the XML',
  {},
  async (step) => {
    const answer = await step.process();
    const text = await answer.text();
    return withBody(answer, text.slice(0, text.length / 2) || '<job>');
  },
);

export const empty = fault('empty', 'processes the request and answers with an empty body', {}, async (step) =>
  withBody(await step.process(), ''),
);

const PIECE = Buffer.alloc(65_536, 'x');

async function* hugeJob(bytes: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from('<?xml version="1.0" encoding="UTF-8"?>\n<job>\n<title>');
  for (let left = bytes; left > 0; left -= PIECE.length) yield PIECE.subarray(0, Math.min(left, PIECE.length));
  yield Buffer.from('</title>\n</job>\n');
}

export const huge = fault(
  'huge',
  'processes the request and answers with a job whose title has this many bytes',
  { bytes: 100_000_000 },
  async (step, { bytes }) => withBody(await step.process(), streamOf(hugeJob(bytes))),
);

const SLOW_PIECES = 20;

async function* slowly(body: Uint8Array, ms: number, closing: AbortSignal): AsyncGenerator<Uint8Array> {
  const size = Math.max(1, Math.ceil(body.length / SLOW_PIECES));
  for (let at = 0; at < body.length; at += size) {
    await delay(ms / SLOW_PIECES, undefined, { signal: closing });
    yield body.subarray(at, at + size);
  }
}

export const slow = fault(
  'slow',
  'processes the request and takes this long to send the body, piece by piece',
  { ms: 10_000 },
  async (step, { ms }) => {
    const answer = await step.process();
    const body = new Uint8Array(await answer.arrayBuffer());
    return withBody(answer, streamOf(slowly(body, ms, step.closing)));
  },
);

const PAGE =
  '<!DOCTYPE html>\n<html><head><title>Error</title></head><body><h1>We will be back soon</h1><p>Sorry.</p></body></html>\n';

export const html = fault(
  'html',
  'answers with an HTML page; made: the request is processed anyway',
  { status: 502, made: false },
  async (step, { status, made }) => {
    if (made) await step.process();
    return new Response(PAGE, { status, headers: { 'content-type': 'text/html; charset=utf-8' } });
  },
);

const redirect = (status: number, location: string): Response => new Response(null, { status, headers: { location } });

export const redirectHttps = fault(
  'redirect-https',
  'redirects to https on the same host; nothing is processed',
  { status: 301 },
  async ({ incoming }, { status }) => redirect(status, `https://${incoming.headers.host}${incoming.url}`),
);

export const redirectHost = fault(
  'redirect-host',
  'redirects to another host; nothing is processed',
  { status: 302, to: 'http://elsewhere.invalid' },
  async ({ incoming }, { status, to }) => redirect(status, `${to}${incoming.url}`),
);
