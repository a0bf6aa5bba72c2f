// Runs a TypeScript file as a process of its own, from source: Node 20 can't by itself, and dist may be older than the source.
// node run-typescript.mjs FILE ARGUMENT…
import { runnerImport } from 'vite';

const [file] = process.argv.splice(2, 1);
await runnerImport(file, { configFile: false, logLevel: 'error' });
