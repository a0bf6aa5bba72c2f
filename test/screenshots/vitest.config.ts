// `npm run screenshots`: pictures of every page, for people to view and for the README. No part of the tests.
import { defineConfig } from 'vitest/config';

const MINUTE = 60_000;

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    include: ['test/screenshots/take-screenshots.ts'],
    testTimeout: 10 * MINUTE,
    hookTimeout: 5 * MINUTE,
    reporters: ['verbose'],
  },
});
