// Bundles what the compiler wrote to `dist` into `dist/bundled`: the program itself, and the packages that short commands load.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'rolldown';

/** Packages of JavaScript alone, with all that they depend on. Others stay outside. */
const BUNDLED = ['commander', 'htmlparser2', 'pg', 'pg-copy-streams', 'pino', 'string-width', 'yaml', 'zod'];
/** `pg` loads these only on request, and on another platform. */
const OUTSIDE = ['pg-native', 'pg-cloudflare'];

const IN_PACKAGE = /^(?<folder>.*\/node_modules\/(?<name>(?:@[^/]+\/)?[^/]+))\//;
const packageOf = (id) => /^(?:@[^/]+\/)?[^/]+/.exec(id)[0];

const isOutside = (id, importer) => {
  if (!/^[@a-z]/.test(id)) return false;
  return OUTSIDE.includes(packageOf(id)) || !(BUNDLED.includes(packageOf(id)) || IN_PACKAGE.test(importer ?? ''));
};

/** Licences demand that their text goes along with the code. */
const licences = {
  name: 'licences',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((chunk) => chunk.moduleIds ?? []);
    const folders = new Set(modules.flatMap((id) => IN_PACKAGE.exec(id)?.groups.folder ?? []));
    const notices = [...folders].map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const files = readdirSync(folder).filter((file) => /^licen[cs]e/i.test(file));
      const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
      return [`${name} ${version} (${license})`, ...texts].join('\n\n');
    });
    const source = `${['The files beside this one contain these packages.', ...notices.sort()].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
    this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY.txt', source });
  },
};

/** The modules that others load at once, directly or through each other. */
const loadedBy = (...files) => {
  const found = new Set();
  const collect = (id, context) => {
    if (found.has(id)) return;
    found.add(id);
    for (const each of context.getModuleInfo(id)?.importedIds ?? []) collect(each, context);
  };
  return (id, context) => {
    if (found.size === 0) for (const file of files) collect(join(import.meta.dirname, 'dist/src/cli', file), context);
    return found.has(id);
  };
};
/** Few files instead of many: each takes time to find and to read. What `sync` loads, most commands need. */
const FILES = [
  { name: 'program', test: loadedBy('run-process.js', 'program.js') },
  { name: 'commands', test: loadedBy('commands/sync.js') },
];
const groups = FILES.map(({ name, test }, at) => ({
  name: (id, context) => (test(id, context) ? name : null),
  debugName: name,
  priority: FILES.length - at,
}));

/** A file of one byte per character needs no decoding. */
const ascii = {
  name: 'ascii',
  renderChunk(code) {
    if (/String\.raw`[^`]*[^\0-\x7f]/.test(code))
      this.error('String.raw takes an escape as it is: write the character otherwise');
    return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  },
};

const program = createHash('sha256');
const COMPILED = join(import.meta.dirname, 'dist/src');
for (const file of readdirSync(COMPILED, { recursive: true }).sort()) {
  if (file.endsWith('.js')) program.update(readFileSync(join(COMPILED, file)));
}
/** `pg` asks what it runs on; Node.js 20 has no answer, and `pg` then has it load an HTTP client that nothing uses. */
const define = { navigator: '{"userAgent":"Node.js"}', PROGRAM_DIGEST: JSON.stringify(program.digest('base64url')) };

const common = { platform: 'node', logLevel: 'warn', external: isOutside, transform: { define } };

export default defineConfig([
  // What `src/cli/load-bundled.ts` loads: the program, and the times that tests set.
  {
    ...common,
    input: { 'run-process': 'dist/src/cli/run-process.js', timing: 'dist/src/runtime/timing.js' },
    plugins: [licences, ascii],
    output: {
      dir: 'dist/bundled',
      format: 'cjs',
      // All packages outside can be required; code that V8 has kept can't import.
      dynamicImportInCjs: false,
      entryFileNames: '[name].cjs',
      chunkFileNames: '[name]-[hash].cjs',
      codeSplitting: { groups },
      comments: { legal: true, annotation: false, jsdoc: false },
      cleanDir: true,
    },
  },
  // What Node.js loads by its name: the file that loads the program, and the program's thread.
  {
    ...common,
    input: {
      entry: 'dist/src/cli/entry.js',
      'load-bundled': 'dist/src/cli/load-bundled.js',
      'splitting-thread': 'dist/src/feed/batch/splitting-thread.js',
    },
    preserveEntrySignatures: 'allow-extension',
    output: {
      dir: 'dist/bundled',
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      minifyInternalExports: false,
    },
  },
]);
