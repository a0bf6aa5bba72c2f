// `jobmirror sandbox`: runs a practice job site until stopped.

import { resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { openServer, readConfig } from '../../runtime/app.ts';
import { stopSignal, UserError, unlessStopped } from '../../runtime/stop-signal.ts';
import type { EnsuredUser } from '../../sandbox/accounts.ts';
import {
  conditionDescriptions,
  type Fault,
  faultDescriptions,
  type ParameterDescription,
  readFault,
} from '../../sandbox/interface/fault-table.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/sandbox.ts';
import { readSetting, type SandboxSettings, settingDescriptions } from '../../sandbox/settings.ts';
import { createLogger } from '../../telemetry/log.ts';
import { printLine, printNotice } from '../../telemetry/print.ts';

/** Not the port of `/healthz`, so both can run side by side. */
const DEFAULT_PORT = 8081;

/** On a slow disk, stopping the embedded database may take this long; if it were cut off, the server might still run. */
const END_WITH_DATABASE_MS = 65_000;

interface Options {
  readonly host: string;
  readonly port: number;
  readonly config?: string;
  readonly dataDir: string;
  readonly account?: string;
}

export function sandboxCommand(): Command {
  const command = new Command('sandbox')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0: any free one', readPort, DEFAULT_PORT)
    .option('--config <file>', 'keep its jobs in the database of this configuration')
    .addOption(
      new Option('--data-dir <folder>', 'without --config: keep its jobs in the embedded database of this folder')
        .default('.jobmirror')
        .conflicts('config'),
    )
    .option(
      '--account <email>',
      'create this account unless it exists; set its password with the environment variable JOBMIRROR_SANDBOX_PASSWORD ' +
        '(default: random) and its token with JOBMIRROR_SANDBOX_TOKEN (default: generated)',
    );
  return addSandboxOptions(command).action(async (options: Options & Record<string, unknown>) => {
    const place =
      options.config === undefined
        ? { database: { kind: 'embedded' } as const, dataDir: resolve(options.dataDir) }
        : await readConfig({ config: options.config });
    const given = credentials(options.account);
    const secrets = [given.password, given.token].filter((text) => text !== undefined);
    const log = createLogger({ level: 'warn', secrets });
    const stopping = stopSignal(place.database.kind === 'embedded' ? END_WITH_DATABASE_MS : undefined);
    const server = await unlessStopped(stopping, openServer(place, printNotice, stopping.signal));
    if (server === undefined) return stopping.release();
    try {
      const sandbox = await start({
        databaseUrl: server.url,
        host: options.host,
        port: options.port,
        ...readSandboxOptions(options),
        log: (message, data) => log.warn(data ?? {}, message),
      });
      try {
        const user = options.account === undefined ? undefined : await ensure(sandbox, options.account, given);
        await printLine(describe(sandbox, options, given, user));
        await stopping.stopped;
      } finally {
        await sandbox.close();
      }
    } finally {
      await server.leave();
      stopping.release();
    }
  });
}

function readPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}

interface Credentials {
  readonly password?: string;
  readonly token?: string;
}

/** Read from the environment, because a process list would show options. */
function credentials(account: string | undefined): Credentials {
  if (account === undefined) return {};
  if (!/^[^\s@]+@[^\s@]+$/.test(account)) throw new UserError(`--account ${account}: not an e-mail address`);
  // Treat an empty variable as unset: other programs pass unset variables on as empty ones.
  const password = process.env.JOBMIRROR_SANDBOX_PASSWORD || undefined;
  const token = process.env.JOBMIRROR_SANDBOX_TOKEN || undefined;
  // RFC 7617, section 2: the user name of HTTP Basic ends at the first colon.
  if (token !== undefined && /[:\s\p{Cc}]/u.test(token)) {
    throw new UserError('JOBMIRROR_SANDBOX_TOKEN: a token holds no colon, space or control character');
  }
  return { password, token };
}

async function start(options: SandboxOptions): Promise<Sandbox> {
  try {
    return await startSandbox(options);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const { host, port } = options;
    switch (code) {
      case 'EADDRINUSE':
        throw new UserError(`port ${port} of ${host} is taken; choose another one with --port, or --port 0`, { cause });
      case 'EACCES':
        throw new UserError(`this user may not listen on port ${port}; choose one from 1024 on`, { cause });
      case 'EADDRNOTAVAIL':
      case 'ENOTFOUND':
        throw new UserError(`--host ${host} is not an address of this machine`, { cause });
      default:
        throw new UserError(`the sandbox can't start: ${message}`, { cause });
    }
  }
}

async function ensure(sandbox: Sandbox, account: string, { password, token }: Credentials): Promise<EnsuredUser> {
  try {
    return await sandbox.ensureUser(account, password, token);
  } catch (cause) {
    throw new UserError((cause as Error).message, { cause });
  }
}

function describe(
  { port, url }: Sandbox,
  options: Options & Record<string, unknown>,
  { token }: Credentials,
  user: EnsuredUser | undefined,
): string {
  const everywhere = options.host === '0.0.0.0' || options.host === '::';
  const address = everywhere ? `http://127.0.0.1:${port}` : url;
  const lines = [`The sandbox is at ${address}${everywhere ? ', and on every other address of this machine' : ''}`];
  for (const { name } of readSandboxOptions(options).faults) lines.push(`Fault switched on: ${name}`);
  if (user === undefined) lines.push('Register there, or start it with --account EMAIL.');
  else if (user.password === undefined) lines.push(`Account ${options.account}, with the password it was given.`);
  else lines.push(`Account ${options.account}, password ${user.password} (not shown again).`);
  const source = token === undefined ? 'log in, My Account, section API, Show Key' : 'that of JOBMIRROR_SANDBOX_TOKEN';
  lines.push(
    `Its token: ${source}. In the configuration of jobmirror:`,
    '  sites:',
    '    board:',
    `      base_url: ${address}`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how the configuration names a variable.
    '      token: ${BOARD_TOKEN}',
    'Ctrl-C stops it; its jobs are kept for the next start.',
  );
  return lines.join('\n');
}

// Builds the sandbox's command line options and their help from its descriptions of settings and faults.

const settingOptions = settingDescriptions.map(({ name, description, default: initial, accepts }) =>
  new Option(`--${name} <value>`, `${description}: ${accepts} (default: ${initial})`)
    .helpGroup('Settings, for what the interface leaves open (in parentheses: the section of docs/site-interface.md):')
    .argParser((text) => understood(() => readSetting(name, text))),
);

const faultOption = new Option('--fault <name=...>', 'switch a fault on; may be given several times, see below')
  .argParser((text, faults: readonly Fault[] | undefined) => [...(faults ?? []), understood(() => readFault(text))])
  .helpGroup('Faults:');

/** Adds an option for each setting, `--fault`, and the help on faults. */
function addSandboxOptions(command: Command): Command {
  for (const option of [...settingOptions, faultOption]) command.addOption(option);
  return command.addHelpText('after', faultHelp);
}

/** Extracts the settings and faults from the parsed options. */
function readSandboxOptions(options: Readonly<Record<string, unknown>>): {
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
      ...parameters.map((parameter) => line('', `  ${describeParameter(parameter)}`)),
    ]),
    '',
    'Conditions that every fault accepts as further parameters:',
    ...conditionDescriptions.map((condition) => line(condition.name, describeParameter(condition, false))),
    '',
    'Examples:',
    '  jobmirror sandbox --validation-status 400 --error-shape nested --delete-status 204',
    '  jobmirror sandbox --fault latency=ms:300 --fault 429=retry-after:seconds,seconds:5,rate:0.1,on:create+update',
  ].join('\n');
}

const nameLength = ({ name }: ParameterDescription): number => name.length;

function describeParameter(
  { name, description, accepts, default: initial }: ParameterDescription,
  named = true,
): string {
  const text = `${description}: ${accepts}${initial === undefined ? '' : ` (default: ${initial})`}`;
  return named ? `${name}: ${text}` : text;
}
