// Reads and validates what a request of the API carries, and says where it is wrong.
import type { HonoRequest } from 'hono';
import type { z } from 'zod';
import { badRequest, type Fault, ProblemError } from '../problem.ts';
import { receiveBody } from '../read-body.ts';
import type { HttpOperation } from './http-route.ts';

/** Larger than any posting that a site accepts. */
const MOST_BYTES = 1024 * 1024;

export interface RequestInput {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  /** As received. */
  readonly rawBody: Buffer;
}

/** @throws {ProblemError} with every fault */
export async function readRequest(request: HonoRequest, operation: HttpOperation): Promise<RequestInput> {
  const faults: Fault[] = [];
  const check = (schema: z.ZodType, value: unknown, where: string): unknown => {
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    faults.push(...result.error.issues.flatMap((issue) => faultsOf(issue, where)));
    return undefined;
  };
  const params = check(operation.params, request.param(), 'path');
  const query = check(operation.query, queryOf(request, faults), 'query');
  const rawBody = operation.body === undefined ? Buffer.alloc(0) : await receiveBody(request, MOST_BYTES);
  const body = operation.body === undefined ? undefined : check(operation.body, parseBody(request, rawBody), 'body');
  if (faults.length > 0) throw badRequest(faults);
  return { params, query, body, rawBody };
}

/** Each parameter once. */
function queryOf(request: HonoRequest, faults: Fault[]): Readonly<Record<string, string>> {
  const query: [string, string][] = [];
  for (const [name, values] of Object.entries(request.queries())) {
    if (values.length > 1) faults.push({ where: `query.${name}`, message: 'is given several times' });
    query.push([name, values[0] ?? '']);
  }
  return Object.fromEntries(query);
}

const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/** An empty body is none. */
function parseBody(request: HonoRequest, body: Buffer): unknown {
  if (body.length === 0) return undefined;
  const type = request.header('content-type') ?? '';
  // Forms of other pages can't send this type.
  if (!JSON_TYPE.test(type)) {
    throw new ProblemError({ status: 415, detail: 'the body must be JSON in UTF-8: Content-Type: application/json' });
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    throw badRequest([{ where: 'body', message: `is not JSON: ${(error as Error).message.slice(0, 200)}` }]);
  }
}

/** One per unknown name; the reasons of the alternative that fits best. */
export function faultsOf(issue: z.core.$ZodIssue, where: string): Fault[] {
  const at = [where, ...issue.path.map(String)].join('.').slice(0, 200);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ where: `${at}.${key}`.slice(0, 200), message: 'is not known here' }));
  }
  if (issue.code === 'invalid_key') {
    return issue.issues.map(({ message }) => ({ where: at, message }));
  }
  const message =
    issue.message.startsWith('Invalid input: expected') && issue.message.endsWith('received undefined')
      ? 'is missing'
      : issue.message;
  return [{ where: at, message }];
}
