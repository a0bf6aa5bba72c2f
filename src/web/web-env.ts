// What the routes of pages and API know about their request.
import type { HttpBindings } from '@hono/node-server';
import type { PersonsPause } from '../plan/pause-words.ts';
import type { Client } from './access/limits.ts';
import type { Visitor } from './access/visitor.ts';

export interface WebEnv {
  Bindings: HttpBindings;
  Variables: {
    client: Client;
    /** What people have paused. */
    pauses: () => Promise<readonly PersonsPause[]>;
    /** Who asks; `undefined`: nobody known. Counts the request. @throws {ProblemError} if they ask too often or a token is wrong */
    visitor: () => Promise<Visitor | undefined>;
  };
}
