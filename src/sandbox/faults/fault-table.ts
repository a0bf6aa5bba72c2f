// All faults, in the order in which they apply to a request: the first one that strikes is outermost and may pass the
// request on to the next. Delays come first, so they combine with any other fault.
import { dashed, spell } from '../spelling.ts';
import * as body from './body-faults.ts';
import * as connection from './connection-faults.ts';
import { conditionNames, type ParameterName, parameterTable } from './fault-parameters.ts';
import * as status from './status-faults.ts';

export const faultTable = [
  connection.latency,
  connection.refuse,
  connection.resetBefore,
  connection.timeout,
  connection.resetDuring,
  connection.resetAfter,
  connection.timeoutMade,
  connection.timeoutLate,
  connection.cut,
  body.redirectHttps,
  body.redirectHost,
  body.html,
  status.status429,
  status.status503,
  status.status502,
  status.status504,
  status.status500,
  status.status401,
  status.status403,
  status.status404,
  body.slow,
  body.huge,
  body.malformed,
  body.empty,
] as const;

export type FaultName = (typeof faultTable)[number]['name'];

/** The description of a fault parameter. */
export interface ParameterDescription {
  /** As written on the command line, such as `retry-after`. */
  readonly name: string;
  readonly description: string;
  readonly accepts: string;
  /** Absent for conditions, which do not apply by default. */
  readonly default?: string;
}

/** The description of a fault, for the command line help. */
export interface FaultDescription {
  readonly name: FaultName;
  readonly description: string;
  /** The parameters besides the conditions. */
  readonly parameters: readonly ParameterDescription[];
}

const describe = (name: ParameterName): ParameterDescription => ({
  name: dashed(name),
  description: parameterTable[name].description,
  accepts: parameterTable[name].accepts,
});

/** The descriptions of all faults. */
export const faultDescriptions: readonly FaultDescription[] = faultTable.map((row) => ({
  name: row.name,
  description: row.description,
  parameters: Object.entries(row.defaults).map(([name, value]) => ({
    ...describe(name as ParameterName),
    default: spell(value),
  })),
}));

/** The conditions that every fault accepts. */
export const conditionDescriptions: readonly ParameterDescription[] = conditionNames.map(describe);
