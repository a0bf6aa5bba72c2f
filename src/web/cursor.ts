// Turns the place at which a page ended into a text for the next request, and back.
import type { z } from 'zod';
import { ProblemError } from './problem.ts';

export const encodeCursor = (place: unknown): string | null =>
  place === undefined ? null : Buffer.from(JSON.stringify(place)).toString('base64url');

/** @throws {ProblemError} if the text is no place of this list */
export function decodeCursor<Place>(text: string | undefined, schema: z.ZodType<Place>): Place | undefined {
  if (text === undefined) return undefined;
  const place = schema.safeParse(parsed(Buffer.from(text, 'base64url').toString('utf8')));
  if (place.success) return place.data;
  const message = 'must be the next_cursor of an earlier answer of the same list';
  throw new ProblemError({
    status: 400,
    detail: `query.cursor ${message}`,
    faults: [{ where: 'query.cursor', message }],
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
