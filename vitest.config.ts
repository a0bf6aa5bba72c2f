// How the tests run: pure ones in threads that share their modules, then those with servers in processes, more at a time than a
// small machine has cores, on one Postgres server that the run starts and ends. CONTRIBUTING.md says which commands there are.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { COMPILED, compile, importCompiled } from './test/support/compiled.ts';
import { isQuick, slowFiles } from './test/support/extent.ts';

/** Compute only, or talk to servers of their own within the process. */
const PURE = new Set(['architecture', 'compact', 'config', 'feed', 'flow', 'plan', 'posting', 'site', 'telemetry']);
/** Against sites, databases and queues that others have made; they wait for most of their time. */
const REAL_SITES = 'real-sites';
const foldersThat = (isPure: boolean): string[] =>
  readdirSync('test').flatMap((folder) =>
    PURE.has(folder) === isPure && folder !== REAL_SITES ? `test/${folder}/**/*.test.ts` : [],
  );
/** Start processes or use a database, and belong to a folder of pure tests nevertheless. */
const WITH_PROCESSES = ['test/site/list-stream.test.ts', 'test/config/feed-files.test.ts'];
/**
 * Take long however large they are, most of them as they wait: for processes that die or stand still, for deadlines of a site, and for
 * what happens then. Those that take longest come first.
 */
const WAITING = [
  'laws/own-faults',
  'scenarios/odd-answers',
  'scenarios/cached-list',
  'laws/stopped',
  'scenarios/reused-ids',
  'laws/rewritten-values',
  'laws/anonymous-reader',
  'laws/secrets',
  'laws/somebody-elses-jobs',
  'laws/hidden-jobs',
  'cli/demo',
  'laws/simulation',
  'laws/crossing',
  'scenarios/throttled-site',
  'laws/several-machines',
  'laws/verify',
  'laws/crash-seeds',
  'scenarios/slow-shown-jobs',
  'scenarios/gone-doubts-in-grace',
  'queue/running-worker',
  'laws/ambiguous-creates',
  'laws/uncertain-writes',
  'laws/doubts',
  'scenarios/token-in-answers',
  'laws/places',
  'laws/few-connections',
  'cli/undo',
  'cli/remote-session',
  'scenarios/ahead',
  'cli/feeds',
  'review/reopen',
  'laws/database-states',
  'web/hostile',
  'store/leadership',
  'scenarios/moved-site',
  'review/adopt-found',
].map((file) => `test/${file}.test.ts`);

/** Test files that run at a time. Those with servers wait for much of their time: for another process, a deadline, or the disk. */
const AT_A_TIME = Number(process.env.TESTS_AT_A_TIME ?? 5);

/** How many of the waiting files start first, beside the pure tests, and over which share of the others the rest is spread. */
const WAITING_FIRST = 2;
const SPREAD_OVER = 0.7;

/** Replace modules: these have their modules to themselves. */
const MOCKING = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((file) => `test/${file}`)
  .filter((file) => file.endsWith('.test.ts') && readFileSync(file, 'utf8').includes('vi.mock('));

/** What `npm test` need not even load; `.ci/run` names what it runs on other releases of Node. */
const LEFT_OUT = isQuick ? slowFiles().filter((file) => !process.argv.includes(file)) : [];

/** The coverage is that of the sources, and only sources can be replaced by mocks. */
const compiled = process.argv.includes('--coverage') ? [] : [importCompiled];
compile();

const shared = {
  tags: [
    { name: 'slow', description: 'left out by `npm test`: takes long, and another test covers the law or rule' },
    { name: 'every-node', description: 'slow, but CI runs it on each release of Node' },
  ],
  server: { deps: { external: [COMPILED] } },
  setupFiles: ['test/support/property-seed.ts', 'test/support/fast-assertions.ts'],
  // Nothing depends on the time that it takes, on a machine that does much else: these end only what hangs.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
};

/**
 * Files that wait for most of their time start one after the other among those that compute, which use the processor meanwhile; none
 * starts so late that it is left over at the end. Files with modules to themselves come where the project changes anyway: a process
 * ends, and its modules with it, when the next file is of another project. At the end of the run, little would run beside them.
 */
class SpreadWaiting extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // The largest first.
    const sorted = await super.sort(files);
    const of = (name: string): TestSpecification[] => sorted.filter(({ project }) => project.name === name);
    const placeOf = ({ moduleId }: TestSpecification): number => WAITING.indexOf(relative('.', moduleId));
    const waiting = of('integration').filter((file) => placeOf(file) !== -1);
    waiting.sort((one, other) => placeOf(one) - placeOf(other));
    const others = of('integration').filter((file) => placeOf(file) === -1);
    const first = waiting.splice(0, WAITING_FIRST);
    return [...of(REAL_SITES), ...of('isolated'), ...first, ...of('unit'), ...spread(waiting, others)];
  }
}

/** Spreads the files evenly over the first of the others, whose size tells how long they take. */
function spread(waiting: readonly TestSpecification[], others: readonly TestSpecification[]): TestSpecification[] {
  const sizes = others.map(({ moduleId }) => statSync(moduleId).size);
  const between = (sizes.reduce((sum, size) => sum + size, 0) * SPREAD_OVER) / Math.max(1, waiting.length);
  const left = [...waiting];
  let before = 0;
  const files = others.flatMap((file, at) => {
    const isNext = before >= between * (waiting.length - left.length);
    before += sizes[at] ?? 0;
    return isNext ? [...left.splice(0, 1), file] : [file];
  });
  return [...files, ...left];
}

export default defineConfig({
  plugins: compiled,
  test: {
    server: { deps: { external: [COMPILED] } },
    globalSetup: ['test/support/global-setup.ts'],
    teardownTimeout: 20_000,
    sequence: { sequencer: SpreadWaiting },
    projects: [
      {
        plugins: compiled,
        test: {
          ...shared,
          name: 'unit',
          include: foldersThat(true),
          exclude: [...WITH_PROCESSES, ...MOCKING, ...LEFT_OUT],
          pool: 'threads',
          isolate: false,
          maxWorkers: AT_A_TIME,
        },
      },
      {
        plugins: compiled,
        test: {
          ...shared,
          name: 'integration',
          include: [...foldersThat(false), ...WITH_PROCESSES],
          exclude: [...MOCKING, ...LEFT_OUT],
          pool: 'forks',
          isolate: false,
          maxWorkers: AT_A_TIME,
        },
      },
      {
        plugins: compiled,
        test: {
          ...shared,
          name: REAL_SITES,
          include: [`test/${REAL_SITES}/**/*.test.ts`],
          exclude: LEFT_OUT,
          pool: 'forks',
          isolate: false,
          maxWorkers: AT_A_TIME,
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
        'src/apply/record-outcome.ts',
        'src/apply/doubts/{resolve,decide}-doubts.ts',
        'src/apply/candidate-search.ts',
      ],
      thresholds: { branches: 100 },
      reporter: ['text'],
    },
  },
});
