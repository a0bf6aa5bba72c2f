// All faults. In responses: statuses of the site or of a proxy in front of it, refusals, broken bodies, and responses that
// do not come from the interface (HTML pages and redirects); and of connections.
import { setTimeout as delay } from 'node:timers/promises';
import { type FaultParameters, type FaultStep, fault, gone, sentAlready } from './fault-row.ts';
import { failure } from './write-xml.ts';

function retryHeader({ retryAfter, seconds }: Pick<FaultParameters, 'retryAfter' | 'seconds'>): Record<string, string> {
  if (retryAfter === 'none') return {};
  // A date has whole seconds (RFC 9110, 5.6.7). Round up: a client that waits for it must not be early.
  const date = new Date(Math.ceil(Date.now() / 1000 + seconds) * 1000);
  return { 'retry-after': retryAfter === 'date' ? date.toUTCString() : String(seconds) };
}

const failing = <const Name extends string>(name: Name, description: string, message: string) =>
  fault(name, `${description}; made: the request is processed anyway`, { made: false }, async (step, { made }) => {
    if (made) await step.process();
    return failure(Number(name), message);
  });

const refusing = <const Name extends string>(name: Name, description: string, message: string, headers = {}) =>
  fault(name, description, {}, async () => failure(Number(name), message, headers));

const waiting = <const Name extends string>(
  name: Name,
  description: string,
  message: string,
  defaults: Pick<FaultParameters, 'retryAfter' | 'seconds'>,
) => fault(name, description, defaults, async (_, given) => failure(Number(name), message, retryHeader(given)));

export const status500 = failing('500', 'internal error', 'Something went wrong.');
export const status502 = failing('502', 'bad gateway', 'The server behind this one gave no answer.');
export const status504 = failing('504', 'gateway time-out', 'The server behind this one took too long.');
export const status503 = waiting('503', 'not available; nothing is processed', 'Down for maintenance.', {
  retryAfter: 'none',
  seconds: 1,
});
export const status429 = waiting('429', 'too many requests; nothing is processed', 'Too many requests.', {
  retryAfter: 'seconds',
  seconds: 1,
});
export const status401 = refusing(
  '401',
  'the token is not accepted, as after a change of the password',
  'The token is not valid.',
  { 'www-authenticate': 'Basic realm="Jobs"' },
);
export const status403 = refusing('403', 'not allowed', 'You are not allowed to do this.');
export const status404 = refusing('404', 'not found, as if somebody deleted the job by hand', 'There is no such job.');

// Faults in response bodies, and responses that do not come from the interface: HTML pages and redirects.

/** A copy of the response with another body and its length. */
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

export const hugeAnswer = fault(
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

export const slowAnswer = fault(
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

// Connection faults: what a client sees when the network, a load balancer or the site fails below HTTP.

const reset = ({ incoming: { socket } }: FaultStep): Response => {
  // The server ends its side once the client has ended its own. Node can't reset such a socket, and then never emits "close".
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
  return sentAlready;
};

export const latency = fault('latency', 'waits before the request is processed', { ms: 200 }, async (step, { ms }) => {
  await delay(ms, undefined, { signal: step.closing });
  return step.process();
});

export const refuse = fault(
  'refuse',
  'refuses connections: at once, or after the affected request is answered; ms 0: until switched off',
  { ms: 0 },
  async (step, { ms }) => {
    const answer = await step.process();
    void gone(step.outgoing).then(() => step.refuseConnections(ms));
    return answer;
  },
);

export const resetBefore = fault('reset-before', 'resets the connection; nothing is processed', {}, async (step) =>
  reset(step),
);

export const resetDuring = fault(
  'reset-during',
  'resets the connection once the request is read, and processes it anyway',
  {},
  async (step) => {
    await step.receive();
    const answer = reset(step);
    await step.process();
    return answer;
  },
);

export const resetAfter = fault(
  'reset-after',
  'processes the request and resets the connection instead of answering',
  {},
  async (step) => {
    await step.process();
    return reset(step);
  },
);

export const cut = fault(
  'cut',
  'processes the request and closes the connection in the middle of the answer',
  {},
  async (step) => {
    const answer = await step.process();
    const body = Buffer.from(await answer.arrayBuffer());
    const { outgoing } = step;
    outgoing.writeHead(answer.status, { ...Object.fromEntries(answer.headers), 'content-length': body.length || 1 });
    outgoing.write(body.subarray(0, body.length / 2), () => outgoing.destroy());
    return sentAlready;
  },
);

export const timeout = fault('timeout', 'never answers; nothing is processed', {}, async (step) => {
  await gone(step.outgoing);
  return sentAlready;
});

export const timeoutMade = fault('timeout-made', 'processes the request and never answers', {}, async (step) => {
  await step.process();
  await gone(step.outgoing);
  return sentAlready;
});

export const timeoutLate = fault(
  'timeout-late',
  'never answers, and processes the request this long after the client gave up',
  { ms: 100 },
  async (step, { ms }) => {
    await step.receive();
    await gone(step.outgoing);
    await delay(ms, undefined, { signal: step.closing });
    await step.process();
    return sentAlready;
  },
);
