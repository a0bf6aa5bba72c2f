// A mirror of a small feed into the Rails board, and the laws' check against the rows that the site really has.
import { expect } from 'vitest';
import type { PullReportJson } from '../../src/runtime/conclude-pull.ts';
import { type ProgramResult, runProgram } from '../cli/run-program.ts';
import { processesOf, type Running } from '../laws/installation.ts';
import { createTestDatabase } from '../support/database.ts';
import { FAST_TIMING } from '../support/fast-timing.ts';
import { openProgram } from '../support/mirror.ts';
import type { BoardJob, BoardVariant, Rails, RailsBoard } from './rails-board.ts';

/** A record of the feed, which is JSON: the names are those of the site's columns. */
export interface BoardPosting {
  readonly number: string;
  readonly title: string;
  readonly category_name?: string;
  readonly description?: string;
  readonly location_city?: string;
  readonly location_state?: string;
  readonly contact_email_address?: string;
  readonly contact_web_address?: string;
  readonly salary?: string;
  readonly starts_at?: string;
  readonly remote?: string;
  readonly openings?: string;
}

export interface BoardOptions {
  readonly variant?: BoardVariant;
  /** YAML of the site and the feed, each by setting; undefined removes a default. */
  readonly site?: Readonly<Record<string, string | undefined>>;
  readonly feed?: Readonly<Record<string, string>>;
  /** Whether answers will get lost. */
  readonly lossy?: boolean;
  /** Whether the site is searched before the feed's first create; by default it is declared to have none of its jobs. */
  readonly searched?: boolean;
}

/** The board, and the program that mirrors into it. Each member is that of the present database. */
export interface MirroredBoard {
  readonly board: RailsBoard;
  /** Other users' jobs as they were created. */
  readonly foreign: readonly BoardJob[];
  writePostings(postings: readonly BoardPosting[]): Promise<void>;
  sync(): Promise<PullReportJson>;
  /** Runs `jobmirror COMMAND` in this process; what this process sends by itself is stopped before. */
  run(...command: readonly string[]): Promise<ProgramResult>;
  /** Runs it in a process of its own, which `FAULT_AT` kills at a step. */
  spawn(command: readonly string[], env?: Readonly<Record<string, string>>): Running;
  query<Row extends object>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** From now on there is an empty database, which has to search the site. */
  loseDatabase(): Promise<void>;
  close(): Promise<void>;
}

const FIELDS = [
  'number',
  'title',
  'category_name',
  'description',
  'location_city',
  'location_state',
  'contact_email_address',
  'contact_web_address',
  'salary',
  'starts_at',
  'remote',
  'openings',
] as const;

/** Where answers get lost: a create is looked for when its answer is this late. Elsewhere no machine is so slow. */
export const LATE_SECONDS = 5;
const NEVER_LATE_SECONDS = 25;

const siteOf = (lateSeconds: number) => ({
  limits: `{ requests_per_second: 5000, concurrency: 4, timeout_seconds: ${lateSeconds - 0.5} }`,
  doubts: `{ resolve_after_seconds: ${lateSeconds} }`,
  retry: '{ attempts: 5, first_delay_seconds: 0.05, max_delay_seconds: 0.2 }',
});

const FEED = {
  format: `{ type: json, records: jobs, key: number, fields: {${FIELDS.map(
    (name) => ` ${name.replaceAll('_', '-')}: ${name}`,
  ).join(',')} } }`,
  delete_guard: '{ percent: 100, count: 100 }',
};

export async function openMirroredBoard(rails: Rails, options: BoardOptions = {}): Promise<MirroredBoard> {
  const board = await rails.startBoard(options.variant);
  for (const number of ['elsewhere-1', 'elsewhere-2'])
    await board.addForeign({ number, title: 'Cook', location_state: 'Ohio', description: `By hand: ${number}` });
  let current = await openOn(board, options);
  let feed = '';
  return {
    board,
    foreign: await board.jobs(),
    writePostings: (postings) => {
      feed = JSON.stringify({ jobs: postings });
      return current.program.writeFeed(feed);
    },
    sync: () => current.program.sync(),
    run: async (...command) => {
      await current.program.stopEngine();
      return runProgram(current.program, ...command);
    },
    spawn: (command, env) => current.processes.spawn(command, env),
    query: async (sql, values) => (await current.program.app()).db.query(sql, values as unknown[]),
    loseDatabase: async () => {
      await current.close();
      current = await openOn(board, { ...options, searched: true });
      await current.program.writeFeed(feed);
    },
    close: async () => {
      await current.close();
      await board.close();
    },
  };
}

async function openOn(board: RailsBoard, { searched, lossy, site, feed }: BoardOptions) {
  const database = await createTestDatabase();
  const timing = FAST_TIMING;
  const program = await openProgram(board, database.url, {
    searched,
    timing,
    site: { ...siteOf(lossy === true ? LATE_SECONDS : NEVER_LATE_SECONDS), ...site },
    feed: { ...FEED, ...feed },
  });
  const processes = processesOf(program, timing);
  const close = async (): Promise<void> => {
    await processes.close();
    await database.drop();
  };
  return { program, processes, close };
}

/** Postings `p1` to `pN`, no two of which share a text that tells them apart. */
export const boardPostings = (count: number, first = 1): BoardPosting[] =>
  Array.from({ length: count }, (_, at) => boardPosting(`p${first + at}`, first + at));

const TITLES = [
  'Driver (CDL-A)',
  'Data-entry clerk',
  'RN, night shift',
  "Chef de partie / O'Hare",
  'iOS developer',
  'Nurse',
];

export function boardPosting(number: string, at: number): BoardPosting {
  return {
    number,
    title: `${TITLES[at % TITLES.length]}${at < TITLES.length ? '' : ` ${Math.floor(at / TITLES.length)}`}`,
    category_name: 'Health',
    description: `<p>Work  ${number} for the team.</p>\n<p onclick="x()">Apply today &amp; start</p>`,
    location_city: 'Boston',
    location_state: 'Massachusetts',
    contact_web_address: `https://jobs.example.com/${number}`,
    salary: `${20 + at}.50`,
    starts_at: `2027-01-${String(1 + (at % 28)).padStart(2, '0')}T12:00:00Z`,
    remote: at % 2 === 0 ? 'true' : 'false',
    openings: String(1 + (at % 3)),
  };
}

export const ownJobs = async ({ board }: MirroredBoard): Promise<readonly BoardJob[]> =>
  (await board.jobs()).filter(({ owner, deleted }) => owner === 'mirror' && !deleted);

/**
 * Checks the laws once things are quiet: the site has exactly one job per posting, with the content that it makes of the posting, or
 * review lists the posting (`inReview`); other users' jobs are untouched; and one more sync sends nothing.
 */
export async function checkBoard(
  mirrored: MirroredBoard,
  postings: readonly BoardPosting[],
  { inReview = [] }: { readonly inReview?: readonly string[] } = {},
): Promise<void> {
  await checkJobs(mirrored, postings, inReview);
  await mirrored.board.clearRequests();
  const report = await mirrored.sync();
  expect(await mirrored.board.requests()).toEqual([]);
  expectReport(report, { requests: 0, created: 0, updated: 0, deleted: 0, pending: 0, pending_deletes: 0 });
  await checkJobs(mirrored, postings, inReview);
  expect((await entriesOf(mirrored)).map(({ key }) => key).sort()).toEqual([...inReview].sort());
}

async function checkJobs(
  mirrored: MirroredBoard,
  postings: readonly BoardPosting[],
  inReview: readonly string[],
): Promise<void> {
  const { board, foreign } = mirrored;
  const own = await ownJobs(mirrored);
  const expected = await Promise.all(
    postings.filter(({ number }) => !inReview.includes(number)).map((posting) => board.stored({ ...posting })),
  );
  expect(sorted(own.map(({ fields }) => fields))).toEqual(sorted(expected));
  expect((await board.jobs()).filter(({ owner }) => owner !== 'mirror')).toEqual(foreign);
}

const sorted = (list: readonly Readonly<Record<string, string>>[]) =>
  list.map((fields) => JSON.stringify(fields, Object.keys(fields).sort())).sort();

interface ListedEntry {
  readonly id: number;
  readonly key: string;
  readonly kind: string;
  readonly reason: string;
}

/** What review lists. */
export async function entriesOf(mirrored: MirroredBoard): Promise<readonly ListedEntry[]> {
  const { json } = await mirrored.run('review', 'list', '--json');
  return json();
}

/**
 * What a person does about the site after an accident: has what failed sent again, and says for each create that is still in doubt
 * whether the site has its job. Returns how many creates that were.
 */
export async function resolveByHand(mirrored: MirroredBoard, postings: readonly BoardPosting[]): Promise<number> {
  const { run } = mirrored;
  let decided = 0;
  const doubts = (await entriesOf(mirrored)).filter(({ kind }) => kind === 'in_doubt');
  for (const { id, key } of doubts) {
    // What is settled is sent, and what sends looks for the others, too.
    if (!(await entriesOf(mirrored)).some((entry) => entry.id === id && entry.kind === 'in_doubt')) continue;
    const mapped = await mirrored.query<{ id: string }>('select site_job_id as id from mapping');
    const posting = postings.find(({ number }) => number === key);
    const job = (await ownJobs(mirrored)).find(
      (each) =>
        each.fields.contact_web_address === posting?.contact_web_address && !mapped.some((row) => row.id === each.id),
    );
    const verdict = job === undefined ? ['--missing'] : ['--exists', job.id, '--anyway'];
    // No request may still arrive: a person need not wait.
    await mirrored.query(`update change set attempt_started = now() - interval '1 hour' where id = $1`, [id]);
    const { status, errors } = await run('review', 'settle', String(id), ...verdict);
    expect({ status, errors }, `${key} ${verdict.join(' ')}: ${errors}`).toMatchObject({ status: 0 });
    decided++;
  }
  await retryFailed(mirrored);
  return decided;
}

/** Has what failed sent again, which decides nothing. */
export async function retryFailed(mirrored: MirroredBoard): Promise<void> {
  if ((await entriesOf(mirrored)).some(({ kind }) => kind === 'failed')) await mirrored.run('review', 'retry', 'acme');
}

export const expectReport = (report: PullReportJson, expected: Partial<PullReportJson>): void =>
  expect(report, JSON.stringify(report)).toMatchObject(expected);

const UNEXPLAINED = `select from change where state = 'in_doubt' and reason->>'note' is null limit 1`;

/** Syncs until nothing is left to send, and each doubt was resolved or has been explained to people. */
export async function settle(mirrored: MirroredBoard): Promise<PullReportJson> {
  let report = await mirrored.sync();
  const isOpen = async () =>
    report.pending > 0 ||
    report.pending_deletes > 0 ||
    (report.in_doubt > 0 && (await mirrored.query(UNEXPLAINED)).length > 0);
  for (let pull = 1; pull < 12 && (await isOpen()); pull++) report = await mirrored.sync();
  return report;
}
