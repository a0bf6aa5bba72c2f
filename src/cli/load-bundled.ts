// Loads the files of the bundled program with the code that V8 compiled in an earlier run of the same command: compiling takes a third of
// the time of a short command. Node.js can keep compiled code by itself only from 22.8 on.
import { isAscii } from 'node:buffer';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Script } from 'node:vm';
import * as zlib from 'node:zlib';

const FOLDER = import.meta.dirname;
const EXTENSION = '.cjs';
/** Short commands end before; a process that runs for longer may load its other files after a new version has replaced them. */
const READ_ALL_AFTER_MS = 5_000;

/** Compiled code lies beside the files that it is made of: whoever could replace it could replace the program. */
const KEPT_IN = join(FOLDER, 'compiled');
/** Each command uses other functions, and other releases of Node.js cannot use its code. */
const RELEASE = `-${process.version}-${process.arch}`;
const KEPT = join(KEPT_IN, `${/^[a-z]+$/.exec(process.argv[2] ?? '')?.[0] ?? 'any'}${RELEASE}`);

/** Two releases that are used by turns must not remove each other's code each time. */
const KEPT_FOR_OTHERS_MS = 24 * 60 * 60 * 1_000;

/** Compiled code of a file; `checksum` is that of its text. */
interface Compiled {
  readonly checksum: number;
  readonly data: Buffer;
}

interface Loaded {
  readonly module: { exports: object };
  /** Undefined if the kept code was used. */
  readonly compile: (() => Compiled) | undefined;
}

type Run = (exports: object, require: NodeJS.Require, module: object, filename: string, dirname: string) => void;

const loaded = new Map<string, Loaded>();
const texts = new Map<string, Buffer>();
const fromPackages = createRequire(import.meta.url);
// Releases of Node.js without this function compile each time.
const checksumOf: ((bytes: Buffer) => number) | undefined = zlib.crc32;
const kept = readKept();
const readingAll = setTimeout(() => void readAll().catch(() => undefined), READ_ALL_AFTER_MS).unref();

/** What a file exports. `name` is that of its source, for those that rolldown.config.mjs names. */
export function loadBundled(name: string): object {
  return load(`${name}${EXTENSION}`);
}

/** The exit status of a run that failed: it may have ended before it used most of its code. */
const FAILED = 1;

/**
 * Keeps what this run compiled for the next one of the same command. Only the owner of the program does: files of root in an installation of
 * somebody else would be in the way of its next build.
 */
export function keepCompiled(): void {
  clearTimeout(readingAll);
  if (process.exitCode === FAILED || checksumOf === undefined) return;
  if ([...loaded.values()].every(({ compile }) => compile === undefined)) return;
  const written = `${KEPT}.${process.pid}`;
  try {
    if (statSync(FOLDER).uid !== process.geteuid?.()) return;
    const present = new Set(readdirSync(FOLDER));
    for (const name of kept.keys()) if (!present.has(name)) kept.delete(name);
    for (const [name, { compile }] of loaded) if (compile !== undefined) kept.set(name, compile());
    const data = Buffer.concat([...kept.values()].map((each) => each.data));
    const list = [...kept].map(([name, each]) => [name, each.checksum, each.data.length]);
    const head = Buffer.from(`${JSON.stringify([checksumOf(data), ...list])}\n`);
    mkdirSync(KEPT_IN, { recursive: true });
    writeFileSync(written, Buffer.concat([head, data]));
    renameSync(written, KEPT);
    // Of other releases, and of runs that were killed while they wrote.
    const others = readdirSync(KEPT_IN).filter((file) => !file.endsWith(RELEASE));
    for (const path of others.map((file) => join(KEPT_IN, file)))
      if (statSync(path).mtimeMs < Date.now() - KEPT_FOR_OTHERS_MS) rmSync(path, { force: true });
  } catch {
    // The next run compiles again.
    rmSync(written, { force: true });
  }
}

function load(file: string): object {
  const known = loaded.get(file);
  if (known !== undefined) return known.module.exports;
  const path = join(FOLDER, file);
  const bytes = texts.get(file) ?? readFileSync(path);
  // Text of one byte per character needs no decoding.
  const text = bytes.toString(isAscii(bytes) ? 'latin1' : 'utf8');
  const checksum = checksumOf?.(bytes) ?? 0;
  const found = kept.get(file);
  const script = new Script(`(function (exports, require, module, __filename, __dirname) {${text}\n})`, {
    filename: path,
    cachedData: found?.checksum === checksum ? found.data : undefined,
  });
  const isKept = script.cachedDataRejected === false;
  const compile = isKept ? undefined : () => ({ checksum, data: script.createCachedData() });
  const module = { exports: {} };
  loaded.set(file, { module, compile });
  try {
    (script.runInThisContext() as Run)(module.exports, requireBundled, module, path, FOLDER);
  } catch (error) {
    loaded.delete(file);
    throw error;
  }
  return module.exports;
}

const requireBundled: NodeJS.Require = Object.assign(
  (id: string): unknown => (id.startsWith('./') ? load(id.slice(2)) : fromPackages(id)),
  fromPackages,
);

/** What an earlier run of the command has kept, by file; nothing if that is damaged. */
function readKept(): Map<string, Compiled> {
  const found = new Map<string, Compiled>();
  if (checksumOf === undefined) return found;
  try {
    const bytes = readFileSync(KEPT);
    const start = bytes.indexOf('\n') + 1;
    const [checksum, ...list] = JSON.parse(bytes.toString('latin1', 0, start)) as [
      number,
      ...[string, number, number][],
    ];
    if (checksumOf(bytes.subarray(start)) !== checksum) return found;
    let at = start;
    for (const [name, checksumOfText, length] of list) {
      found.set(name, { checksum: checksumOfText, data: bytes.subarray(at, at + length) });
      at += length;
    }
  } catch {
    found.clear();
  }
  return found;
}

/** A file that a new version has already removed stays unread: whatever needs it fails as it would have. */
async function readAll(): Promise<void> {
  for (const file of readdirSync(FOLDER)) {
    if (!file.endsWith(EXTENSION) || loaded.has(file)) continue;
    const bytes = await readFile(join(FOLDER, file)).catch(() => undefined);
    if (bytes !== undefined) texts.set(file, bytes);
  }
}
