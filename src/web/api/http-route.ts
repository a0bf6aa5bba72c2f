// One operation as the HTTP API has it: its schemas validate requests, and the OpenAPI document is made of them.
import type { z } from 'zod';
import type { Scope } from '../../config/build/web-config.ts';
import type { OperationContext } from '../../operations/operation.ts';

export interface OperationResult {
  readonly status?: 200 | 202;
  readonly body: unknown;
  /** Its path below `/api/v1` becomes the header `Location`. */
  readonly location?: string;
}

export interface HttpOperation {
  readonly id: string;
  readonly method: 'get' | 'post';
  /** Below `/api/v1`, with parameters in braces. */
  readonly path: string;
  readonly summary: string;
  readonly scope: Scope;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly body: z.ZodType | undefined;
  readonly status: 200 | 202;
  readonly response: z.ZodType;
  run(
    input: { readonly params: unknown; readonly query: unknown; readonly body: unknown },
    context: OperationContext,
  ): Promise<OperationResult>;
}

interface Input<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType> {
  readonly params: z.output<Params>;
  readonly query: z.output<Query>;
  readonly body: z.output<Body>;
}

/** Keeps the types of the schemas for the code of the operation. */
export function route<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType>(
  written: Pick<HttpOperation, 'id' | 'method' | 'path' | 'summary' | 'scope' | 'response'> & {
    readonly params: Params;
    readonly query: Query;
    readonly body?: Body;
    readonly status?: HttpOperation['status'];
    run(input: Input<Params, Query, Body>, context: OperationContext): Promise<OperationResult>;
  },
): HttpOperation {
  return {
    ...written,
    status: written.status ?? 200,
    body: written.body,
    run: (input, context) => written.run(input as Input<Params, Query, Body>, context),
  };
}
