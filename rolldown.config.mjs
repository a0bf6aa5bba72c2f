// Bundles what the compiler wrote to `dist` into `dist/bundled`: what the program itself consists of, not the packages that it uses.
import { defineConfig } from 'rolldown';

export default defineConfig({
  // Each is a file of its own, which others import or start by its name: the program, its thread, and the times that tests set.
  input: {
    entry: 'dist/src/cli/entry.js',
    'splitting-thread': 'dist/src/feed/batch/splitting-thread.js',
    timing: 'dist/src/runtime/timing.js',
  },
  platform: 'node',
  logLevel: 'warn',
  // Packages, and modules of Node; what the bundler itself makes up has names that begin with a zero byte.
  external: /^[@a-z]/,
  output: {
    dir: 'dist/bundled',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    cleanDir: true,
  },
});
