// `npm run real-parts`: the mirror behind real servers, each of them with each fault. No part of the other tests; needs Debian with
// apt-get. A name runs one matrix: `npm run real-parts -- feed-proxies`. docs/real-parts.md gets what was seen.
import { defineConfig } from 'vitest/config';
import { COMPILED, compile, importCompiled } from '../support/compiled.ts';

const MINUTE = 60_000;

// Processes of an installation run what is compiled, and so does this one.
compile();

export default defineConfig({
  plugins: [importCompiled],
  test: {
    server: { deps: { external: [COMPILED] } },
    globalSetup: ['test/support/global-setup.ts'],
    include: ['test/real-parts/*.matrix.ts'],
    testTimeout: 5 * MINUTE,
    hookTimeout: 5 * MINUTE,
    maxConcurrency: 8,
    maxWorkers: 1,
    reporters: ['verbose'],
  },
});
