// All faults, in the order in which they apply to a request, and what `--fault` says of them: `timeout-made`,
// `429=retry-after:date,seconds:5`, `latency=ms:300,rate:0.1,on:create+update`. The first one that strikes is outermost
// and may pass the request on to the next. Delays come first, so they combine with any other fault.
import { spell, toKebabCase } from '../settings.ts';
import {
  conditionNames,
  type FaultCondition,
  type FaultParameters,
  type ParameterName,
  parameterTable,
} from './fault-row.ts';
import * as faults from './response-faults.ts';

export const faultTable = [
  faults.latency,
  faults.refuse,
  faults.resetBefore,
  faults.timeout,
  faults.resetDuring,
  faults.resetAfter,
  faults.timeoutMade,
  faults.timeoutLate,
  faults.cut,
  faults.redirectHttps,
  faults.redirectHost,
  faults.html,
  faults.status429,
  faults.status503,
  faults.status502,
  faults.status504,
  faults.status500,
  faults.status401,
  faults.status403,
  faults.status404,
  faults.slowAnswer,
  faults.hugeAnswer,
  faults.malformed,
  faults.empty,
] as const;

export type FaultName = (typeof faultTable)[number]['name'];

export interface ParameterDescription {
  /** As written on the command line, such as `retry-after`. */
  readonly name: string;
  readonly description: string;
  readonly accepts: string;
  /** Absent for conditions, which do not apply by default. */
  readonly default?: string;
}

/** The description of a fault, for the command line help. */
interface FaultDescription {
  readonly name: FaultName;
  readonly description: string;
  /** The parameters besides the conditions. */
  readonly parameters: readonly ParameterDescription[];
}

const describe = (name: ParameterName): ParameterDescription => ({
  name: toKebabCase(name),
  description: parameterTable[name].description,
  accepts: parameterTable[name].accepts,
});

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

/** A configured fault: its name, parameters and conditions. */
export interface Fault extends FaultCondition, Partial<FaultParameters> {
  readonly name: FaultName;
}

/**
 * Parses one fault.
 * @param text `NAME` or `NAME=parameter:value,parameter:value`
 * @throws Error that lists the valid names or values
 */
export function readFault(text: string): Fault {
  const [, name = text, list] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  const row = faultTable.find((candidate) => candidate.name === name);
  if (!row)
    throw new Error(`no fault '${name}': there are ${faultTable.map((candidate) => candidate.name).join(', ')}`);
  const known = [...(Object.keys(row.defaults) as (keyof FaultParameters)[]), ...conditionNames];

  const given = (list ?? '').split(',').filter((entry) => entry !== '');
  const parameters = given.map((entry): [string, unknown] => {
    const [, label = entry, written = ''] = /^([^:]*):(.*)$/s.exec(entry) ?? [];
    const key = known.find((candidate) => toKebabCase(candidate) === label);
    if (!key)
      throw new Error(`fault ${name} has no parameter '${label}': it takes ${known.map(toKebabCase).join(', ')}`);
    const value = parameterTable[key].parse(written);
    if (value === undefined)
      throw new Error(`fault ${name}: ${label} '${written}' is not one of ${parameterTable[key].accepts}`);
    return [key, value];
  });
  return { name: row.name, ...Object.fromEntries(parameters) };
}
