// The form of a row in the table of faults: what a fault is called, what it can be told, and what it does to a request.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { FaultParameters } from './fault-parameters.ts';

/** One request, as a fault meets it. */
export interface FaultStep {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Aborted when the sandbox closes: no wait may outlast it. */
  readonly closing: AbortSignal;
  /** Reads the request to its end, so that it can still be processed once the client has gone. */
  receive(): Promise<void>;
  /** Lets the request go on: to the faults behind this one, then to the site. */
  process(): Promise<Response>;
  /** Stops listening, for so many milliseconds; 0: until the faults are set anew. */
  refuseConnections(ms: number): void;
}

export interface FaultRow<Name extends string = string> {
  readonly name: Name;
  readonly description: string;
  /** The parameters that it takes, with their defaults. */
  readonly defaults: Partial<FaultParameters>;
  /** The answer that it gives back is sent, unless it is {@link sentAlready}. */
  strike(step: FaultStep, parameters: Partial<FaultParameters>): Promise<Response>;
}

/** Makes a row whose `strike` sees just the parameters that have a default. */
export const fault = <const Name extends string, Key extends keyof FaultParameters = never>(
  name: Name,
  description: string,
  defaults: Pick<FaultParameters, Key>,
  strike: (step: FaultStep, parameters: Pick<FaultParameters, Key>) => Promise<Response>,
): FaultRow<Name> => ({
  name,
  description,
  defaults: defaults as Partial<FaultParameters>,
  strike: (step, given) => strike(step, { ...defaults, ...given }),
});

/** Tells the server that the fault has dealt with the connection itself; the server knows it only as this very object. */
export const sentAlready: Response = RESPONSE_ALREADY_SENT;

/** Resolves when the client has gone, or the answer is out. */
export const gone = (outgoing: ServerResponse): Promise<void> =>
  outgoing.closed || outgoing.destroyed
    ? Promise.resolve()
    : new Promise((resolve) => outgoing.once('close', () => resolve()));
