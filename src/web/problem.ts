// Errors of the API as problem details (RFC 9457).
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

export const TITLES: Readonly<Record<HttpProblem['status'], string>> = {
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
    title: TITLES[status],
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
