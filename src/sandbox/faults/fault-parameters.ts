// What a fault can be told: each parameter with its meaning, what it accepts and how it is read from text.
import { type Operation, operations } from '../interface/operation.ts';

/** When a fault strikes. Without any of these: every request. */
export interface FaultCondition {
  /** Only these operations. */
  readonly on?: readonly Operation[];
  /** The first so many requests that it could strike go unharmed. */
  readonly after?: number;
  /** Strikes so many times at most. */
  readonly count?: number;
  /** Probability, 0 to 1, that it strikes a request; drawn from a seeded generator. */
  readonly rate?: number;
}

/** What the faults can be told besides; each takes only some of these. */
export interface FaultParameters {
  readonly ms: number;
  /** Whether the site does what it was asked all the same. */
  readonly made: boolean;
  readonly retryAfter: 'none' | 'seconds' | 'date';
  /** The waiting time that Retry-After names. */
  readonly seconds: number;
  readonly bytes: number;
  readonly status: number;
  /** Origin of another host. */
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

/** Every parameter, described, by its name in code; `retryAfter` is written `retry-after` on the command line. */
export const parameterTable: Readonly<Record<ParameterName, Parameter>> = {
  on: {
    description: 'only these operations',
    accepts: `${operations.join(', ')}; several with +`,
    parse: (text) => {
      const names = text.split('+');
      return names.every((name) => operations.some((operation) => operation === name)) ? names : undefined;
    },
  },
  after: numberWithin('the first so many requests go unharmed', 0, 1e9),
  count: numberWithin('strikes so many times at most', 1, 1e9),
  rate: numberWithin('probability that it strikes a request', 0, 1, false),
  ms: numberWithin('time in milliseconds', 0, DAY_MS),
  made: oneOf('whether the site does what it was asked all the same', { yes: true, no: false }),
  retryAfter: oneOf('form of the Retry-After header', { none: 'none', seconds: 'seconds', date: 'date' }),
  seconds: numberWithin('waiting time that Retry-After names', 0, DAY_MS / 1000),
  bytes: numberWithin('length of the body', 1, 1e10),
  status: numberWithin('status of the answer', 200, 599),
  to: {
    description: 'origin of the other host',
    accepts: 'http://host:port',
    parse: (text) => (/^https?:\/\/[^/?#@\s]+$/.test(text) ? text : undefined),
  },
};

/** The parameters that every fault takes. */
export const conditionNames: readonly (keyof FaultCondition)[] = ['on', 'after', 'count', 'rate'];
