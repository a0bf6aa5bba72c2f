// `jobmirror feeds show-file`, `check-file`, `save-file`, `versions` and `restore-version`: the files of feeds.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import { fileErrorInWords } from '../../config/settings-file.ts';
import {
  checkFeedText,
  listFeedVersions,
  restoreFeedVersion,
  saveFeedText,
  showFeedText,
  showFeedVersion,
} from '../../operations/feed-files.ts';
import { plural } from '../../plan/plural.ts';
import { ExitStatus, UserError } from '../../runtime/exit-status.ts';
import { formatTime } from '../../telemetry/times.ts';
import type { WriteCommand } from '../adapter/command-line.ts';
import { type GivenOptions, listCommand, singleCommand } from '../adapter/operation-command.ts';
import { positiveNumber } from '../adapter/option-values.ts';
import { formatTable } from '../output/table.ts';

const FEED = { feed: 'name of the feed' };
const SEEN_HELP =
  'what show-file --json printed as `seen`: refused if the file has changed since; without it the feed must be new';

type Saved = Awaited<ReturnType<typeof saveFeedText.run>>;

export function feedFileCommands(): readonly Command[] {
  return [
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
        ...problems.map(problemLine),
        right
          ? `Feed ${feed} is right with this file.`
          : `Feed ${feed} is not usable like this: ${plural(problems.length, 'problem')}.`,
      ],
      exitStatus: ({ right }) => (right ? undefined : ExitStatus.failed),
    }),
    singleCommand(saveFeedText, {
      name: 'save-file',
      extend: (command) => withFile(command).option('--seen <seen>', SEEN_HELP),
      read: async ([feed, file], options) => ({
        feed: String(feed),
        text: await readLocal(String(file)),
        seen: seenOf(options),
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
      after: { flag: '--before <n>', help: 'only what is older than this version', place: (before) => ({ before }) },
      view: ({ items }) =>
        items.length === 0
          ? ['No version is kept: nothing was saved yet.']
          : formatTable(
              [
                { title: 'VERSION', align: 'right' },
                { title: 'AT' },
                { title: 'WHO' },
                { title: 'LINES', align: 'right' },
                { title: '' },
              ],
              items.map(({ version, at, actor, lines, present }) => [
                String(version),
                formatTime(at),
                actor ?? 'written by hand',
                String(lines),
                present ? 'in the file' : '',
              ]),
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
      extend: (command) =>
        command
          .argument('<feed>', FEED.feed)
          .argument('<version>', 'number of the version', positiveNumber)
          .option('--seen <seen>', SEEN_HELP),
      read: async ([feed, version], options) => ({
        feed: String(feed),
        version: Number(version),
        seen: seenOf(options),
      }),
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

const problemLine = ({
  file,
  line,
  column,
  setting,
  message,
}: {
  file: string;
  line: number | null;
  column: number | null;
  setting: string;
  message: string;
}): string => `problem: ${line === null ? file : `${file}:${line}:${column}`} ${setting}: ${message}`;

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
