// What the routes of pages and API know about their request.
import type { HttpBindings } from '@hono/node-server';
import type { PauseSubject, PersonsPause } from '../plan/pause-words.ts';
import type { FeedName } from '../posting/identifiers.ts';
import type { Client } from './access/limits.ts';
import type { Visitor } from './access/visitor.ts';

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
