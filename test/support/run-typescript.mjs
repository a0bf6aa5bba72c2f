// Runs a TypeScript file from source in its own process: Node 20 can't do that itself, and dist may be out of date.
// node run-typescript.mjs FILE ARGUMENT…
import { runnerImport } from 'vite';

const [file] = process.argv.splice(2, 1);
await runnerImport(file, { configFile: false, logLevel: 'error' });
