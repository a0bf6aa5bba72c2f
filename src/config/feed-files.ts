// Shows, checks and saves the files of feeds for people who do not edit them by hand, keeps their former texts, and lets nobody read the
// server's files or write secrets with them.
import { createHash, randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { constants } from 'node:fs';
import { access, lstat, mkdir, open, readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { isAlias, isMap, isScalar, isSeq, type Pair, parseDocument, type Scalar, stringify } from 'yaml';
import { isKnownEncoding } from '../feed/decode/charset.ts';
import { isPrivateAddress } from '../feed/source/sources.ts';
import { type FeedName, feedName } from '../posting/identifiers.ts';
import { compileReader } from '../posting/reader.ts';
import {
  addFoundVersion,
  addressesOfLastSave,
  announceVersion,
  readVersions,
  type StoredVersion,
  settleFound,
  settleVersion,
  withdrawVersion,
  withFileLock,
} from '../store/feed/feed-file-versions.ts';
import { addUpload, hasStagedUpload, type NewUpload } from '../store/feed/feed-uploads.ts';
import type { Database, Queryable } from '../store/postgres/database.ts';
import { crossStep } from '../telemetry/times.ts';
import { type Config, type FeedConfig, namedFeeds } from './config.ts';
import { type Complaint, ConfigError, complaintLine } from './config-error.ts';
import type { Environment } from './environment.ts';
import { type FeedDraft, fileIn, isAddress, isWithin, pathFromMainFile } from './include.ts';
import { loadConfig } from './load-config.ts';
import { USUAL_INCLUDE } from './schema/config-schema.ts';
import { isSecretCredential } from './schema/credentials-schema.ts';
import { isSecretHeader } from './schema/feed-schema.ts';
import { nameSchema } from './schema/scalars.ts';
import { isWebAddress, schemeSourceOf } from './scheme-sources.ts';
import { fileErrorInWords, readText } from './settings-file.ts';
import { parseYaml, quoteStandardInput, type SettingPath, toData } from './yaml-source.ts';

/** What these functions work with. */
export interface FeedFileContext {
  readonly config: Config;
  readonly db: Database;
  /** By default that of the process. */
  readonly env?: Environment;
}

/** The text of a feed's settings, with what saving it takes. */
export interface ShownFeedFile {
  readonly feed: FeedName;
  /** Absolute path of the file that has it: its own, or the main one. */
  readonly file: string;
  /** With comments, as written; a secret that is written in it is shown as `[secret]`. */
  readonly text: string;
  /** What {@link saveFeedFile} compares; `undefined`: the main file has the feed. */
  readonly seen: string | undefined;
  /** Why it can't be saved from here, and what to do; `undefined`: it can. */
  readonly readOnly: string | undefined;
}

/** What the whole configuration is with a text in place of a feed's settings. */
export type CheckedFeedFile =
  | { readonly kind: 'right'; readonly config: Config; readonly warnings: readonly string[] }
  | { readonly kind: 'wrong'; readonly problems: readonly Complaint[] };

/** What became of a text that was to be saved. Only `saved` has changed anything. */
export type SavedFeedFile =
  | {
      readonly kind: 'saved';
      readonly file: string;
      readonly seen: string;
      readonly version: number;
      readonly isNew: boolean;
      readonly warnings: readonly string[];
    }
  /** The file has this text already. */
  | { readonly kind: 'unchanged'; readonly file: string; readonly seen: string }
  /** It is right, and a person has to write it there. */
  | {
      readonly kind: 'to_commit';
      readonly file: string;
      readonly text: string;
      readonly reason: string;
      /** The line that the main file lacks. */
      readonly include: string | undefined;
    }
  | { readonly kind: 'wrong'; readonly problems: readonly Complaint[] }
  /** The file is not what was seen: this is its text now; `undefined`: it is gone. */
  | {
      readonly kind: 'changed';
      readonly file: string;
      readonly text: string | undefined;
      readonly seen: string | undefined;
    };

/** A text that the file of a feed has, or has had. */
export interface FeedFileVersion extends Pick<StoredVersion, 'version' | 'at' | 'actor' | 'text'> {
  /** The file has this text now. */
  readonly isPresent: boolean;
}

interface SavedDraft extends FeedDraft {
  /** {@link ShownFeedFile.seen}; `undefined`: the feed is new. */
  readonly seen: string | undefined;
  readonly actor: string;
  /** What the feed reads once its file has the text. */
  readonly upload?: NewUpload | undefined;
  /** The former version that the text is. */
  readonly restored?: StoredVersion | undefined;
}

/** `undefined`: the configuration has no such feed. Throws a {@link ConfigError} if its file can't be read. */
export async function showFeedFile(around: FeedFileContext, feed: FeedName): Promise<ShownFeedFile | undefined> {
  const { config } = around;
  const own = ownFileOf(config, feed);
  const text = own === undefined ? undefined : await presentText(own);
  if (own !== undefined && text !== undefined) {
    const shown = withoutSecrets(text);
    return { feed, file: own, text: shown, seen: digestOf(text), readOnly: (await whereToSave(config, feed)).reason };
  }
  const inMain = textInMain(await readText(config.path), feed);
  if (inMain === undefined) return undefined;
  const { reason } = await whereToSave(config, feed);
  return { feed, file: config.path, text: withoutSecrets(inMain), seen: undefined, readOnly: reason };
}

/** The file of a feed, or the one that it would have; none for a text that can't be the name of a feed, which may lead elsewhere. */
const ownFileOf = (config: Config, feed: FeedName): string | undefined =>
  config.feedFiles.get(feed) ??
  (config.include !== undefined && nameSchema.safeParse(feed).success ? fileIn(config.include, feed) : undefined);

/**
 * Checks as `check` does. Mistakes that the configuration has anyway are not the text's.
 * @param restored the former version that the text is: what somebody has written by hand into it may come back
 */
export async function checkFeedFile(
  around: FeedFileContext,
  feed: string,
  text: string,
  restored?: StoredVersion,
): Promise<CheckedFeedFile> {
  const { config } = around;
  const trusted = writtenByHand(restored);
  const draft: FeedDraft = { feed, text: asSaved(text) };
  const named = nameSchema.safeParse(feed);
  if (!named.success) {
    const message = `the name of the feed ${named.error.issues[0]?.message}`;
    return { kind: 'wrong', problems: [{ file: basename(config.path), setting: 'feeds', message }] };
  }
  const file = pathFromMainFile(
    config.path,
    config.include === undefined ? `${feed}.yaml` : fileIn(config.include, feed),
  );
  // Before anything that the text names is read.
  const refused = await refusals(config, draft, file, trusted);
  if (refused.length > 0) return { kind: 'wrong', problems: refused };
  const isOfFeed = ({ setting }: Complaint) => setting === `feeds.${feed}` || setting.startsWith(`feeds.${feed}.`);
  const before = new Set((await complaintsOf(around, undefined)).map(complaintLine));
  const problems = (await complaintsOf(around, draft)).filter(
    (complaint) => isOfFeed(complaint) || !before.has(complaintLine(complaint)),
  );
  if (problems.length > 0) return { kind: 'wrong', problems };
  try {
    const drafted = await loadConfig({ ...loading(around), brokenFeeds: 'leave_out', absentSecrets: 'keep', draft });
    const unusable = faultsInUse(drafted.feeds.get(feedName(feed)), file);
    if (unusable.length > 0) return { kind: 'wrong', problems: unusable };
    const warnings = drafted.warnings.filter((warning) => !config.warnings.includes(warning));
    return { kind: 'right', config: drafted, warnings };
  } catch (error) {
    if (error instanceof ConfigError) return { kind: 'wrong', problems: error.complaints };
    throw error;
  }
}

/** Keeps the present text of each feed that has a file of its own, if nobody has saved it from here. Returns those feeds. */
export async function keepHandEdits(
  { config, db }: FeedFileContext,
  feeds: readonly FeedName[],
): Promise<ReadonlySet<FeedName>> {
  const edited = new Set<FeedName>();
  for (const feed of feeds) {
    const file = config.feedFiles.get(feed);
    if (file === undefined) continue;
    const isAdded = await withFileLock(db, feed, async (tx) => {
      const text = await presentText(file);
      return text !== undefined && (await addFoundVersion(tx, feed, withoutSecrets(text)));
    });
    if (isAdded) edited.add(feed);
  }
  return edited;
}

/** Newest first. */
export async function listFeedFileVersions(
  { config, db }: FeedFileContext,
  feed: FeedName,
): Promise<readonly FeedFileVersion[]> {
  const file = ownFileOf(config, feed);
  const text = file === undefined ? undefined : await presentText(file);
  const present = text === undefined ? undefined : withoutSecrets(text);
  const versions = (await readVersions(db, feed)).filter(({ isSettled, text: its }) => isSettled || its === present);
  const newest = versions.find((version) => version.text === present);
  return versions.map(({ version, at, actor, text: its }) => ({
    version,
    at,
    actor,
    text: its,
    isPresent: version === newest?.version,
  }));
}

/** What the file has had, with the addresses in it that nobody has written by hand. `undefined`: there is no such version. */
export async function findFormerText(
  { db }: Pick<FeedFileContext, 'db'>,
  feed: FeedName,
  version: number,
): Promise<StoredVersion | undefined> {
  const versions = await readVersions(db, feed);
  const found = versions.find((each) => each.version === version && each.isSettled);
  if (found === undefined) return undefined;
  // A text that was found in the file may have those of the last one that was saved before.
  const before = versions.find((each) => each.version < version && each.addresses !== undefined);
  const addresses = found.addresses ?? (found.actor === undefined ? before?.addresses : undefined);
  return { ...found, addresses };
}

/** What of a former version somebody has written by hand: it may come back. */
function writtenByHand(restored: StoredVersion | undefined): readonly LoadedText[] {
  if (restored === undefined) return [];
  const { actor, text, addresses } = restored;
  const texts = textsOfConfigured(text);
  // Whoever edits a file by hand has not written all that it had already.
  if (actor === undefined) return texts.filter(({ value }) => !(isAddress(value) && addresses?.includes(value)));
  return addresses === undefined ? [] : addressesAmong(texts).filter(({ value }) => !addresses.includes(value));
}

/** Saves a text that is right, if nobody has changed the file since it was seen. */
export async function saveFeedFile(
  around: FeedFileContext,
  { feed, text: written, seen, actor, upload, restored }: SavedDraft,
): Promise<SavedFeedFile> {
  const { config, db } = around;
  const checked = await checkFeedFile(around, feed, written, restored);
  if (checked.kind === 'wrong') return checked;
  const name = feedName(feed);
  const text = asSaved(written);
  const { file, reason, include } = await whereToSave(config, name);
  if (reason !== undefined) return { kind: 'to_commit', file, text, reason, include };
  /** What was found instead of what was seen; `undefined`: that is still there. */
  const changed = (present: string | undefined): SavedFeedFile | undefined => {
    const now = present === undefined ? undefined : digestOf(present);
    if (present === text) return { kind: 'unchanged', file, seen: digestOf(text) };
    if (now === seen) return undefined;
    return { kind: 'changed', file, text: present === undefined ? undefined : withoutSecrets(present), seen: now };
  };
  const versionOf = async (tx: Queryable) => ({
    actor,
    text: withoutSecrets(text),
    addresses: await addressesNotByHand({ config, db: tx }, name, text, restored),
    upload,
  });
  /** The file has the text already. */
  const addToFound = async (tx: Queryable) => {
    await settleFound(tx, name, withoutSecrets(text));
    if (upload !== undefined) await addUpload(tx, name, upload);
  };
  // Committed first: a process that ends while it replaces the file leaves the former text here, whose addresses the new one has, and what was
  // uploaded with it. Renaming the file decides: whoever finds the new text there completes the rest.
  const early = await withFileLock(db, name, async (tx) => {
    const present = await presentText(file);
    const end = changed(present);
    if (end?.kind === 'unchanged') await addToFound(tx);
    if (end !== undefined) return end;
    if (present !== undefined) await addFoundVersion(tx, name, withoutSecrets(present));
    return announceVersion(tx, name, await versionOf(tx));
  });
  if (typeof early !== 'number') return early;
  crossStep('feed-file-kept');
  try {
    return await withFileLock(db, name, async (tx): Promise<SavedFeedFile> => {
      const now = await versionOf(tx);
      const end = await replaceFile(file, text, changed);
      if (end !== undefined) throw new NotReplaced(end);
      const saved = { ...now, isNew: seen === undefined, restores: restored?.version };
      const version = await settleVersion(tx, name, early, saved);
      const { warnings } = checked;
      return { kind: 'saved', file, seen: digestOf(text), version, isNew: saved.isNew, warnings };
    });
  } catch (error) {
    if (error instanceof NotReplaced && error.end.kind === 'unchanged') {
      // Somebody else has saved the same text meanwhile.
      await withFileLock(db, name, addToFound);
      return error.end;
    }
    // It may have been replaced nevertheless. Then, or if this fails as well, the version stays announced.
    await withFileLock(db, name, async (tx) => {
      if ((await presentText(file)) !== text) await withdrawVersion(tx, name, early);
    }).catch(() => undefined);
    if (error instanceof NotReplaced) return error.end;
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EROFS' && code !== 'EPERM') throw error;
    return { kind: 'to_commit', file, text, reason: notWritable(dirname(file)), include: undefined };
  }
}

/**
 * Before what was uploaded for a feed is read: a process may have ended after it replaced the file by a text that was saved with an upload.
 * @param file the feed's own; `undefined`: it has none
 */
export async function completeSave(db: Database, feed: FeedName, file: string | undefined): Promise<void> {
  if (file === undefined || !(await hasStagedUpload(db, feed))) return;
  await withFileLock(db, feed, async (tx) => {
    const text = await presentText(file);
    if (text !== undefined) await settleFound(tx, feed, withoutSecrets(text));
  });
}

/** Somebody else has changed the file meanwhile. */
class NotReplaced extends Error {
  readonly end: SavedFeedFile;

  constructor(end: SavedFeedFile) {
    super('the file was changed meanwhile');
    this.end = end;
  }
}

/**
 * Replaces a file so that each reader sees the former or the new text as a whole, also after a crash.
 * @param changed compares the present text right before that; what it returns ends the replacement
 */
async function replaceFile<End>(
  file: string,
  text: string,
  changed: (present: string | undefined) => End | undefined,
): Promise<End | undefined> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true });
  const beginning = `.${basename(file)}.`;
  for (const left of await readdir(folder)) {
    if (left.startsWith(beginning) && left.endsWith(TEMPORARY)) await rm(join(folder, left), { force: true });
  }
  const temporary = join(folder, `${beginning}${randomBytes(6).toString('hex')}${TEMPORARY}`);
  const mode = await stat(file).then(
    (found) => found.mode & 0o777,
    () => 0o644,
  );
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      await handle.chmod(mode);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    crossStep('feed-file-written');
    const end = changed(await presentText(file));
    if (end !== undefined) return end;
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(folder);
  crossStep('feed-file-replaced');
  return undefined;
}

const TEMPORARY = '.tmp';

/** Until then, a crash of the machine may undo the renaming. Windows can't open folders. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** `undefined`: there is no such file. */
const presentText = (file: string): Promise<string | undefined> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw new ConfigError([{ file, setting: '', message: `can't be read: ${fileErrorInWords(error)}` }]);
  });

const digestOf = (text: string): string => createHash('sha256').update(text).digest('base64url');

/** Browsers send line ends of their own. */
const asSaved = (text: string): string => {
  const lines = text.replaceAll('\r\n', '\n');
  return lines === '' || lines.endsWith('\n') ? lines : `${lines}\n`;
};

/** Where a feed's text belongs. `reason`: why it can't be written there from here. */
async function whereToSave(
  config: Config,
  feed: FeedName,
): Promise<{ readonly file: string; readonly reason: string | undefined; readonly include: string | undefined }> {
  const { include, path, web } = config;
  const main = basename(path);
  const file = config.feedFiles.get(feed) ?? join(dirname(path), 'feeds', `${feed}.yaml`);
  if (include === undefined) {
    const line = `include: ${USUAL_INCLUDE}`;
    const move = namedFeeds(config).has(feed) ? ` and move feed ${feed} from there to this file` : '';
    return { file, reason: `${main} includes no files of feeds: add the line ${line} to it${move}`, include: line };
  }
  const own = fileIn(include, feed);
  const inMain = textInMain(await readText(path), feed) !== undefined;
  const linked = await lstat(own).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
  const folder = await firstExisting(include.folder);
  const mayWrite = await access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  const reason = inMain
    ? `feed ${feed} is in ${main}: change it there, or move it to this file`
    : web.readOnlyConfiguration
      ? `${main} says web.configuration: read-only: commit the file where your configuration is kept`
      : linked
        ? `${own} is a link: change the file that it leads to`
        : mayWrite
          ? undefined
          : notWritable(folder);
  return { file: own, reason, include: undefined };
}

const notWritable = (folder: string): string =>
  `this process may not write in ${folder}: write the file there yourself, or let its user write`;

async function firstExisting(folder: string): Promise<string> {
  const exists = await stat(folder).then(
    () => true,
    () => false,
  );
  return exists || dirname(folder) === folder ? folder : firstExisting(dirname(folder));
}

/** The settings of a feed as the main file has them, as if they were a file; `undefined`: it has no such feed. */
function textInMain(main: string, feed: string): string | undefined {
  const document = parseDocument(main, { prettyErrors: false });
  const feeds: unknown = document.get('feeds', true);
  const pairs = isMap(feeds) ? (feeds.items as Pair[]) : [];
  const pair = pairs.find(({ key }) => isScalar(key) && String(key.value) === feed);
  if (pair === undefined) return undefined;
  const settings = pair.value;
  const range = isMap(settings) && settings.flow !== true ? settings.range : undefined;
  const [first] = isMap(settings) ? (settings.items as Pair[]) : [];
  const start = isScalar(first?.key) ? first.key.range?.[0] : undefined;
  if (range === undefined || range === null || start === undefined || /[&*]\w/.test(main.slice(range[0], range[2]))) {
    // Written on one line, or with parts of other feeds.
    return stringify((document.toJS() as { readonly feeds: Readonly<Record<string, unknown>> }).feeds[feed]);
  }
  const afterName = main.indexOf('\n', (pair.key as Scalar).range?.[1] ?? 0) + 1;
  const indent = start - (main.lastIndexOf('\n', start - 1) + 1);
  const lines = main.slice(Math.min(afterName, start - indent), range[2]).split('\n');
  return asSaved(
    lines.map((line) => (line.slice(0, indent).trim() === '' ? line.slice(indent) : line.trimStart())).join('\n'),
  );
}

const loading = ({ config, env = process.env }: FeedFileContext) => ({
  path: config.path,
  cwd: dirname(config.path),
  env,
});

async function complaintsOf(around: FeedFileContext, draft: FeedDraft | undefined): Promise<readonly Complaint[]> {
  try {
    await loadConfig({ ...loading(around), thorough: true, ...(draft === undefined ? {} : { draft }) });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.complaints;
    throw error;
  }
}

/** Mistakes that show only in use. */
function faultsInUse(feed: FeedConfig | undefined, file: string): readonly Complaint[] {
  if (feed === undefined) return [];
  const complaints: Complaint[] = [];
  const { encoding } = feed.source;
  if (encoding !== undefined && !isKnownEncoding(encoding)) {
    const message = `the encoding "${encoding}" is unknown; set one such as utf-8 or windows-1252`;
    complaints.push({ file, setting: `feeds.${feed.name}.encoding`, message });
  }
  try {
    compileReader(feed.mapping);
  } catch (error) {
    complaints.push({ file, setting: `feeds.${feed.name}.fields`, message: (error as Error).message });
  }
  return complaints;
}

// Secrets that are written in a text instead of named, and files of the server that it would read.

/** More than any feed that a person has written. */
const LONGEST_TEXT = 256 * 1024;

async function refusals(
  config: Config,
  { feed, text }: FeedDraft,
  file: string,
  trusted: readonly LoadedText[],
): Promise<readonly Complaint[]> {
  if (text.length > LONGEST_TEXT) {
    return [
      {
        file,
        setting: `feeds.${feed}`,
        message: 'has more than 256 KiB, the limit for a text that is saved from here',
      },
    ];
  }
  let source: ReturnType<typeof parseYaml>;
  let texts: readonly LoadedText[] | undefined;
  try {
    source = parseYaml(file, text);
    texts = textsIn(toData(source));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.complaints.map((complaint) => ({ ...complaint, setting: `feeds.${feed}` }));
  }
  if (texts === undefined) {
    const message = `has more than ${MOST_TEXTS} values; it may repeat parts by aliases`;
    return [{ file, setting: `feeds.${feed}`, message }];
  }
  const complain = (path: SettingPath, message: string): Complaint => {
    const { setting, ...complaint } = source.complain(path, message);
    return { ...complaint, setting: `feeds.${feed}.${setting}` };
  };
  const secrets = secretsAmong(texts).map(({ path }) => complain(path, WRITTEN_SECRET));
  // Whoever wrote these into the configuration could read files and variables anyway.
  const kept = new Set([...textsOfConfigured(await configuredText(config, feed)), ...trusted].map(placeOfText));
  const shown = texts.filter((found) => showsVariable(found) && !kept.has(placeOfText(found)));
  const files: Complaint[] = [];
  for (const { path, value, kind } of namedFiles(texts)) {
    if (kept.has(placeOfText({ path, value }))) continue;
    const fault = await faultOfFile(config, value, kind);
    if (fault !== undefined) files.push(complain(path, fault));
  }
  return [
    ...secrets,
    ...shown.map(({ path }) => complain(path, SHOWN_VARIABLE)),
    ...files,
    ...(await faultsOfAddresses(config, feed, texts, trusted)).map(({ path, message }) => complain(path, message)),
  ];
}

const placeOfText = ({ path, value }: LoadedText): string => `${path.join('.')} ${value}`;

/** What is sent to a source, and to nobody else. */
const SENT_TO_SOURCE = new Set(['source', 'sources', 'credentials', 'headers', 'details', 'pages']);

/** A variable whose value would be shown, or be sent to the site. */
const showsVariable = ({ path, value }: LoadedText): boolean =>
  !SENT_TO_SOURCE.has(String(path[0])) && /\$\{[A-Za-z_][A-Za-z0-9_]*\}/.test(value);

const SHOWN_VARIABLE =
  'names an environment variable, whose value would be shown and be sent to the site: in a text from a page or the API, only credentials, headers and addresses may name variables';
const WRITTEN_SECRET = `is a secret: write \${NAME}, the name of an environment variable that holds it, or use the setting that names a file`;

interface LoadedText {
  readonly path: SettingPath;
  readonly value: string;
}

/** A text of 256 KiB has fewer; aliases may repeat them. */
const MOST_TEXTS = 100_000;

/** All texts of a feed's settings as they are loaded: through aliases, merged and tagged. `undefined`: there are more than {@link MOST_TEXTS}. */
function textsIn(data: unknown): readonly LoadedText[] | undefined {
  const found: LoadedText[] = [];
  const walk = (value: unknown, path: SettingPath): void => {
    if (found.length > MOST_TEXTS || value === null || value === undefined) return;
    if (typeof value !== 'object') {
      found.push({ path, value: String(value) });
      return;
    }
    // What holds no text counts as well.
    found.push({ path, value: '' });
    const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
    for (const [name, member] of members) walk(member, [...path, name]);
  };
  walk(data, []);
  return found.length > MOST_TEXTS ? undefined : found;
}

/** The same of a text that may be no valid YAML, of which nothing is loaded. */
function textsOfConfigured(text: string | undefined): readonly LoadedText[] {
  if (text === undefined) return [];
  try {
    return textsIn(toData(parseYaml('', text))) ?? [];
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

interface FoundText extends LoadedText {
  /** Where the text stands. */
  readonly range: readonly [number, number];
}

/** More nodes than any feed has; aliases may repeat some. */
const MOST_NODES = 100_000;

/** All texts of a feed's settings, also if the document has mistakes. One that is repeated by an alias comes once for each place. */
function textsOf(text: string): readonly FoundText[] {
  const found: FoundText[] = [];
  const document = parseDocument(text, { prettyErrors: false });
  let left = MOST_NODES;
  const walk = (node: unknown, path: SettingPath): void => {
    if (left-- <= 0 || path.length > DEEPEST) return;
    if (isAlias(node)) {
      walk(node.resolve(document), path);
    } else if (isMap(node)) {
      for (const { key, value } of node.items) {
        const name = isAlias(key) ? key.resolve(document) : key;
        walk(value, [...path, isScalar(name) ? String(name.value) : '?']);
      }
    } else if (isSeq(node)) {
      for (const [at, item] of node.items.entries()) walk(item, [...path, at]);
    } else if (isScalar(node) && node.value !== null && node.range !== undefined && node.range !== null) {
      found.push({ path, value: String(node.value), range: [node.range[0], node.range[1]] });
    }
  };
  walk(document.contents, []);
  return found;
}

/** An alias may repeat what it is part of. */
const DEEPEST = 50;

const REFERENCE = /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/;
/** Names of parameters whose values are certainly secret. */
const SECRET_PARAMETER =
  /(?:^|[_.-])(?:api_?key|token|secret|passw(?:or)?d|pwd|access_?key|signature|sig)$|apikey$|token$/i;

function secretsAmong<T extends LoadedText>(texts: readonly T[]): readonly T[] {
  const hasPassword = texts.some(({ path }) => /^credentials\.basic\.password(?:_file)?$/.test(path.join('.')));
  return texts.filter(({ path, value }) => {
    if (REFERENCE.test(value) || value === '') return false;
    if (value.includes(MASK)) return true;
    const [setting, ...rest] = path;
    if (setting === 'credentials' && isSecretCredential(rest)) return rest.join('.') !== 'basic.user' || !hasPassword;
    if (setting === 'headers' && !value.includes(`\${`)) {
      return isSecretHeader(String(rest[0])) || /^(?:bearer|basic) \S/i.test(value);
    }
    return hasSecretInAddress(value);
  });
}

function hasSecretInAddress(value: string): boolean {
  if (!isAddress(value) || !URL.canParse(value)) return false;
  const { password, searchParams } = new URL(value);
  const written = [...searchParams].some(
    ([name, given]) => SECRET_PARAMETER.test(name) && given !== '' && !REFERENCE.test(given),
  );
  return written || (password !== '' && !REFERENCE.test(decodeURIComponent(password)));
}

/** Stands for a secret in what is shown, and can't be saved. */
const MASK = '[secret]';
const HIDDEN = `"${MASK}"`;
/** In a text that is not YAML: a setting whose name says that it is a secret. */
const SECRET_LINE =
  /^(\s*(?:- )?["']?[\w-]*(?:password|passphrase|token|secret|auth|cookie|key|value)[\w-]*["']?\s*:\s+)(?!\$\{)(\S.*)$/gim;

/** The text with `[secret]` in place of each secret that is written in it. */
function withoutSecrets(written: string): string {
  const text = quoteStandardInput(written);
  let shown = text;
  const secrets = new Map(secretsAmong(textsOf(text)).map((each) => [each.range[0], each]));
  // From the end, so that the places before stay what they are.
  for (const { range, value } of [...secrets.values()].sort((one, other) => other.range[0] - one.range[0])) {
    const hidden = hasSecretInAddress(value) ? `"${addressWithoutSecrets(value)}"` : HIDDEN;
    shown = shown.slice(0, range[0]) + hidden + shown.slice(range[1]);
  }
  const isWhole = parseDocument(text, { prettyErrors: false }).errors.length === 0;
  return isWhole ? shown : shown.replace(SECRET_LINE, `$1${HIDDEN}`);
}

function addressWithoutSecrets(value: string): string {
  const address = new URL(value);
  if (address.password !== '') address.password = MASK;
  for (const [name] of [...address.searchParams]) {
    if (SECRET_PARAMETER.test(name)) address.searchParams.set(name, MASK);
  }
  return address.href.replaceAll(encodeURIComponent(MASK), MASK);
}

interface NamedFile {
  readonly path: SettingPath;
  readonly value: string;
  /** `source`: its content is sent to a site. `setting`: a credential or a table. */
  readonly kind: 'source' | 'setting';
}

function namedFiles(texts: readonly LoadedText[]): readonly NamedFile[] {
  return texts.flatMap(({ path, value }): NamedFile[] => {
    if (value === '') return [];
    const name = String(path.at(-1));
    if (path[0] === 'source' || path[0] === 'sources') {
      return isAddress(value) ? [] : [{ path, value, kind: 'source' }];
    }
    return name === 'map' || name.endsWith('_file') ? [{ path, value, kind: 'setting' }] : [];
  });
}

async function configuredText(config: Config, feed: string): Promise<string | undefined> {
  // Also of a file that this process has not taken over yet.
  const own = ownFileOf(config, feedName(feed));
  const text = own === undefined ? undefined : await presentText(own);
  return text ?? textInMain(await readText(config.path), feed);
}

// Addresses that a text from a page or the API names.

const addressesAmong = (texts: readonly LoadedText[]): readonly LoadedText[] =>
  texts.filter(({ value }) => isAddress(value));

/**
 * The addresses of a text that a page or the API has brought: now, or with a text that was saved before. Whoever wrote the configuration by
 * hand could name any.
 */
export async function addressesNotByHand(
  { config, db }: Pick<FeedFileContext, 'config'> & { readonly db: Queryable },
  feed: FeedName,
  text: string,
  restored?: StoredVersion,
): Promise<readonly string[]> {
  const trusted = writtenByHand(restored);
  const texts = textsOfConfigured(text);
  const own = ownFileOf(config, feed);
  const isInFile = own !== undefined && (await presentText(own)) !== undefined;
  const fromHere = isInFile ? await addressesOfLastSave(db, feed) : new Set<string>();
  const brought = new Set([
    ...(await newAmong(config, feed, texts, trusted)).map(({ value }) => value),
    ...addressesAmong(texts).flatMap(({ value }) => (fromHere.has(value) ? [value] : [])),
  ]);
  return [...brought];
}

async function newAmong(
  config: Config,
  feed: string,
  texts: readonly LoadedText[],
  trusted: readonly LoadedText[],
): Promise<readonly LoadedText[]> {
  const configured = textsOfConfigured(await configuredText(config, feed));
  const known = new Set(addressesAmong([...configured, ...trusted]).map(({ value }) => value));
  return addressesAmong(texts).filter(({ value }) => !known.has(value));
}

interface AddressFault {
  readonly path: SettingPath;
  readonly message: string;
}

async function faultsOfAddresses(
  config: Config,
  feed: string,
  texts: readonly LoadedText[],
  trusted: readonly LoadedText[],
): Promise<readonly AddressFault[]> {
  if (config.web.privateSources) return [];
  const faults: AddressFault[] = [];
  for (const { path, value } of await newAmong(config, feed, texts, trusted)) {
    if (hasVariableHost(value)) faults.push({ path, message: VARIABLE_HOST });
    else if (await isPrivatePlace(value)) faults.push({ path, message: NOT_PUBLIC });
  }
  const allowing = (among: readonly LoadedText[]) =>
    among.find(({ path, value }) => path.join('.') === 'allow_private_redirects' && value === 'true');
  const redirects = allowing(texts);
  const byHand = [...textsOfConfigured(await configuredText(config, feed)), ...trusted];
  if (redirects !== undefined && allowing(byHand) === undefined) {
    faults.push({ path: redirects.path, message: NOT_ALLOWED });
  }
  return faults;
}

const hasVariableHost = (address: string): boolean => /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*\$\{/i.test(address);

const OTHERS = 'to allow others, set web.private_sources, or write it into the file by hand';
const NOT_PUBLIC = `is not a public address, and feeds from pages and the API may come only from public ones; ${OTHERS}`;
const NOT_ALLOWED = `would lead to addresses that are not public, and feeds from pages and the API may come only from public ones; ${OTHERS}`;

const VARIABLE_HOST =
  'has a variable in its host, so that nobody can tell whether it is public: write the host itself, or write it into the file by hand';

/** A name that nobody knows now is not: it is refused when it is read. */
async function isPrivatePlace(address: string): Promise<boolean> {
  if (!(isWebAddress(address) || schemeSourceOf(address)?.isHost === true) || !URL.canParse(address)) return false;
  const host = new URL(address).hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return isPrivateAddress(host);
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.some((each) => isPrivateAddress(each.address));
}

/** A source may be in the folders that the configuration names for that, a setting's file beside the configuration. */
async function faultOfFile(config: Config, value: string, kind: NamedFile['kind']): Promise<string | undefined> {
  const byHand = 'or write it into the file by hand';
  if (value.includes(`\${`)) return `is a path made of variables: write the path itself, ${byHand}`;
  const folder = dirname(config.path);
  const pattern = /[*?]/.test(basename(value)) ? dirname(value) : value;
  const path = await realPathOf(resolve(folder, pattern));
  const folders = kind === 'source' ? config.web.sourceFolders : [folder];
  const real = await Promise.all(folders.map(realPathOf));
  const isInside = real.some((each) => path === each || isWithin(each, path));
  const dataDir = await realPathOf(config.dataDir);
  const isData = path === dataDir || isWithin(dataDir, path) || path === (await realPathOf(config.path));
  if (isInside && !isData) return undefined;
  return kind === 'source'
    ? `is a file of the server in none of the folders of web.source_folders: name its folder there, ${byHand}`
    : `is a file that does not lie beside the configuration: put it there, ${byHand}`;
}

/** Of a path that may not exist: its first folder that does is followed. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(await realPathOf(above), basename(path));
  }
}
