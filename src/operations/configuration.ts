// The configuration of running processes: read again on request, and what became of it; and the files of feeds with their versions.
import { z } from 'zod';
import { namedFeeds } from '../config/config.ts';
import { type Complaint, complaintLine } from '../config/config-error.ts';
import { settingsOfDraft } from '../config/feed-draft.ts';
import {
  checkFeedFile,
  type FeedFileVersion,
  findFormerText,
  listFeedFileVersions,
  type SavedFeedFile,
  saveFeedFile,
  showFeedFile,
} from '../config/feed-files.ts';
import { UPLOADED_FILE } from '../feed/source/sources.ts';
import { pause } from '../flow/pause.ts';
import { plural } from '../plan/message.ts';
import { feedName } from '../posting/identifiers.ts';
import { findSample, readSample } from '../runtime/feed-trial.ts';
import { NO_CHANGES, type Reloaded, reloadedProcesses } from '../runtime/reload.ts';
import { requestReload } from '../store/access/reload-reports.ts';
import { addUpload } from '../store/feed/feed-uploads.ts';
import { namedSample, sampleName } from './feed-setup.ts';
import { listOperation, namedFeed, OperationRefused, operation } from './operation.ts';
import { askBeforeSave } from './save-questions.ts';
import { answerOf, count, feedNameText, idNumber, listIn, text, time } from './scalars.ts';

const names = listIn(z.string());

const processOutput = z.strictObject({
  command: z.string(),
  host: z.string(),
  pid: count,
  at: time
    .nullable()
    .describe('When the configuration was last read again because it, or somebody, said so; `null`: not yet.'),
  result: z
    .enum(['begun', 'applied', 'unchanged', 'refused', 'failed', 'none'])
    .describe(
      '`begun`: it is being taken over. `applied`: it is in use. `refused`: it is wrong. `failed`: it could not be begun with. After both the former one stays in use. `none`: it was not read again yet.',
    ),
  cause: z.string().nullable().describe('`file`: a file had changed; `signal`: SIGHUP; or who asked for it.'),
  added: names.describe('Feeds.'),
  changed: names.describe('Feeds.'),
  removed: names.describe('Feeds. Their jobs and changes stay.'),
  sites: names.describe('Sites that were added, changed or removed.'),
  others: names.describe('Other groups of settings that were changed.'),
  restart: names.describe('Settings that differ and take effect with the next start, with the reason.'),
  problems: names.describe('What is wrong, with its place.'),
});

const reloadOutput = z
  .strictObject({
    processes: z.array(processOutput).describe('Processes that run `start` or `work`.'),
    waiting: names.describe('Processes that have not answered yet.'),
  })
  .meta({ title: 'Reload' });

export const showReload = operation({
  id: 'showReload',
  path: '/reload',
  summary: 'What became of the last change of the configuration in each running process',
  scope: 'configure',
  reads: true,
  input: z.strictObject({}),
  output: reloadOutput,
  run: async (_input, { app }) => ({ processes: (await reloadedProcesses(app.db)).map(processJson), waiting: [] }),
});

/** A process stops sending first, which takes as long as a site may take for its answer. */
const ANSWERED_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 200;

export const reloadConfiguration = operation({
  id: 'reload',
  path: '/reload',
  summary: 'Have all running processes read the configuration again, and wait for what becomes of it',
  scope: 'configure',
  input: z.strictObject({}),
  output: reloadOutput,
  async run(_input, { app, actor, signal }) {
    const before = await reloadedProcesses(app.db);
    const request = await requestReload(app.db, actor);
    const until = performance.now() + ANSWERED_WITHIN_MS;
    for (;;) {
      const now = await reloadedProcesses(app.db);
      // One that is taking a configuration over may not be seen for a moment.
      const all = new Map([...before, ...now].map((process) => [`${process.host} ${process.pid}`, process]));
      const waiting = [...all.values()].filter(({ last }) => (last?.reload ?? 0) < request);
      if (waiting.length === 0 || performance.now() > until || signal?.aborted === true) {
        return { processes: now.map(processJson), waiting: waiting.map(nameOf) };
      }
      await pause(LOOK_EVERY_MS, signal);
    }
  },
});

const nameOf = ({ command, host, pid }: Pick<Reloaded, 'command' | 'host' | 'pid'>): string =>
  `${command} (process ${pid} on ${host})`;

function processJson({ command, host, pid, last }: Reloaded): z.output<typeof processOutput> {
  const { kind = 'none', cause = null, changes = NO_CHANGES, restart = [], problems = [] } = last?.report ?? {};
  return { command, host, pid, at: last?.at ?? null, result: kind, cause, ...changes, restart, problems };
}

type ReloadedProcess = z.output<typeof processOutput>;

const RESULTS: Readonly<Record<ReloadedProcess['result'], string>> = {
  begun: 'is taking the changed configuration over',
  applied: 'uses the changed configuration',
  unchanged: 'has this configuration already',
  refused: 'keeps the former configuration, because the changed one is wrong',
  failed: 'keeps the former configuration, because the changed one could not be used',
  none: 'has not read it again',
};

export const reloadedInWords = (process: ReloadedProcess): string => `${nameOf(process)} ${RESULTS[process.result]}.`;

/** What differs from the former configuration, and what is wrong with this one. */
export function changesInWords(process: ReloadedProcess): readonly string[] {
  const lists = [
    ['feeds added', process.added],
    ['feeds changed', process.changed],
    ['feeds removed (their jobs stay)', process.removed],
    ['sites', process.sites],
    ['also changed', process.others],
  ] as const;
  return [
    ...lists.flatMap(([what, names]) => (names.length === 0 ? [] : [`${what}: ${names.join(', ')}`])),
    ...process.restart.map((setting) => `needs a restart: ${setting}`),
    ...process.problems.map((problem) => `problem: ${problem}`),
  ];
}

// The files of feeds: shown, checked, saved, and put back to what they were.

const LONGEST_TEXT = 256 * 1024;
const fileText = text(LONGEST_TEXT).describe("The feed's settings as YAML, as its file has them.");
const seenOutput = z
  .string()
  .nullable()
  .describe('What a save takes as `seen`; `null`: the feed has no file of its own.');
const seenText = text(100)
  .optional()
  .describe('The `seen` of the text that was shown: refused if the file has changed since. Left out for a new feed.');

const problemOutput = z.strictObject({
  file: z.string(),
  line: count.nullable(),
  column: count.nullable(),
  setting: z.string().describe('Full name of the setting: `feeds.acme.schedule`.'),
  message: z.string(),
});

const problemJson = (complaint: Complaint) => answerOf(problemOutput, complaint, {});

export const showFeedText = operation({
  id: 'showFeedFile',
  path: '/feeds/{feed}/file',
  summary: 'The settings of a feed as YAML, with comments, and where they are',
  scope: 'configure',
  reads: true,
  input: z.strictObject({ feed: feedNameText.describe('Name of the feed.') }),
  output: z
    .strictObject({
      feed: z.string(),
      file: z.string().describe('The path of the file that has them: its own, or the main configuration.'),
      text: z.string().describe('A secret that is written in it is shown as `[secret]`.'),
      seen: seenOutput,
      read_only: z.string().nullable().describe('Why it can not be saved from here, and what to do; `null`: it can.'),
    })
    .meta({ title: 'FeedFile' }),
  async run({ feed: name }, { app }) {
    const shown = await showFeedFile(app, feedName(name));
    if (shown === undefined) {
      await namedFeed(app, name);
      throw new OperationRefused('unknown', `feed ${name} is not in the configuration`);
    }
    const { feed, file, text: written, seen, readOnly } = shown;
    return { feed, file, text: written, seen: seen ?? null, read_only: readOnly ?? null };
  },
});

export const checkFeedText = operation({
  id: 'checkFeedFile',
  path: '/feeds/{feed}/file/check',
  summary: 'Check the configuration as if the file of the feed had this text; nothing is saved',
  scope: 'configure',
  input: z.strictObject({ feed: feedNameText.describe('Name of the feed, which may be new.'), text: fileText }),
  output: z
    .strictObject({
      feed: z.string(),
      right: z.boolean(),
      problems: z.array(problemOutput),
      warnings: z.array(z.string()).describe('What deserves attention although it is right.'),
    })
    .meta({ title: 'CheckedFeedFile' }),
  async run({ feed, text: written }, { app }) {
    const checked = await checkFeedFile(app, feed, written);
    return checked.kind === 'right'
      ? { feed, right: true, problems: [], warnings: [...checked.warnings] }
      : { feed, right: false, problems: checked.problems.map(problemJson), warnings: [] };
  },
});

const savedOutput = z
  .strictObject({
    feed: z.string(),
    result: z
      .enum(['saved', 'unchanged', 'to_commit'])
      .describe('`unchanged`: the file has this text already. `to_commit`: nothing was written; a person has to.'),
    file: z.string().describe('Path of the file.'),
    seen: seenOutput,
    version: count.nullable().describe('The number of the version that was saved; `null`: none was.'),
    new: z.boolean().describe('Whether the feed had no file before.'),
    text: z.string().nullable().describe('Of `to_commit`: what the file should have.'),
    reason: z.string().nullable().describe('Of `to_commit`: why it was not written, and what to do.'),
    include: z.string().nullable().describe('A line that the main configuration lacks; `null`: none.'),
    warnings: z.array(z.string()),
  })
  .meta({ title: 'SavedFeedFile' });

export const saveFeedText = operation({
  id: 'saveFeedFile',
  path: '/feeds/{feed}/file',
  summary: 'Check the text and save it as the file of the feed; processes that run take it over',
  scope: 'configure',
  input: z.strictObject({
    feed: feedNameText.describe('Name of the feed, which may be new.'),
    text: fileText,
    seen: seenText,
    sample: sampleName
      .optional()
      .describe('For a text with `source: upload://`: an uploaded sample, which the feed reads from now on.'),
    tried_on: sampleName
      .optional()
      .describe('A sample to try the text on, instead of the source, as long as it is kept.'),
    anyway: z
      .boolean()
      .optional()
      .describe(
        'Also if the key does not identify the records, so that some would never be sent, or if nothing would be sent, or if the sample can not be read.',
      ),
  }),
  output: savedOutput,
  async run({ feed, text: written, seen, sample: id, tried_on: triedOn, anyway = false }, asked) {
    const { app, actor } = asked;
    const upload = id === undefined ? undefined : await uploadOf(id, written, actor);
    const sample = id ?? (await keptOf(triedOn, actor));
    const isNewFile = upload !== undefined;
    const warnings = anyway ? [] : await askBeforeSave({ feed, text: written, sample, isNewFile }, asked);
    const end = await saveFeedFile(app, { feed, text: written, seen: seen || undefined, actor, upload });
    // Whoever commits the text finds the file there. What a feed reads already is not replaced before its settings are.
    if (upload !== undefined && end.kind === 'to_commit' && !namedFeeds(app.config).has(feedName(feed))) {
      await app.db.transaction((tx) => addUpload(tx, feedName(feed), upload));
    }
    return savedJson(feed, end, warnings);
  },
});

/** The sample, unless it is gone: what it would only have shown is then read of the source. */
async function keptOf(sample: string | undefined, actor: string): Promise<string | undefined> {
  return sample === undefined || (await findSample(sample, actor)) === undefined ? undefined : sample;
}

/** @throws {OperationRefused} */
async function uploadOf(id: string, written: string, actor: string) {
  const { source, sources } = settingsOfDraft(written);
  const isRead = [sources ?? source].flat().includes(UPLOADED_FILE);
  const sample = await namedSample(id, actor);
  if (!isRead || sample?.isUpload !== true) {
    const message = `nothing was saved: the text does not read an uploaded file, which source: ${UPLOADED_FILE} does`;
    throw new OperationRefused('invalid', message);
  }
  return { name: sample.name, content: await readSample(sample), actor };
}

/** @throws {OperationRefused} with the mistakes, or with the text that the file has now */
function savedJson(feed: string, end: SavedFeedFile, found: readonly string[] = []): z.output<typeof savedOutput> {
  const nothing = { feed, version: null, new: false, text: null, reason: null, include: null, warnings: [...found] };
  switch (end.kind) {
    case 'saved': {
      const { file, seen, version, isNew, warnings } = end;
      return { ...nothing, result: end.kind, file, seen, version, new: isNew, warnings: [...warnings, ...found] };
    }
    case 'unchanged':
      return { ...nothing, result: end.kind, file: end.file, seen: end.seen };
    case 'to_commit': {
      const { file, text: written, reason, include = null } = end;
      return { ...nothing, result: end.kind, file, seen: null, text: written, reason, include };
    }
    case 'wrong': {
      const said = end.problems.map(complaintLine).join('\n');
      const message = `nothing was saved, the configuration would have ${plural(end.problems.length, 'mistake')}:\n${said}`;
      throw new OperationRefused('invalid', message, { problems: end.problems.map(problemJson) });
    }
    case 'changed': {
      const now = { text: end.text ?? null, seen: end.seen ?? null };
      const how = end.text === undefined ? 'is not there any more' : 'has another text than was shown';
      throw new OperationRefused('conflict', `nothing was saved: ${end.file} ${how}; look at it again`, now);
    }
    default:
      return end satisfies never;
  }
}

const versionOutput = z
  .strictObject({
    version: count.describe('Its number: a later one is larger.'),
    at: time,
    actor: z.string().nullable().describe('Who saved it; `null`: it was found in the file, written by hand.'),
    present: z.boolean().describe('Whether the file has this text now.'),
    lines: count,
  })
  .meta({ title: 'FeedFileVersion' });

const versionJson = (version: FeedFileVersion) =>
  answerOf(versionOutput, version, { present: version.isPresent, lines: version.text.split('\n').length - 1 });

export const listFeedVersions = listOperation({
  id: 'listFeedFileVersions',
  path: '/feeds/{feed}/file/versions',
  summary: 'The texts that the file of a feed has had, the newest first; the last 100 are kept',
  scope: 'configure',
  input: z.strictObject({ feed: feedNameText.describe('Name of the feed.') }),
  item: versionOutput,
  place: z.strictObject({ before: idNumber }),
  async run({ feed }, { limit, after }, { app }) {
    const versions = await listFeedFileVersions(app, feedName(feed));
    if (versions.length === 0) await namedFeed(app, feed);
    return versions
      .filter(({ version }) => after === undefined || version < after.before)
      .slice(0, limit)
      .map(versionJson);
  },
  placeOf: ({ version }) => ({ before: version }),
});

const ofVersion = z.strictObject({ feed: feedNameText.describe('Name of the feed.'), version: idNumber });

export const showFeedVersion = operation({
  id: 'showFeedFileVersion',
  path: '/feeds/{feed}/file/versions/{version}',
  summary: 'A text that the file of a feed has had',
  scope: 'configure',
  reads: true,
  input: ofVersion,
  output: versionOutput.extend({ feed: z.string(), text: z.string() }).meta({ title: 'FeedFileVersionText' }),
  async run({ feed, version }, { app }) {
    const found = (await listFeedFileVersions(app, feedName(feed))).find((each) => each.version === version);
    if (found === undefined) throw noVersion(feed, version);
    return { ...versionJson(found), feed, text: found.text };
  },
});

const noVersion = (feed: string, version: number) =>
  new OperationRefused('unknown', `the file of feed ${feed} has no version ${version}`);

export const restoreFeedVersion = operation({
  id: 'restoreFeedFileVersion',
  path: '/feeds/{feed}/file/versions/{version}/restore',
  summary: 'Save a text anew that the file of a feed has had',
  scope: 'configure',
  input: ofVersion.extend({
    seen: seenText,
    anyway: z
      .boolean()
      .optional()
      .describe(
        'Also if the key of that version does not identify the records, so that some would never be sent, or if nothing would be sent.',
      ),
  }),
  output: savedOutput,
  async run({ feed, version, seen, anyway = false }, asked) {
    const { app, actor } = asked;
    const restored = await findFormerText(app, feedName(feed), version);
    if (restored === undefined) throw noVersion(feed, version);
    const { text: former } = restored;
    const draft = { feed, text: former, sample: undefined, isNewFile: false, restored };
    const warnings = anyway ? [] : await askBeforeSave(draft, asked);
    const end = await saveFeedFile(app, { feed, text: former, seen: seen || undefined, actor, restored });
    return savedJson(feed, end, warnings);
  },
});
