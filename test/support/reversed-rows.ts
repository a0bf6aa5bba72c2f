// Reverses the rows of statements that say no order, in reusable test databases: Postgres may return them in any order, which no
// test must rely on.
import pg from 'pg';
import { keepsConnections } from './reused-connections.ts';

interface Client {
  readonly database: string | undefined;
}

interface Statement {
  readonly text?: string;
  readonly submit?: unknown;
}

interface Answer {
  readonly rows?: unknown[];
}

type Answered = (error: Error | null, answer?: Answer) => void;

/** Says in which order its rows come; the rows of a cursor come as its own statement says. */
const ORDERED = /\border by\b|^\s*fetch\b/i;

const prototype = pg.Client.prototype as unknown as { query: unknown };
const query = prototype.query as (this: Client, statement: unknown, ...rest: unknown[]) => unknown;

function reversed<A extends Answer | undefined>(answer: A): A {
  answer?.rows?.reverse();
  return answer;
}

prototype.query = function (this: Client, given: string | Statement, ...rest: unknown[]) {
  const { text, submit }: Statement = typeof given === 'string' ? { text: given } : given;
  const isReversed = text !== undefined && submit === undefined && !ORDERED.test(text);
  if (!isReversed || !keepsConnections(this.database)) return query.call(this, given, ...rest);
  // A pool gives a function to call.
  const done = rest.at(-1);
  if (typeof done === 'function') {
    const answered: Answered = (error, answer) => (done as Answered)(error, reversed(answer));
    return query.call(this, given, ...rest.slice(0, -1), answered);
  }
  return (query.call(this, given, ...rest) as Promise<Answer>).then(reversed);
};
