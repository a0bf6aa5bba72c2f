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
  /** All items as parts of a CSV file, for whoever accepts only that. */
  csv?(input: { readonly params: unknown; readonly query: unknown }, context: OperationContext): AsyncIterable<string>;
}
