// How the tests run: pure ones in threads that share their modules, then those with servers, more at a time than a small
// machine has cores, on one Postgres server that the run starts and ends. CONTRIBUTING.md says which commands there are.
import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { runsEverything } from './test/support/extent.ts';
import { leftOut } from './test/support/only-in-all.ts';

/** Compute only, or talk to servers of their own within the process. */
const UNIT = ['architecture', 'compact', 'config', 'feed', 'flow', 'plan', 'posting', 'site', 'telemetry'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);
/** Wait for most of their time: for processes that start, die or stand still, and for what happens then. */
const SLOW = ['test/laws/**/*.test.ts', 'test/embedded-postgres/**/*.test.ts', 'test/site/list-stream.test.ts'];

/**
 * Test files with servers that run at a time. Each waits for most of its time: for another process, for a deadline, or for
 * the disk. Vitest has one number for the projects of a group.
 */
const AT_A_TIME = 4;

/** Replace modules: these have their modules to themselves. */
const MOCKING = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((file) => `test/${file}`)
  .filter((file) => file.endsWith('.test.ts') && readFileSync(file, 'utf8').includes('vi.mock('));

const LEFT_OUT = runsEverything ? [] : leftOut(process.argv.slice(2));

const shared = {
  setupFiles: ['test/support/property-seed.ts'],
  // Nothing depends on the time that it takes, on a machine that does much else: these end only what hangs.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
};

/** The longest files start first, so that none is left over at the end; the others use the processor while they wait. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isSlow = ({ project }: TestSpecification): boolean => project.name === 'slow';
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}

/** What says how TSX is compiled, besides this file, the text of a module and the packages. */
const COMPILER_OPTIONS = readFileSync('tsconfig.json', 'utf8');

export default defineConfig({
  plugins: [
    {
      name: 'jobmirror:module-cache',
      configureVitest: (context) => context.experimental_defineCacheKeyGenerator(() => COMPILER_OPTIONS),
    },
  ],
  test: {
    // Compiled modules are kept in `node_modules`, each under the hash of all that it is made of.
    experimental: { fsModuleCache: true },
    globalSetup: ['test/support/global-setup.ts'],
    teardownTimeout: 20_000,
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: UNIT,
          exclude: [...SLOW, ...MOCKING, ...LEFT_OUT],
          pool: 'threads',
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'slow',
          include: SLOW,
          exclude: [...MOCKING, ...LEFT_OUT],
          pool: 'forks',
          isolate: false,
          maxWorkers: AT_A_TIME,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          name: 'integration',
          include: ['test/**/*.test.ts'],
          exclude: [...UNIT, ...SLOW, ...MOCKING, ...LEFT_OUT],
          pool: 'forks',
          isolate: false,
          maxWorkers: AT_A_TIME,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...shared,
          name: 'isolated',
          include: MOCKING,
          exclude: LEFT_OUT,
          pool: 'forks',
          maxWorkers: AT_A_TIME,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    // `npm run coverage`: what decides on deletes, on outcomes and on creates in doubt has no branch that no test takes.
    coverage: {
      enabled: false,
      provider: 'v8',
      include: [
        'src/plan/**',
        'src/compact/{record,key}-index.ts',
        'src/pull/pull-ledger.ts',
        'src/site/outcome.ts',
        'jobs/apply-change.ts',
        'src/apply/{confirm-gone,prove-address}.ts',
        'src/apply/outcome-policy.ts',
        'src/apply/{resolve,index,decide}-doubts.ts',
        'src/apply/open-doubt.ts',
        'src/apply/unowned-candidates.ts',
      ],
      thresholds: { branches: 100 },
      reporter: ['text'],
    },
  },
});
