// `jobmirror feeds recognise`, `show-file`, `check-file`, `try-file`, `plan-file`, `save-file`, `versions`, `show-version` and `restore-version`:
// the settings of a feed, drafted, tried and saved; `upload`, `uploads` and `restore-upload`: the files that people upload for it.
import { createReadStream, fstatSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { z } from 'zod';
import { complaintLine } from '../../config/config-error.ts';
import { isAddress } from '../../config/include.ts';
import { CREDENTIAL_FORMS } from '../../config/schema/credentials-schema.ts';
import { fileErrorInWords } from '../../config/settings-file.ts';
import { UPLOADED_FILE } from '../../feed/source/sources.ts';
import {
  checkFeedText,
  listFeedVersions,
  restoreFeedVersion,
  saveFeedText,
  showFeedText,
  showFeedVersion,
} from '../../operations/configuration.ts';
import {
  keepUpload,
  type PlannedFeed,
  planFeedText,
  type RecognisedFeed,
  recogniseSource,
  secondChoice,
  type TriedFeed,
  tryFeedText,
} from '../../operations/feed-setup.ts';
import { listUploads, restoreOfUpload, uploadFeed } from '../../operations/feed-uploads.ts';
import { keyFault, nothingSent } from '../../operations/save-questions.ts';
import { membersOf } from '../../operations/scalars.ts';
import { plural } from '../../plan/message.ts';
import { MOST_SAMPLE_BYTES } from '../../runtime/feed-trial.ts';
import { ExitStatus, UserError } from '../../runtime/stop-signal.ts';
import { oneLine } from '../../telemetry/print.ts';
import { formatTime } from '../../telemetry/times.ts';
import { actorName, positiveNumber, type WriteCommand, wholeNumber } from '../adapter/command-line.ts';
import {
  addOptions,
  type GivenOptions,
  givenMembers,
  listCommand,
  singleCommand,
} from '../adapter/operation-command.ts';
import { formatRows } from '../output/table.ts';

const FEED = { feed: 'name of the feed' };

// `jobmirror feeds recognise`: drafts the settings of a feed, as the page *Add a feed* does.

/** What the operation is asked by options; the rest is read here. */
const { feed, site, format, records, files } = membersOf(recogniseSource.input) as Readonly<Record<string, z.ZodType>>;
const RECOGNISED_BY = { feed, site, format, records, files } as Readonly<Record<string, z.ZodType>>;

function recogniseCommand(): Command {
  const form = { help: { feed: 'name of the feed; by default it is made of the source' } };
  return singleCommand(RECOGNISED_HERE, {
    name: 'recognise',
    extend: (command) =>
      addOptions(
        command.argument('<source>', 'the address of the feed, or a file of it; - reads standard input'),
        RECOGNISED_BY,
        form,
      )
        .option('--sample <file>', 'a file to recognise instead of what the address has')
        .option('--credential <kind.name=value>', CREDENTIAL_HELP, (text: string, before: readonly string[] = []) => [
          ...before,
          text,
        ]),
    async read([given], options) {
      const source = String(given);
      const members = givenMembers(RECOGNISED_BY, {}, options);
      // Of a folder, the settings name the place, not one file.
      const isPlace = isAddress(source) || options.files !== undefined;
      const sample = isPlace ? await sampleOf(options, 'sample') : await keepLocal(source, options);
      const credentials = credentialsOf(options);
      return recogniseSource.input.parse({
        ...members,
        source: isPlace ? source : UPLOADED_FILE,
        ...(sample === undefined ? {} : { sample }),
        ...(credentials === undefined ? {} : { credentials }),
      });
    },
    view: recognisedLines,
  });
}

/** A sample ends with this process. */
const RECOGNISED_HERE: typeof recogniseSource = {
  ...recogniseSource,
  run: async (input, asked) => ({ ...(await recogniseSource.run(input, asked)), sample: null }),
};

const FROM_UPLOAD = new RegExp(`^source: ${UPLOADED_FILE}$`, 'm');

/** Comments, and the draft: together they are a file that can be saved. */
function recognisedLines(found: RecognisedFeed): readonly string[] {
  const { format: preset, description, records: n, filled, key, assumed, notes, encoding, variables, second } = found;
  const said = [
    preset === null ? 'A format of its own' : `Recognised: ${preset}${description === null ? '' : `, ${description}`}`,
    `${plural(n, 'record')} at its beginning; fills ${filled.join(', ') || 'nothing'}`,
    ...(key.length === 0 ? [] : [`Key: ${key.join(' and ')}`]),
    ...(encoding === null ? [] : [`Encoding: ${encoding} is assumed`]),
    ...assumed,
    ...notes,
    ...(variables.length === 0
      ? []
      : [`The address has a secret: set ${variables.join(' and ')} in the environment of jobmirror`]),
    ...(second === null ? [] : [secondChoice(`--format ${second.format}`, second)]),
    ...(FROM_UPLOAD.test(found.text)
      ? ['The feed reads an uploaded file: save this with `feeds save-file`, and name the file with --sample']
      : []),
  ];
  return [...said.flatMap((line) => line.split('\n')).map((line) => `# ${line}`), ...found.text.trimEnd().split('\n')];
}

const CREDENTIAL_HELP =
  'a credential of the source, such as basic.user=acme or basic.password=ATS_PASSWORD, the name of an environment variable that holds it';

/** As the configuration has them: a secret only as the name of a variable, and never repeated in a message, as it may be the secret itself. */
function credentialsOf({ credential = [] }: GivenOptions): Readonly<Record<string, unknown>> | undefined {
  const given: Record<string, Record<string, string>> = {};
  for (const text of credential as readonly string[]) {
    const [, kind = '', name = '', value = ''] = /^(\w+)\.(\w+)=(.+)$/s.exec(text) ?? [];
    const setting = CREDENTIAL_FORMS.find((each) => each.kind === kind)?.settings.find((each) => each.name === name);
    if (setting === undefined) {
      const names = CREDENTIAL_FORMS.flatMap((each) => each.settings.map((known) => `${each.kind}.${known.name}`));
      throw new UserError(`--credential must be NAME=VALUE with one of the names ${names.join(', ')}`);
    }
    const [, variable = value] = /^\$\{(.*)\}$/.exec(value) ?? [];
    if (setting.isSecret && !/^[A-Za-z_]\w*$/.test(variable)) {
      throw new UserError(
        `--credential ${kind}.${name} must be the name of an environment variable that holds it, never the secret itself`,
      );
    }
    given[kind] = { ...given[kind], [name]: setting.isSecret ? `\${${variable}}` : value };
  }
  return Object.keys(given).length === 0 ? undefined : given;
}

const SAMPLE_HELP = 'a file to be read instead of the source';

/** A file that an option names, kept for the operation. */
const sampleOf = async (options: GivenOptions, name: string): Promise<string | undefined> =>
  typeof options[name] === 'string' ? keepLocal(options[name], options) : undefined;

async function keepLocal(file: string, { as }: GivenOptions): Promise<string> {
  const name = file === '-' ? 'feed' : basename(file);
  return (await keepUpload({ name, bytes: await readBytes(file) }, actorName(typeof as === 'string' ? as : undefined)))
    .id;
}

/** The feed deletes what the file lacks, so that a half of it must not come through a pipe. */
async function wholeFileOf(options: GivenOptions): Promise<string | undefined> {
  const { sample } = options;
  if (typeof sample === 'string' && !(await isRegularFile(sample))) {
    throw new UserError('--sample must be a file: a pipe ends in the same way if the program before it fails');
  }
  return sampleOf(options, 'sample');
}

// The files of feeds.

const SEEN_HELP =
  'what show-file --json printed as `seen`: refused if the file has changed since; without it the feed must be new';
const ANYWAY_HELP =
  'also if the key does not identify the records, so that some would never be sent, or if nothing would be sent';

type Saved = Awaited<ReturnType<typeof saveFeedText.run>>;

function triedLines(tried: TriedFeed): readonly string[] {
  const { feed, problems, warnings, message, trial, settings } = tried;
  const said = [...warnings.map((warning) => `warning: ${warning}`), ...problems];
  if (trial === null)
    return [...said, message ?? `Feed ${feed} is not usable like this: ${plural(problems.length, 'problem')}.`];
  const { records, sent, rejected, unreadable, skipped, rejections, unreadable_records } = trial;
  const faults = [keyFault(tried), nothingSent(tried)].flatMap((fault) => (fault === undefined ? [] : [fault.message]));
  return [
    ...said,
    `${plural(records, 'record')}: ${sent} would be sent, ${rejected} rejected, ${unreadable} unreadable, ${skipped} skipped`,
    ...[...rejections, ...unreadable_records].map(
      ({ field, message: why, count }) => `  ${count} × ${field === null ? '' : `${field}: `}${why}`,
    ),
    ...faults.map((message) => `warning: ${message}`),
    ...(settings === null ? [] : [`It would be pulled ${settings.pulled}`]),
  ];
}

function plannedLines({ feed, message, ...plan }: PlannedFeed): readonly string[] {
  if (!plan.planned) return [message ?? `Feed ${feed} can't be planned like this.`];
  const { create, update, unchanged, rejected, unreadable, live, grace, held, changes, shortfalls, warnings } = plan;
  return [
    ...warnings.map((warning) => `warning: ${warning}`),
    ...shortfalls,
    `A sync would create ${create}, update ${update} and delete ${plan.delete} of ${plural(live, 'job')}; ${unchanged} unchanged, ${rejected} rejected, ${unreadable} unreadable`,
    ...(grace === 0
      ? []
      : [
          `${plural(grace, 'job')} would go once further complete pulls lack ${grace === 1 ? 'its posting' : 'their postings'}`,
        ]),
    ...(held === null ? [] : [`The deletes would be held: ${held}`]),
    ...changes.map(({ operation, key }) => `  ${operation} ${key}`),
  ];
}

export function feedFileCommands(): readonly Command[] {
  return [
    recogniseCommand(),
    singleCommand(showFeedText, {
      name: 'show-file',
      arguments: ['feed'],
      help: FEED,
      view: ({ text, file, read_only }) => [
        `# ${file}`,
        ...(read_only === null ? [] : [`# not to be saved from here: ${read_only}`]),
        ...text.trimEnd().split('\n'),
      ],
    }),
    singleCommand(checkFeedText, {
      name: 'check-file',
      extend: withFile,
      read: async ([feed, file]) => ({ feed: String(feed), text: await readLocal(String(file)) }),
      view: ({ feed, right, problems, warnings }) => [
        ...warnings.map((warning) => `warning: ${warning}`),
        ...problems.map((problem) => `problem: ${complaintLine(problem)}`),
        right
          ? `Feed ${feed} is right with this file.`
          : `Feed ${feed} is not usable like this: ${plural(problems.length, 'problem')}.`,
      ],
      exitStatus: ({ right }) => (right ? undefined : ExitStatus.failed),
    }),
    singleCommand(tryFeedText, {
      name: 'try-file',
      extend: (command) =>
        withFile(command)
          .option('--sample <file>', SAMPLE_HELP)
          .option('--postings <n>', 'how many postings --json shows (default: 3)', positiveNumber),
      read: async ([feed, file], options) => ({
        feed: String(feed),
        text: await readLocal(String(file)),
        sample: await sampleOf(options, 'sample'),
        ...(typeof options.postings === 'number' ? { postings: options.postings } : {}),
      }),
      view: triedLines,
      exitStatus: ({ trial }) => (trial === null ? ExitStatus.failed : undefined),
    }),
    singleCommand(planFeedText, {
      name: 'plan-file',
      extend: (command) => withFile(command).option('--sample <file>', SAMPLE_HELP),
      read: async ([feed, file], options) => ({
        feed: String(feed),
        text: await readLocal(String(file)),
        sample: await sampleOf(options, 'sample'),
      }),
      view: plannedLines,
      exitStatus: ({ planned }) => (planned ? undefined : ExitStatus.failed),
    }),
    singleCommand(saveFeedText, {
      name: 'save-file',
      extend: (command) =>
        withFile(command)
          .option('--seen <seen>', SEEN_HELP)
          .option('--sample <file>', 'with source: upload://, the file that the feed reads from now on')
          .option('--tried-on <file>', 'a file to try the settings on, instead of the source')
          .option('--anyway', ANYWAY_HELP),
      read: async ([feed, file], options) => ({
        feed: String(feed),
        text: await readLocal(String(file)),
        seen: seenOf(options),
        sample: await wholeFileOf(options),
        tried_on: await sampleOf(options, 'triedOn'),
        anyway: options.anyway === true,
      }),
      view: savedLines,
      exitStatus: ({ result }) => (result === 'to_commit' ? ExitStatus.failed : undefined),
    }),
    listCommand(listFeedVersions, {
      name: 'versions',
      arguments: ['feed'],
      help: FEED,
      noun: 'versions',
      shown: 20,
      before: 'only what is older than this version',
      view: ({ items }) =>
        items.length === 0
          ? ['No version is kept: nothing was saved yet.']
          : formatRows(
              [
                { title: 'VERSION', align: 'right', cell: ({ version }) => String(version) },
                { title: 'AT', cell: ({ at }) => formatTime(at) },
                { title: 'WHO', cell: ({ actor }) => actor ?? 'written by hand' },
                { title: 'LINES', align: 'right', cell: ({ lines }) => String(lines) },
                { title: '', cell: ({ present }) => (present ? 'in the file' : '') },
              ],
              items,
            ),
    }),
    singleCommand(showFeedVersion, {
      name: 'show-version',
      arguments: ['feed', 'version'],
      help: { ...FEED, version: 'number of the version' },
      view: ({ text }) => text.trimEnd().split('\n'),
    }),
    singleCommand(restoreFeedVersion, {
      name: 'restore-version',
      arguments: ['feed', 'version'],
      help: { ...FEED, version: 'number of the version', seen: SEEN_HELP, anyway: ANYWAY_HELP },
      view: savedLines,
      exitStatus: ({ result }) => (result === 'to_commit' ? ExitStatus.failed : undefined),
    }),
  ];
}

const withFile = (command: Command): Command =>
  command
    .argument('<feed>', FEED.feed)
    .argument('<file>', 'the file with its settings as YAML; - reads standard input');

const seenOf = ({ seen }: GivenOptions): string | undefined => (typeof seen === 'string' ? seen : undefined);

async function readLocal(file: string): Promise<string> {
  if (file === '-') return readAll(process.stdin);
  return readFile(resolve(file), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UserError(`${file} can't be read: ${fileErrorInWords(error)}`, { cause: error });
  });
}

function savedLines(
  { feed, result, file, version, text, reason, warnings }: Saved,
  write: WriteCommand,
): readonly string[] {
  const likely = warnings.map((warning) => `warning: ${warning}`);
  switch (result) {
    case 'saved':
      return [...likely, `${file} is saved, as version ${version}. What it changes: ${write(['plan', feed])}`];
    case 'unchanged':
      return [`${file} has this text already.`];
    case 'to_commit':
      return [...likely, `Nothing was written: ${reason}.`, `${file}:`, ...(text ?? '').trimEnd().split('\n')];
    default:
      return result satisfies never;
  }
}

// The files that feeds with `source: upload://` read.

const SEEN_UPLOAD_HELP =
  'number of the newest file that uploads showed, 0 for none: refused if somebody has uploaded another one since';

export function uploadCommands(): readonly Command[] {
  return [
    singleCommand(uploadFeed, {
      name: 'upload',
      extend: (command) =>
        command
          .argument('<feed>', FEED.feed)
          .argument('<file>', 'the file with all its postings; - reads standard input')
          .option('--seen <version>', SEEN_UPLOAD_HELP, wholeNumber)
          .option('--anyway', 'also if the feed finds no posting in it that would be sent'),
      read: async ([feed, file], { anyway, seen }) => ({
        feed: String(feed),
        ...(typeof seen === 'number' ? { seen } : {}),
        name: basename(String(file)),
        content: (await readBytes(String(file))).toString('base64'),
        piped: !(await isRegularFile(String(file))),
        anyway: anyway === true,
      }),
      view: ({ feed, result, version, sent, rejected, complete }, write) =>
        result === 'unchanged'
          ? `Feed ${feed} reads this file already, as file ${version}.`
          : [
              `File ${version} is uploaded for feed ${feed}: ${plural(sent, 'posting')} would be sent, ${rejected} rejected.`,
              ...(complete ? [] : ['It is not proven complete, so nothing would be deleted.']),
              `What it changes: ${write(['plan', feed])}`,
            ],
    }),
    listCommand(listUploads, {
      name: 'uploads',
      arguments: ['feed'],
      help: FEED,
      noun: 'files',
      shown: 20,
      before: 'only what is older than this file',
      view: ({ items }) =>
        items.length === 0
          ? ['No file has been uploaded for it.']
          : formatRows(
              [
                { title: 'FILE', align: 'right', cell: ({ version }) => String(version) },
                { title: 'AT', cell: ({ at }) => formatTime(at) },
                { title: 'WHO', cell: ({ actor }) => actor },
                { title: 'BYTES', align: 'right', cell: ({ bytes }) => String(bytes) },
                { title: 'NAME', cell: ({ name }) => oneLine(name, 60) },
                {
                  title: '',
                  cell: ({ present, of_backup }) =>
                    present ? 'read by the feed' : of_backup ? 'of a backup, not read' : '',
                },
              ],
              items,
            ),
    }),
    singleCommand(restoreOfUpload, {
      name: 'restore-upload',
      arguments: ['feed', 'version'],
      help: { ...FEED, version: 'number of the file', seen: SEEN_UPLOAD_HELP },
      view: ({ feed, result, version }, write) =>
        result === 'unchanged'
          ? `Feed ${feed} reads this file already.`
          : `Feed ${feed} reads it again, as file ${version}. What it changes: ${write(['plan', feed])}`,
    }),
  ];
}

/** Otherwise it ends when the program that writes it does, whatever the reason. */
const isRegularFile = async (file: string): Promise<boolean> =>
  (file === '-' ? fstatSync(0) : await stat(resolve(file)).catch(unreadableFile(file))).isFile();

const unreadableFile =
  (file: string) =>
  (error: NodeJS.ErrnoException): never => {
    throw new UserError(`${file} can't be read: ${fileErrorInWords(error)}`, { cause: error });
  };

/** Not much more than may be uploaded is read of it. */
async function readBytes(file: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(resolve(file))) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > MOST_SAMPLE_BYTES) break;
    }
  } catch (error) {
    unreadableFile(file)(error as NodeJS.ErrnoException);
  }
  return Buffer.concat(chunks);
}
