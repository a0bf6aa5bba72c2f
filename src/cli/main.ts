#!/usr/bin/env node
// Runs the bundled command line, which `npm run build` makes (rolldown.config.mjs).

// @ts-expect-error: the bundler makes this file from the compiler's output.
await import('../../bundled/entry.js');

export {};
