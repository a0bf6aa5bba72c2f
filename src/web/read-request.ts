// Reads and validates what a request of the API carries, and says where it is wrong.

import { createHash } from 'node:crypto';
import type { HonoRequest } from 'hono';
import type { z } from 'zod';
import type { OperationContext, SingleOperation } from '../operations/operation.ts';
import { faultInWords } from '../operations/scalars.ts';
import { claimRequest, releaseRequest, renewClaim, storeAnswer } from '../store/access/repeated-requests.ts';
import type { Database } from '../store/postgres/database.ts';
import { badRequest, type Fault, ProblemError, receiveBody } from './problem.ts';

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
  const rawBody =
    operation.body === undefined ? Buffer.alloc(0) : await receiveBody(request, operation.mostBytes ?? MOST_BYTES);
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
  return jsonIn(body);
}

/** @throws {ProblemError} */
export function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch (error) {
    throw badRequest([{ where: 'body', message: `is not JSON: ${(error as Error).message.slice(0, 200)}` }]);
  }
}

/** @throws {ProblemError} */
export function checkedBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  throw badRequest(read.error.issues.flatMap((issue) => faultsOf(issue, 'body')));
}

/** One per unknown name; the reasons of the alternative that fits best. */
function faultsOf(issue: z.core.$ZodIssue, where: string): Fault[] {
  const at = [where, ...issue.path.map(String)].join('.').slice(0, 200);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ where: `${at}.${key}`.slice(0, 200), message: 'is not known here' }));
  }
  if (issue.code === 'invalid_key') {
    return issue.issues.map(({ message }) => ({ where: at, message }));
  }
  return [{ where: at, message: faultInWords(issue) }];
}

// Answers a repeated request with the same Idempotency-Key from the first one's answer.

const KEY = /^[\x21-\x7e][\x20-\x7e]{0,254}$/;

export interface RepeatableRequest {
  readonly who: string;
  /** The value of the header; `undefined`: there is none, and the work is done each time. */
  readonly key: string | undefined;
  /** Method and path. */
  readonly target: string;
  readonly body: Buffer;
  /** Its work may be done twice, and whoever repeats it can't use another key: done again if what became of it is not known. */
  readonly mayRepeat?: boolean;
}

/** Does the work once. Answers of errors that may pass are not kept. */
export async function doOnce(
  db: Database,
  { who, key, target, body, mayRepeat }: RepeatableRequest,
  answer: () => Promise<Response>,
): Promise<Response> {
  if (key === undefined) return answer();
  if (!KEY.test(key)) {
    throw badRequest([{ where: 'header.Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' }]);
  }
  const request = createHash('sha256').update(`${target}\n`).update(body).digest();
  const claim = await claimRequest(db, who, key, request, mayRepeat);
  switch (claim.kind) {
    case 'answered':
      return new Response(claim.answer.body, {
        status: claim.answer.status,
        headers: { ...claim.answer.headers, 'Idempotent-Replayed': 'true' },
      });
    case 'running':
      throw new ProblemError({
        status: 409,
        detail: 'a request with this Idempotency-Key is being answered right now; repeat it later',
        headers: { 'Retry-After': '1' },
      });
    case 'unknown':
      // Not done again: it may have been done, and what it would act on now may be something else.
      throw new ProblemError({
        status: 409,
        detail:
          'what became of the request with this Idempotency-Key is not known; look at what it was about, ' +
          'and if it is still to be done, send it with a new key',
      });
    case 'other':
      throw new ProblemError({
        status: 422,
        detail: 'this Idempotency-Key was used for another request; use a new one for each request',
      });
    case 'first':
      return keep(db, who, key, answer);
    default:
      return claim satisfies never;
  }
}

async function keep(db: Database, who: string, key: string, answer: () => Promise<Response>): Promise<Response> {
  const stopRenewing = renewClaim(db, who, key);
  try {
    const response = await answer().catch(async (error: unknown) => {
      await releaseRequest(db, who, key).catch(() => undefined);
      throw error;
    });
    const text = await response.text();
    const headers = Object.fromEntries(response.headers);
    // Not released if this fails: the work is done, and a repeated request must not do it at once again.
    await storeAnswer(db, who, key, { status: response.status, headers, body: text });
    return new Response(text, { status: response.status, headers });
  } finally {
    stopRenewing();
  }
}

// One operation as the HTTP API has it: its schemas validate requests, and the OpenAPI document is made of them.

export interface OperationResult {
  readonly status?: 200 | 202;
  readonly body: unknown;
  /** Its path below `/api/v1` becomes the header `Location`. */
  readonly location?: string;
}

export interface HttpOperation extends Pick<SingleOperation, 'id' | 'path' | 'summary' | 'scope' | 'mostBytes'> {
  readonly method: 'get' | 'post';
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body: z.ZodType | undefined;
  readonly status: 200 | 202;
  readonly response: z.ZodType;
  run(
    input: { readonly params: unknown; readonly query: unknown; readonly body: unknown },
    context: OperationContext,
  ): Promise<OperationResult>;
  /** All items as parts of a CSV file, for whoever accepts only that. */
  csv?(input: { readonly params: unknown; readonly query: unknown }, context: OperationContext): AsyncIterable<string>;
}
