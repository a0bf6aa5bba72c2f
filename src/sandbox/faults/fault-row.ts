// A row in the table of faults: name, parameters, and effect on a request.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { FaultParameters } from './fault-parameters.ts';

/** One request, as a fault sees it. */
export interface FaultStep {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Aborted when the sandbox closes, which ends every wait. */
  readonly closing: AbortSignal;
  /** Reads the whole request, which can then be processed even after the client is gone. */
  receive(): Promise<void>;
  /** Passes the request on to the later faults, then to the site. */
  process(): Promise<Response>;
  /** Stops listening for `ms` milliseconds; 0: until the faults are replaced. */
  refuseConnections(ms: number): void;
}

export interface FaultRow<Name extends string = string> {
  readonly name: Name;
  readonly description: string;
  /** The accepted parameters with their defaults. */
  readonly defaults: Partial<FaultParameters>;
  /** The returned response is sent, unless it is {@link sentAlready}. */
  strike(step: FaultStep, parameters: Partial<FaultParameters>): Promise<Response>;
}

/** Makes a row whose `strike` receives only the parameters that have a default. */
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

/** Tells the server that the fault handled the connection itself. The server recognises it by object identity. */
export const sentAlready: Response = RESPONSE_ALREADY_SENT;

/** Resolves when the client is gone or the response is sent. */
export const gone = (outgoing: ServerResponse): Promise<void> =>
  outgoing.closed || outgoing.destroyed
    ? Promise.resolve()
    : new Promise((resolve) => outgoing.once('close', () => resolve()));
