// A row in the table of faults: name, effect on a request, and the parameters, with their meaning, accepted values and
// parsing.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Operation, operations } from './write-xml.ts';

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

interface FaultRow<Name extends string = string> {
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

// The parameters of faults: meaning, accepted values and parsing.

/** Conditions for a fault to strike. Without any: every request. */
export interface FaultCondition {
  /** Strikes only these operations. */
  readonly on?: readonly Operation[];
  /** Spares this many requests first. */
  readonly after?: number;
  /** Strikes at most this many times. */
  readonly count?: number;
  /** The probability, 0 to 1, of striking a request; drawn from a seeded generator. */
  readonly rate?: number;
}

/** The other parameters; each fault accepts only some of them. */
export interface FaultParameters {
  readonly ms: number;
  /** Whether the site processes the request anyway. */
  readonly made: boolean;
  readonly retryAfter: 'none' | 'seconds' | 'date';
  /** The delay in Retry-After. */
  readonly seconds: number;
  readonly bytes: number;
  readonly status: number;
  /** The origin of another host. */
  readonly to: string;
}

export type ParameterName = keyof FaultParameters | keyof FaultCondition;

interface Parameter {
  readonly description: string;
  readonly accepts: string;
  /** `undefined`: not an accepted value. */
  parse(text: string): unknown;
}

const numberWithin = (description: string, least: number, most: number, whole = true): Parameter => ({
  description,
  accepts: `${least} to ${most}`,
  parse: (text) => {
    const number = text.trim() === '' ? Number.NaN : Number(text);
    return number >= least && number <= most && (!whole || Number.isInteger(number)) ? number : undefined;
  },
});

const oneOf = <Value>(description: string, values: Readonly<Record<string, Value>>): Parameter => ({
  description,
  accepts: Object.keys(values).join(', '),
  parse: (text) => (Object.hasOwn(values, text) ? values[text] : undefined),
});

const DAY_MS = 86_400_000;

/** Every parameter by its name in code; `retryAfter` is `retry-after` on the command line. */
export const parameterTable: Readonly<Record<ParameterName, Parameter>> = {
  on: {
    description: 'only these operations',
    accepts: `${operations.join(', ')}; several with +`,
    parse: (text) => {
      const names = text.split('+');
      return names.every((name) => operations.some((operation) => operation === name)) ? names : undefined;
    },
  },
  after: numberWithin('spares this many requests first', 0, 1e9),
  count: numberWithin('strikes at most this many times', 1, 1e9),
  rate: numberWithin('probability of striking a request', 0, 1, false),
  ms: numberWithin('time in milliseconds', 0, DAY_MS),
  made: oneOf('whether the site processes the request anyway', { yes: true, no: false }),
  retryAfter: oneOf('form of the Retry-After header', { none: 'none', seconds: 'seconds', date: 'date' }),
  seconds: numberWithin('delay in the Retry-After header', 0, DAY_MS / 1000),
  bytes: numberWithin('length of the body', 1, 1e10),
  status: numberWithin('status of the answer', 200, 599),
  to: {
    description: 'origin of the other host',
    accepts: 'http://host:port',
    parse: (text) => (/^https?:\/\/[^/?#@\s]+$/.test(text) ? text : undefined),
  },
};

/** The parameters that every fault accepts. */
export const conditionNames: readonly (keyof FaultCondition)[] = ['on', 'after', 'count', 'rate'];
