// Parses `--fault`: `timeout-made`, `429=retry-after:date,seconds:5`, `latency=ms:300,rate:0.1,on:create+update`.
import { dashed } from '../spelling.ts';
import { conditionNames, type FaultCondition, type FaultParameters, parameterTable } from './fault-parameters.ts';
import { type FaultName, faultTable } from './fault-table.ts';

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
    const key = known.find((candidate) => dashed(candidate) === label);
    if (!key) throw new Error(`fault ${name} has no parameter '${label}': it takes ${known.map(dashed).join(', ')}`);
    const value = parameterTable[key].parse(written);
    if (value === undefined)
      throw new Error(`fault ${name}: ${label} '${written}' is not one of ${parameterTable[key].accepts}`);
    return [key, value];
  });
  return { name: row.name, ...Object.fromEntries(parameters) };
}
