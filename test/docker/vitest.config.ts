// `npm run test:docker`: starts docker-compose.yml for real. Needs Docker with Compose, and is no part of the other tests.
import { defineConfig } from 'vitest/config';

const MINUTE = 60_000;

export default defineConfig({
  test: {
    include: ['test/docker/composition.ts'],
    // The first run pulls images and installs packages.
    testTimeout: 5 * MINUTE,
    hookTimeout: 30 * MINUTE,
    expect: { poll: { timeout: 3 * MINUTE, interval: 500 } },
    // Each test goes on with the state that the former left.
    bail: 1,
    reporters: ['verbose'],
  },
});
