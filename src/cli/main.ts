#!/usr/bin/env node
// Runs the command line as `npm run build` bundles it (rolldown.config.mjs): dozens of files load in two thirds of the time that the
// hundreds of which they are made take.

// @ts-expect-error: the bundler makes it of what the compiler has written.
await import('../../bundled/entry.js');

export {};
