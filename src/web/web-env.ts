// What the routes of pages and API know about their request, and the texts that name the place at which a page of a list ended.
import type { HttpBindings } from '@hono/node-server';
import type { z } from 'zod';
import type { PauseSubject, PersonsPause } from '../plan/pause-words.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { Client } from './limits.ts';
import { ProblemError } from './problem.ts';
import type { Visitor } from './visitor.ts';

export interface WebEnv {
  Bindings: HttpBindings;
  Variables: {
    client: Client;
    /** Reads once for all who ask for the same at the same time. */
    share: <T>(name: string, read: () => Promise<T>) => Promise<T>;
    /** What people have paused. */
    pauses: () => Promise<readonly PersonsPause[]>;
    /** A feed with its site, as far as the configuration has it. */
    aboutFeed: (feed: FeedName) => PauseSubject;
    /** Who asks; `undefined`: nobody known. Counts the request. @throws {ProblemError} if they ask too often or a token is wrong */
    visitor: () => Promise<Visitor | undefined>;
  };
}

// Turns the place at which a page ended into a text for the next request, and back.

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
