// Makes a command of an operation: arguments and options from its input, JSON from its output, and a text view.
import { Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { refusingControl } from '../../operations/control.ts';
import type { ListOperation, ListPage, OperationContext, SingleOperation } from '../../operations/operation.ts';
import {
  choicesOf,
  elementOf,
  faultInWords,
  fromText,
  isFlag,
  isList,
  isOptional,
  membersOf,
} from '../../operations/scalars.ts';
import type { App, AppOptions } from '../../runtime/app.ts';
import { type ExitStatus, UserError } from '../../runtime/stop-signal.ts';
import { printJson, printLine, printLines } from '../../telemetry/print.ts';
import {
  ACTOR,
  actorName,
  CONFIG,
  type CommonOptions,
  commandWriter,
  positiveNumber,
  type WriteCommand,
} from './command-line.ts';
import { withApp } from './with-app.ts';

/** Options as commander gives them, by their names in camel case. */
export type GivenOptions = Readonly<Record<string, unknown>>;

type CommandOptions = GivenOptions & Pick<CommonOptions, 'config'>;

interface CommandForm {
  readonly name: string;
  /** By default the operation's summary. */
  readonly description?: string;
  /** Members of the input that are arguments, in their order; the others are options. */
  readonly arguments?: readonly string[];
  /** What help says of members that the operation does not describe, or describes for programs. */
  readonly help?: Readonly<Record<string, string>>;
  /** Options that are named otherwise than their member, perhaps with what their value is: `older-than <duration>`. */
  readonly flags?: Readonly<Record<string, string>>;
  /** What of the configuration must be right; by default all but what only `start` serves. */
  readonly needs?: AppOptions['needs'];
  /** Adds arguments and options that are no members of the input. */
  extend?(command: Command): Command;
}

type SingleForm<Input, Output> = CommandForm & {
  /** Builds the input itself, from all arguments and options; by default each member is one. */
  read?(given: readonly unknown[], options: GivenOptions): Promise<Input>;
  /** Help of `--json`. */
  readonly json?: string;
  /**
   * The members of the output that are printed as JSON objects of their own, one for each item of a list, and with which options.
   * By default the output is one object.
   */
  readonly objects?: Readonly<Partial<Record<keyof Output & string, true | ((options: GivenOptions) => boolean)>>>;
} & Told<Output>;

/** A line that says what was done, or what follows in this process, which prints everything itself. */
type Told<Output> =
  | {
      /** A line, or several. */
      view(done: Output, write: WriteCommand): string | readonly string[];
      /** By default, everything was done. */
      exitStatus?(done: Output, options: GivenOptions): ExitStatus | undefined;
    }
  | { follow(done: Output, app: App, options: CommandOptions, signal: AbortSignal): Promise<void> };

interface ListForm<Input, Item, Place> extends CommandForm {
  /** Items at most, unless an option says otherwise. */
  readonly shown: number;
  /** All of them are printed as JSON. */
  readonly allAsJson?: true;
  /** What one of them is, in the plural. */
  readonly noun: string;
  /** Help of `--before`, of a list whose places are the numbers of its items. */
  readonly before?: string;
  /** What people are shown as lines, if that is less than is printed as JSON. */
  forPeople?(input: Input): Input;
  /** Lines; how older ones are listed follows by itself. */
  view(
    page: ListPage<Item, Place>,
    around: {
      readonly app: App;
      readonly write: WriteCommand;
      readonly input: Input;
      readonly options: GivenOptions;
    },
  ): readonly string[] | Promise<readonly string[]>;
}

/** What the commands of operations print as JSON; of a command that prints everything itself, nothing is known. */
const PRINTED = new WeakMap<Command, readonly z.ZodType[]>();

/** The schemas of the objects that a command prints with `--json`. */
export const printedBy = (command: Command): readonly z.ZodType[] => PRINTED.get(command) ?? [];

/** Says which objects a command prints that does more than an operation. */
export function printing(command: Command, ...objects: readonly z.ZodType[]): Command {
  PRINTED.set(command, objects);
  return command;
}

export function singleCommand<Input extends z.ZodType, Output extends z.ZodType>(
  operation: SingleOperation<Input, Output>,
  form: SingleForm<z.output<Input>, z.output<Output>>,
): Command {
  const command = commandOf(operation, form);
  if (!(operation.reads ?? operation.scope === 'read')) command.option(...ACTOR);
  if ('view' in form) printing(command, ...objectsOf(operation.output, form.objects));
  return withCommon(command, form.json ?? 'print one JSON object').action(async (...given: unknown[]) => {
    const { values, options } = partsOf(given);
    const read = form.read ?? (async () => inputOf(operation, form, values, options));
    const around = form.needs === undefined ? options : { ...options, needs: form.needs };
    return runSingle(operation, await read(values, options), form, around, form.objects);
  });
}

/** Runs the operation as a command with these options does, and prints what was done. */
export const runSingle = <Input extends z.ZodType, Output extends z.ZodType>(
  operation: SingleOperation<Input, Output>,
  input: z.output<Input>,
  told: Told<z.output<Output>>,
  options: CommandOptions,
  objects?: ObjectMembers,
): Promise<void> =>
  withApp(options, async (app, signal) => {
    const done = await operation.run(input, askedHere(app, options, signal));
    if ('follow' in told) return told.follow(done, app, options, signal);
    process.exitCode = told.exitStatus?.(done, options) ?? process.exitCode;
    if (options.json === true) return printObjects(z.encode(operation.output, done), options, objects);
    const said = told.view(done, commandWriter(configOf(options)));
    return typeof said === 'string' ? printLine(said) : printLines(said);
  });

type ObjectMembers = Readonly<Record<string, true | ((options: GivenOptions) => boolean) | undefined>>;

/** The schemas of what is printed as objects of their own. */
function objectsOf(output: z.ZodType, objects: ObjectMembers | undefined): z.ZodType[] {
  if (objects === undefined) return [output];
  return Object.keys(objects).map((name) => {
    const member = membersOf(output)[name] as z.ZodType;
    const item = member instanceof z.ZodArray ? (member.element as z.ZodType) : member;
    return member.description === undefined ? item : item.describe(member.description);
  });
}

async function printObjects(printed: unknown, options: GivenOptions, objects: ObjectMembers | undefined) {
  if (objects === undefined) return printJson(printed);
  for (const [name, isPrinted] of Object.entries(objects)) {
    if (isPrinted !== true && isPrinted?.(options) !== true) continue;
    for (const each of [(printed as Readonly<Record<string, unknown>>)[name]].flat()) await printJson(each);
  }
}

/** The options of every operation's command. */
export const withCommon = (command: Command, json: string): Command =>
  command
    .option(...CONFIG)
    .option('--json', json)
    .exitOverride()
    .showHelpAfterError('(see --help)');

export function listCommand<Input extends z.ZodType, Item extends z.ZodType, Place extends z.ZodType>(
  operation: ListOperation<Input, Item, Place>,
  form: ListForm<z.output<Input>, z.output<Item>, z.output<Place>>,
): Command {
  const command = commandOf(operation, form);
  printing(command, operation.item);
  if (form.before !== undefined) command.option('--before <n>', form.before, positiveNumber);
  const shown = `${form.shown}${form.allAsJson === true ? '; with --json all' : ''}`;
  command.option('--limit <n>', `${form.noun} at most (default: ${shown})`, positiveNumber);
  return withCommon(command, 'print one JSON object for each').action((...given: unknown[]) => {
    const { values, options } = partsOf(given);
    return withApp(options, async (app) => {
      const input = inputOf(operation, form, values, options);
      const after = typeof options.before === 'number' ? operation.place.parse({ before: options.before }) : undefined;
      const asked = askedHere(app, options);
      if (options.json !== true) {
        const listed = form.forPeople?.(input) ?? input;
        const page = await operation.readPage(listed, { limit: Number(options.limit ?? form.shown), after }, asked);
        const write = commandWriter(configOf(options));
        const { before } = (page.next ?? {}) as { readonly before?: number };
        return printLines([
          ...(await form.view(page, { app, write, input, options })),
          ...(form.before === undefined || before === undefined ? [] : ['', olderOnes(command, before, write)]),
        ]);
      }
      const most = Number(options.limit ?? (form.allAsJson === true ? Number.POSITIVE_INFINITY : form.shown));
      for (let left = most, from = after; left > 0; ) {
        const page = await operation.readPage(input, { limit: Math.min(left, READ_AT_ONCE), after: from }, asked);
        for (const item of page.items) await printJson(z.encode(operation.item, item));
        if (page.next === undefined) return;
        left -= READ_AT_ONCE;
        from = page.next;
      }
    });
  });
}

/** The command as it was called, for what is older than the item with this number. */
export function olderOnes(command: Command, before: number, write: WriteCommand): string {
  const names: string[] = [];
  for (let each: Command | null = command; each?.parent != null; each = each.parent) names.unshift(each.name());
  const given = command.options.flatMap((option) => {
    const name = option.attributeName();
    if (command.getOptionValueSource(name) !== 'cli' || ['config', 'before', 'limit'].includes(name)) return [];
    const values: unknown[] = [command.getOptionValue(name)].flat();
    return values.flatMap((value) => [option.long ?? '', ...(value === true ? [] : [String(value)])]);
  });
  return `Older ones: ${write([...names, ...command.args, ...given, '--before', String(before)])}`;
}

/** A page of a search takes the longer the more matches, so that few large pages take less than many. */
const READ_AT_ONCE = 5_000;

type AnyOperation = SingleOperation | ListOperation;

function commandOf({ input, summary }: AnyOperation, form: CommandForm): Command {
  const command = new Command(form.name).description(form.description ?? beginning(summary));
  const members = 'read' in form ? {} : membersOf(input);
  for (const name of form.arguments ?? []) {
    const schema = members[name] as z.ZodType;
    const word = isList(schema) ? `${name.replace(/s$/, '')}...` : name;
    const term = isOptional(schema) ? `[${word}]` : `<${word}>`;
    if (isList(schema)) command.argument(term, helpOf(name, schema, form));
    else command.argument(term, helpOf(name, schema, form), readerOf(schema));
  }
  const options = Object.entries(members).filter(([name]) => form.arguments?.includes(name) !== true);
  addOptions(command, Object.fromEntries(options), form);
  return form.extend?.(command) ?? command;
}

/** An option for each of these members of an input. */
export function addOptions(
  command: Command,
  members: Readonly<Record<string, z.ZodType>>,
  form: Pick<CommandForm, 'flags' | 'help'>,
): Command {
  for (const [name, schema] of Object.entries(members)) {
    const flag = flagOf(name, form);
    const term = isFlag(schema) || flag.includes('<') ? flag : `${flag} <${lastWord(flag)}>`;
    const option = new Option(term, helpOf(name, schema, form));
    option.argChoices = choicesOf(schema);
    if (isList(schema)) option.argParser(listReaderOf(schema));
    else if (!isFlag(schema)) option.argParser(readerOf(schema));
    command.addOption(option.makeOptionMandatory(!isOptional(schema)));
  }
  return command;
}

/** The members that were given as options. */
export const givenMembers = (
  members: Readonly<Record<string, z.ZodType>>,
  form: Pick<CommandForm, 'flags'>,
  options: GivenOptions,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.keys(members).flatMap((name) => {
      const value = options[nameOf(flagOf(name, form))];
      return value === undefined ? [] : [[name, value]];
    }),
  );

const flagOf = (name: string, { flags }: Pick<CommandForm, 'flags'>): string =>
  `--${flags?.[name] ?? name.replaceAll('_', '-')}`;

/** Commander passes the arguments, the options and the command. */
function partsOf(given: readonly unknown[]) {
  const options = given.at(-2) as CommandOptions;
  return { values: given.slice(0, -2), options };
}

/** @throws {UserError} with everything that is wrong */
export function inputOf<Input extends z.ZodType>(
  { input }: { readonly input: Input },
  form: CommandForm,
  values: readonly unknown[],
  options: GivenOptions,
): z.output<Input> {
  const members = Object.keys(membersOf(input)).flatMap((name) => {
    const at = form.arguments?.indexOf(name) ?? -1;
    const value = at === -1 ? options[nameOf(flagOf(name, form))] : values[at];
    const isGiven = value !== undefined && !(Array.isArray(value) && value.length === 0);
    return isGiven ? [[name, value] as const] : [];
  });
  const read = input.safeParse(Object.fromEntries(members));
  if (read.success) return read.data;
  throw new UserError(read.error.issues.map((issue) => `${issue.path.join('.')} ${faultInWords(issue)}`).join('; '));
}

/** Runs an operation within a command that does more than that. */
export const runWithin = <Input extends z.ZodType, Output extends z.ZodType>(
  operation: SingleOperation<Input, Output>,
  input: z.output<Input>,
  app: App,
  options: object,
): Promise<z.output<Output>> => operation.run(input, askedHere(app, { ...options }));

/** What an operation works with when a command asks for it, which carries out itself what it starts: see `follow`. */
export const askedHere = (app: App, { as }: GivenOptions, signal?: AbortSignal): OperationContext => ({
  app,
  ...(signal && { signal }),
  actor: actorName(typeof as === 'string' ? as : undefined),
  control: refusingControl('only a process of start can do this'),
});

const configOf = ({ config }: GivenOptions): string | undefined => (typeof config === 'string' ? config : undefined);

/** Says of a wrong text what it must be. */
export function readerOf<Read>(schema: z.ZodType<Read>): (text: string) => Read {
  const reader = fromText(schema) as z.ZodType<Read>;
  return (text) => {
    const read = reader.safeParse(text);
    if (read.success) return read.data;
    throw new InvalidArgumentError(`It ${faultInWords(read.error.issues[0])}.`);
  };
}

/** An option that may be given several times. */
function listReaderOf(schema: z.ZodType): (text: string, before: readonly unknown[] | undefined) => readonly unknown[] {
  const read = readerOf(elementOf(schema));
  return (text, before = []) => [...before, read(text)];
}

const helpOf = (name: string, schema: z.ZodType, { help }: Pick<CommandForm, 'help'>): string =>
  help?.[name] ?? beginning(schema.description ?? '').replace(/\.$/, '');

const beginning = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1);
const lastWord = (flag: string): string => flag.split('-').at(-1) ?? flag;

/** The name under which commander keeps an option. */
const nameOf = (flag: string): string => new Option(flag).attributeName();
