// Checks a value of an address or form, and says what is wrong with it.
import type { z } from 'zod';
import { ProblemError } from '../problem.ts';

/** @throws {ProblemError} 400 with the reason */
export function expectValue<Value>(name: string, schema: z.ZodType<Value>, given: string | undefined): Value {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  throw new ProblemError({ status: 400, detail: `${name} ${read.error.issues[0]?.message ?? 'is wrong'}` });
}
