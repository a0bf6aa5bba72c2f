// Finds and reads the files that `include` names: one feed for each, with its settings at the top level and the feed's name as the file's. Also
// the configuration file's default name, and the names in it, read without checking or completing the file.
import { hash } from 'node:crypto';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { serialize } from 'node:v8';
import type { RequestedAddresses } from '../feed/source/sources.ts';
import { feedName } from '../posting/identifiers.ts';
import { settingOf, settingsIn } from './build/sites-and-feeds.ts';
import type { Config, Include } from './config.ts';
import { type Complaint, ConfigError, complaintLine } from './config-error.ts';
import { INCLUDE_PATTERN, includeSchema } from './schema/config-schema.ts';
import { nameSchema } from './schema/scalars.ts';
import { fileErrorInWords, readText } from './settings-file.ts';
import { type FeedFileSource, parseYaml, toData, withFeedFiles, type YamlSource } from './yaml-source.ts';

/** A text in place of the settings of a feed. */
export interface FeedDraft {
  readonly feed: string;
  readonly text: string;
}

/** Also of the files that can't be used. */
export interface ReadFeedFiles extends Pick<Config, 'include' | 'feedFiles' | 'fileAddresses' | 'fileDigests'> {
  /** `undefined`: no feed has a file of its own. */
  readonly sources: ReadonlyMap<string, FeedFileSource> | undefined;
  readonly complaints: readonly Complaint[];
  /** The full names of the feeds whose files can't be read: `feeds.acme`. */
  readonly unreadable: ReadonlySet<string>;
}

/**
 * Reads the files that the main file includes, sorted by name. A file that can't be used is a complaint about its feed, because the others
 * can. Throws a {@link ConfigError} if the folder can't be read: what feeds there are would not be known.
 * @param around.shown a path as complaints name it
 */
export async function readFeedFiles(
  main: YamlSource,
  around: { readonly path: string; readonly shown: (path: string) => string; readonly draft: FeedDraft | undefined },
): Promise<ReadFeedFiles> {
  const { path, shown, draft } = around;
  const data = toData(main);
  const include = includeOf(settingOf(data, 'include'), path);
  const files = include === undefined ? [] : await filesIn(include);
  const sources = new Map<string, FeedFileSource>();
  const complaints: Complaint[] = [];
  const complainOf = (name: string, message: string): readonly Complaint[] => [
    { file: shown(join(include?.folder ?? '', `${name}${include?.ending}`)), setting: `feeds.${name}`, message },
  ];
  const inMain = settingsIn(data, 'feeds');
  for (const { name, file } of files) {
    if (name === draft?.feed) continue;
    const own = await readFeedFile(name, file, shown, include as Include);
    sources.set(name, own);
    if ('unreadable' in own) complaints.push(...own.unreadable);
    if (!Object.hasOwn(inMain, name)) continue;
    const other = complaintLine({ ...main.complain(['feeds', name], '', 'name'), setting: '' }).replace(/: $/, '');
    complaints.push(...complainOf(name, `the feed is also in ${other}; remove one of the two`));
  }
  if (draft !== undefined) {
    const file = include === undefined ? `${draft.feed}.yaml` : fileIn(include, draft.feed);
    sources.set(draft.feed, parseFeedFile(draft.feed, shown(file), draft.text));
    const own = sources.get(draft.feed);
    if (own !== undefined && 'unreadable' in own) complaints.push(...own.unreadable);
  }
  const settings = [...sources].map(([name, own]) => [feedName(name), 'unreadable' in own ? {} : toData(own)] as const);
  return {
    include,
    feedFiles: new Map(files.map(({ name, file }) => [feedName(name), file])),
    fileAddresses: new Map(settings.map(([name, own]) => [name, requestedAddresses(own)])),
    fileDigests: new Map(settings.map(([name, own]) => [name, digestOf(own)])),
    sources: include === undefined && draft === undefined ? undefined : sources,
    complaints,
    unreadable: new Set([...sources].flatMap(([name, own]) => ('unreadable' in own ? [`feeds.${name}`] : []))),
  };
}

/** Not of JSON, which cannot represent an alias that repeats what it is part of. */
const digestOf = (settings: unknown): string => hash('sha256', serialize(settings));

/** The digest of the settings that a feed's file has by now, as in `fileDigests`; `undefined`: it can't be read. */
export async function digestFeedFile(file: string): Promise<string | undefined> {
  try {
    return digestOf(toData(parseYaml(file, await readText(file))));
  } catch {
    return undefined;
  }
}

/** Settings of a feed, and of its own format, whose addresses are requested. Others, such as a constant, are only sent to the site. */
const REQUESTED = ['credentials', 'pages', 'details', 'script', 'proxy'];

/** The addresses that reading a feed with these settings requests. */
export function requestedAddresses(settings: unknown): RequestedAddresses {
  const sources = [settingOf(settings, 'sources') ?? settingOf(settings, 'source') ?? []].flat();
  const others = [settings, settingOf(settings, 'format')].flatMap((group) =>
    REQUESTED.flatMap((name) => addressesIn(settingOf(group, name))),
  );
  return { sources: sources.map(String), others };
}

/** Texts that begin with a scheme. An alias may repeat what it is part of. */
function addressesIn(settings: unknown, among: readonly unknown[] = []): readonly string[] {
  if (typeof settings === 'string') return isAddress(settings) ? [settings] : [];
  if (typeof settings !== 'object' || settings === null || among.includes(settings)) return [];
  return Object.values(settings).flatMap((each) => addressesIn(each, [...among, settings]));
}

export const isAddress = (text: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(text);

/** The path of a feed's file, whether or not it exists. */
export const fileIn = ({ folder, ending }: Include, feed: string): string => join(folder, `${feed}${ending}`);

/** `undefined`: nothing is included, or the schema refuses it. */
function includeOf(written: unknown, path: string): Include | undefined {
  const pattern = includeSchema.safeParse(written).data;
  if (pattern === undefined) return undefined;
  const [, folder = '', ending = ''] = INCLUDE_PATTERN.exec(pattern) ?? [];
  return { pattern, folder: resolve(dirname(path), folder), ending };
}

/** Files that begin with a dot are an editor's. */
async function filesIn({
  folder,
  ending,
}: Include): Promise<readonly { readonly name: string; readonly file: string }[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new ConfigError([{ file: folder, setting: 'include', message: `can't be read: ${fileErrorInWords(error)}` }]);
  });
  return names
    .filter((name) => name.endsWith(ending) && !name.startsWith('.') && name !== ending)
    .sort()
    .map((name) => ({ name: name.slice(0, -ending.length), file: join(folder, name) }));
}

async function readFeedFile(
  name: string,
  file: string,
  shown: (path: string) => string,
  { folder }: Include,
): Promise<FeedFileSource> {
  const unreadable = (message: string) => ({ unreadable: [{ file: shown(file), setting: `feeds.${name}`, message }] });
  const named = nameSchema.safeParse(name);
  if (!named.success) return unreadable(`the file's name is the feed's, which ${named.error.issues[0]?.message}`);
  try {
    // A link may lead to another file of the folder, as Kubernetes makes them, but not out of it.
    const [real, realFolder] = await Promise.all([realpath(file), realpath(folder)]);
    if (!isWithin(realFolder, real))
      return unreadable(`is a link out of the folder, to ${real}; put the file there itself`);
    if (!(await stat(file)).isFile()) return unreadable('is no file');
    return parseFeedFile(name, shown(file), await readText(file));
  } catch (error) {
    if (error instanceof ConfigError) return { unreadable: ofFeed(name, shown(file), error) };
    return unreadable(`can't be read: ${fileErrorInWords(error as NodeJS.ErrnoException)}`);
  }
}

function parseFeedFile(name: string, shownFile: string, text: string): FeedFileSource {
  try {
    const source = parseYaml(shownFile, text);
    toData(source);
    return source;
  } catch (error) {
    if (error instanceof ConfigError) return { unreadable: ofFeed(name, shownFile, error) };
    throw error;
  }
}

/** Mistakes of the whole file concern its feed only. */
const ofFeed = (name: string, file: string, { complaints }: ConfigError): readonly Complaint[] =>
  complaints.map((complaint) => ({ ...complaint, file, setting: `feeds.${name}` }));

/** Whether a real path is below a real folder. */
export const isWithin = (folder: string, path: string): boolean => {
  const inner = relative(folder, path);
  return inner !== '' && inner !== '..' && !inner.startsWith(`..${sep}`) && resolve(folder, inner) === path;
};

/** The path as the main file would write it. */
export const pathFromMainFile = (mainFile: string, path: string): string =>
  relative(dirname(mainFile), path) || basename(path);

/** The default file, in the current folder. */
export const CONFIG_FILE = 'jobmirror.yaml';

/** The names of the sites or feeds in a file; none if it can't be read. */
export async function readNames(path: string, group: 'sites' | 'feeds'): Promise<readonly string[]> {
  try {
    const main = parseYaml(path, await readFile(path, 'utf8'));
    const { sources } = await readFeedFiles(main, { path: resolve(path), shown: (file) => file, draft: undefined });
    const data = toData(sources === undefined ? main : withFeedFiles(main, sources));
    return Object.keys((data as Partial<Record<string, object>> | null)?.[group] ?? {});
  } catch {
    return [];
  }
}
