// How the tests run: in child processes, two at a time, against one Postgres server that the run starts and ends.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/property-seed.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    // `npm run coverage`: what decides on deletes, on outcomes and on creates in doubt has no branch that no test takes.
    coverage: {
      enabled: false,
      provider: 'v8',
      include: [
        'src/plan/**',
        'src/site/outcome.ts',
        'jobs/apply-change.ts',
        'jobs/confirm-gone.ts',
        'jobs/outcome-policy.ts',
        'jobs/resolve-doubts.ts',
      ],
      thresholds: { branches: 100 },
      reporter: ['text'],
    },
  },
});
