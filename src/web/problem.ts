// Answers of the HTTP server besides pages: errors as problem details (RFC 9457), and CSV files; and bounded bodies of requests.
import type { HonoRequest } from 'hono';
import { z } from 'zod';

/** What a request got wrong, and where. */
export interface Fault {
  /** `body.fields.title`, `query.limit`, `path.key` or `header.Idempotency-Key`. */
  readonly where: string;
  readonly message: string;
}

export interface HttpProblem {
  readonly status: 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 503;
  /** What is wrong, and what to do next. */
  readonly detail: string;
  readonly faults?: readonly Fault[];
  /** Further members, such as the current version of what was changed. */
  readonly more?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Ends a request with a problem, from wherever it is noticed. */
export class ProblemError extends Error {
  override name = 'ProblemError';
  readonly problem: HttpProblem;

  constructor(problem: HttpProblem) {
    super(problem.detail);
    this.problem = problem;
  }
}

export const PROBLEM_TITLES: Readonly<Record<HttpProblem['status'], string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

export function problemResponse({ status, detail, faults, more, headers }: HttpProblem): Response {
  const body = {
    type: 'about:blank',
    title: PROBLEM_TITLES[status],
    status,
    detail,
    ...(faults && { errors: faults }),
    ...more,
  };
  return new Response(`${JSON.stringify(body)}\n`, {
    status,
    headers: { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...headers },
  });
}

export const notFound = (detail: string): ProblemError => new ProblemError({ status: 404, detail });

/** A request that is malformed, with what is wrong where. */
export function badRequest(faults: readonly Fault[]): ProblemError {
  const detail = faults.map(({ where, message }) => `${where} ${message}`).join('; ');
  return new ProblemError({ status: 400, detail: detail.slice(0, 1_000), faults: faults.slice(0, 50) });
}

export const problemAnswer = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    errors: z.array(z.looseObject({ where: z.string(), message: z.string() })).optional(),
  })
  .meta({ title: 'Problem' });

// Answers with a CSV file that is made while it is read, for the API and the pages.

/** The first part is made before the answer begins, so that what is wrong with the request still has its own answer. */
export async function csvResponse(parts: AsyncIterable<string>, name: string): Promise<Response> {
  const made = parts[Symbol.asyncIterator]();
  const encoder = new TextEncoder();
  const ahead = [await made.next(), await made.next()];
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const part = ahead.shift() ?? (await made.next());
      if (part.done === true) controller.close();
      else controller.enqueue(encoder.encode(part.value));
    },
    async cancel() {
      await made.return?.();
    },
  });
  return new Response(body, {
    headers: {
      'Content-Type': 'text/csv; charset=utf-8; header=present',
      'Content-Disposition': `attachment; filename="${name}.csv"`,
      'Cache-Control': 'private, no-cache',
    },
  });
}

// Reads the body of a request up to a limit.

/** @throws {ProblemError} if it is larger, or ends early */
export async function receiveBody(request: HonoRequest, mostBytes: number): Promise<Buffer> {
  const tooLarge = new ProblemError({ status: 413, detail: `the body has more than ${mostBytes} bytes` });
  if (Number(request.header('content-length') ?? 0) > mostBytes) throw tooLarge;
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.raw.body ?? []) {
      size += chunk.length;
      if (size > mostBytes) throw tooLarge;
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    throw new ProblemError({ status: 400, detail: 'the body ended early' });
  }
  return Buffer.concat(chunks);
}
