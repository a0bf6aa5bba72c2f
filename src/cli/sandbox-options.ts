// Builds the sandbox's command line options and their help from its descriptions of settings and faults.
import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  conditionDescriptions,
  type Fault,
  faultDescriptions,
  type ParameterDescription,
  readFault,
} from '../sandbox/faults/fault-table.ts';
import { readSetting, type SandboxSettings, settingDescriptions } from '../sandbox/settings.ts';

const settingOptions = settingDescriptions.map(({ name, description, default: initial, accepts }) =>
  new Option(`--${name} <value>`, `${description}: ${accepts} (default: ${initial})`)
    .helpGroup('Settings, for what the interface leaves open (in parentheses: the section of docs/site-interface.md):')
    .argParser((text) => understood(() => readSetting(name, text))),
);

const faultOption = new Option('--fault <name=...>', 'switch a fault on; may be given several times, see below')
  .argParser((text, faults: readonly Fault[] | undefined) => [...(faults ?? []), understood(() => readFault(text))])
  .helpGroup('Faults:');

/** Adds an option for each setting, `--fault`, and the help on faults. */
export function addSandboxOptions(command: Command): Command {
  for (const option of [...settingOptions, faultOption]) command.addOption(option);
  return command.addHelpText('after', faultHelp);
}

/** Extracts the settings and faults from the parsed options. */
export function readSandboxOptions(options: Readonly<Record<string, unknown>>): {
  readonly settings: Partial<SandboxSettings>;
  readonly faults: readonly Fault[];
} {
  const given = settingOptions.map((option) => options[option.attributeName()] as Partial<SandboxSettings> | undefined);
  return { settings: Object.assign({}, ...given), faults: (options.fault as readonly Fault[] | undefined) ?? [] };
}

/** Rethrows errors as commander errors, which name the option. */
function understood<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function faultHelp(): string {
  const width = Math.max(...faultDescriptions.map(({ name }) => name.length), ...conditionDescriptions.map(nameLength));
  const line = (name: string, text: string): string => `  ${name.padEnd(width)}  ${text}`;
  return [
    '',
    'Faults, in the order in which they apply to a request (--fault NAME or --fault NAME=parameter:value,parameter:value):',
    ...faultDescriptions.flatMap(({ name, description, parameters }) => [
      line(name, description),
      ...parameters.map((parameter) => line('', `  ${describe(parameter)}`)),
    ]),
    '',
    'Conditions that every fault accepts as further parameters:',
    ...conditionDescriptions.map((condition) => line(condition.name, describe(condition, false))),
    '',
    'Examples:',
    '  jobmirror sandbox --validation-status 400 --error-shape nested --delete-status 204',
    '  jobmirror sandbox --fault latency=ms:300 --fault 429=retry-after:seconds,seconds:5,rate:0.1,on:create+update',
  ].join('\n');
}

const nameLength = ({ name }: ParameterDescription): number => name.length;

function describe({ name, description, accepts, default: initial }: ParameterDescription, named = true): string {
  const text = `${description}: ${accepts}${initial === undefined ? '' : ` (default: ${initial})`}`;
  return named ? `${name}: ${text}` : text;
}
