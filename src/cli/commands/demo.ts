// `jobmirror demo`: mirrors two versions of a bundled feed into a sandbox, proves the result, and keeps it open to explore.
import { Command } from 'commander';
import { textOf } from '../../plan/message.ts';
import { planFeed } from '../../pull/preview/dry-run.ts';
import { exitStatusOf, type PullReport } from '../../runtime/conclude-pull.ts';
import { mirrorFeed } from '../../runtime/mirror-feed.ts';
import { ExitStatus, type StopSignal, stopSignal, UserError } from '../../runtime/stop-signal.ts';
import type { SiteClient } from '../../site/exchange.ts';
import { createSiteClient } from '../../site/http/client.ts';
import { ENTRY_KINDS } from '../../store/backlog/open-counts.ts';
import type { PlannedChange } from '../../store/backlog/planned-changes.ts';
import type { ReviewEntry } from '../../store/review/review-entries.ts';
import { reviewEntries } from '../../store/review/review-page.ts';
import { openPage, type PrintedPage, startProgressLine } from '../../telemetry/print.ts';
import { commandWriter, pathFromHere } from '../adapter/command-line.ts';
import {
  DEMO_ACCOUNT,
  type DemoInstallation,
  makeDemoFolder,
  openDemoInstallation,
} from '../demo/demo-installation.ts';
import { type ExpectedSite, expectSite, readVersion } from '../demo/feed-version.ts';
import { fixGroup, REJECTED_STATE_GROUP } from '../demo/fix-group.ts';
import { type DemoEvidence, type ListedJobs, proveSite, readSiteJobs } from '../demo/proof.ts';
import { CHANGE_SIGNS, describeChange, describeCounts, describePull } from '../output/describe-pull.ts';

/** Nobody but the person at the terminal waits for it, and cut off, it would leave its folder behind. */
const END_AFTER_MS = 60_000;

export function demoCommand(): Command {
  return new Command('demo')
    .option('--once', 'end when the result is proven, instead of waiting for Ctrl-C')
    .action(async (options: { once?: boolean }) => {
      const stopping = stopSignal(END_AFTER_MS);
      const page = openPage();
      const folder = await makeDemoFolder(process.cwd());
      try {
        introduce(page, folder.path);
        process.exitCode = await play(folder.path, page, stopping, options.once === true);
      } finally {
        await folder.remove();
        page.say(`\nThe demo has ended, and everything it created is removed.`, 0);
        stopping.release();
      }
    });
}

async function play(folder: string, page: PrintedPage, stopping: StopSignal, once: boolean): Promise<ExitStatus> {
  let installation: DemoInstallation | undefined;
  try {
    installation = await openDemoInstallation(folder, stopping.signal);
    page.say(`the site    ${installation.sandbox.url}, a sandbox that speaks the XML interface of the real one`);
    const ending = await runDemo(installation, page, { signal: stopping.signal, fixes: once });
    if (!once) {
      inviteToBrowse(page, installation, ending);
      await stopping.stopped;
    }
    return ending.proven ? ExitStatus.done : ExitStatus.failed;
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    page.say('\nStopped before the end.', 0);
    return ExitStatus.failed;
  } finally {
    await installation?.close();
  }
}

function introduce(page: PrintedPage, folder: string): void {
  page.say(page.paint('bold', 'jobmirror mirrors a feed of job postings into a job site.'), 0);
  page.say(
    [
      '\nThis demo brings everything it needs, and removes it when it ends:',
      `  the files   ${pathFromHere(folder)}`,
      '  the feed    the openings of a fictional employer, Corrandale Health Careers',
      '  the data    a Postgres database: what is on the site, what is to be sent, what needs review',
    ].join('\n'),
    0,
  );
}

/** The posting of the bundled feed that has no title, and a title for it. */
const MENDABLE = { key: 'CH-20679', edit: 'title=Patient Registrar, Weekends' };

function inviteToBrowse(
  page: PrintedPage,
  { sandbox, password, configPath, setup, pages }: DemoInstallation,
  { review }: DemoEnd,
): void {
  const write = commandWriter(pathFromHere(configPath));
  const id = String(review.find(({ key }) => key === MENDABLE.key)?.id);
  page.heading('Look around');
  page.say(
    [
      `The site:  ${page.paint('cyan', sandbox.url)}`,
      `           log in as ${DEMO_ACCOUNT} with the password ${password}`,
      '',
      `The pages: ${page.paint('cyan', `${pages}/review`)}`,
      `           ${REJECTED_STATE_GROUP.keys.length} postings wait in one group, as their state ${REJECTED_STATE_GROUP.title}: open it, type a`,
      `           state such as ${REJECTED_STATE_GROUP.value} as the new value, and choose "Set for all ${REJECTED_STATE_GROUP.keys.length}"`,
      '',
      'The same in another terminal:',
      `  ${write(['review', 'list'])}`,
      `  ${write(['review', 'show', id])}`,
      `Give ${MENDABLE.key} its missing title, which sends it, and see what happened to it:`,
      `  ${write(['review', 'edit', id, '--set', MENDABLE.edit])}`,
      `  ${write(['why', setup.feed, MENDABLE.key])}`,
      '',
      'Ctrl-C ends the demo.',
    ].join('\n'),
  );
}

// Runs the demo: three pulls of a changing feed, each planned, mirrored and explained, then the proof.

/** Everything the demo needs. */
interface DemoRun {
  readonly installation: DemoInstallation;
  readonly page: PrintedPage;
  readonly client: SiteClient;
  readonly signal: AbortSignal;
}

interface DemoEnd {
  /** Whether the site matches the feed. */
  readonly proven: boolean;
  readonly review: readonly ReviewEntry[];
}

/** Runs the whole demo. @param fixes whether to fix the rejected group as well, instead of leaving it to whoever watches */
async function runDemo(
  installation: DemoInstallation,
  page: PrintedPage,
  { signal, fixes }: { readonly signal: AbortSignal; readonly fixes: boolean },
): Promise<DemoEnd> {
  const client = createSiteClient(installation.site.options);
  try {
    const run = { installation, page, client, signal };
    const first = await tellFirstPull(run);
    const review = await tellSecondPull(run);
    const surplusRequests = await tellThirdPull(run);
    const proven = await tellProof(run, first, { review, surplusRequests });
    return { proven: proven && (!fixes || (await showFix(run))), review };
  } finally {
    await client.close();
  }
}

/** The site after the first pull: the expected jobs and the listed ones. */
interface FirstState {
  readonly expected: ExpectedSite;
  readonly jobs: ListedJobs;
}

const EXAMPLES = 3;

async function tellFirstPull(run: DemoRun): Promise<FirstState> {
  const { installation, page, client, signal } = run;
  page.heading('1. The first pull: the site is empty, so everything is new');
  const changes = await plan(run);
  page.say(`The plan, as \`jobmirror plan\` shows it, sends nothing yet: ${changes.length} postings to create.`);
  page.say(changes.slice(0, EXAMPLES).map(nameChange(page)).join('\n'), 4);
  page.say(`… and ${changes.length - EXAMPLES} more`, 4);
  page.say('\nThe sync, as `jobmirror sync` does it, sends one XML request for each:');
  page.say(describeCounts(await mirror(run)), 4);
  return {
    expected: expectSite(await readVersion(installation.setup, signal)),
    jobs: await readSiteJobs(client, signal),
  };
}

async function tellSecondPull(run: DemoRun): Promise<readonly ReviewEntry[]> {
  const { installation, page } = run;
  installation.publish(2);
  page.heading('2. The second pull: the employer has changed the feed');
  page.say('The plan: only differences are sent, and for a changed posting only the fields that changed.');
  const changes = await plan(run);
  page.say(changes.map(nameChange(page)).join('\n'), 4);
  const { count, percent } = installation.setup.guard;
  page.say(
    `\nThe sync (more than ${count} deletes would wait for approval if they were above ${percent} % of the jobs):`,
  );
  page.say(describeCounts(await mirror(run)), 4);

  const { db } = installation.app;
  const review: ReviewEntry[] = [];
  const filter = { feed: installation.setup.feed, kinds: ENTRY_KINDS };
  for await (const entry of reviewEntries(db, filter)) review.push(entry);
  page.say('\nWhat could not be sent waits for a person, and did not hold up the rest:');
  for (const { id, kind, key = '', reason } of review) {
    page.say(`${id}  ${page.paint('yellow', kind)} ${key}: ${textOf(reason)}`, 4);
  }
  return review;
}

/** Returns how many requests the site received meanwhile. */
async function tellThirdPull(run: DemoRun): Promise<number> {
  const { installation, page } = run;
  page.heading('3. The third pull: nothing has changed, so nothing is sent');
  const before = installation.sandbox.requests.total();
  page.say(describeCounts(await mirror(run)), 4);
  return installation.sandbox.requests.total() - before;
}

async function tellProof(
  run: DemoRun,
  first: FirstState,
  found: Pick<DemoEvidence, 'review' | 'surplusRequests'>,
): Promise<boolean> {
  const { installation, page, client, signal } = run;
  page.heading('The proof: the feed is read again and compared with the site, job by job, over its XML interface');
  const feed = await readVersion(installation.setup, signal);
  const expected = expectSite(feed, first.expected);
  const proof = await proveSite(client, { ...found, feed, expected, before: first.jobs }, signal);
  if (proof.differences.length === 0) {
    for (const line of proof.proven) page.say(`${page.paint('green', 'proven:')} ${line}`);
    return true;
  }
  for (const line of proof.differences) page.say(`${page.paint('red', 'not as it should be:')} ${line}`);
  return false;
}

async function showFix({ installation, page, client, signal }: DemoRun): Promise<boolean> {
  page.heading('The review pages: one decision fixes a rejected group');
  page.say(
    `The page of the group gets ${REJECTED_STATE_GROUP.field} = ${REJECTED_STATE_GROUP.value} for all of its postings.`,
  );
  const differences = await fixGroup(installation.pages, await readVersion(installation.setup, signal), client, signal);
  for (const line of differences) page.say(`${page.paint('red', 'not as it should be:')} ${line}`);
  if (differences.length > 0) return false;
  page.say(
    `${page.paint('green', 'proven:')} ${REJECTED_STATE_GROUP.keys.join(', ')} are live, each as one job with that state`,
  );
  return true;
}

async function plan({ installation, signal }: DemoRun): Promise<readonly PlannedChange[]> {
  const { db, log } = installation.app;
  const changes: PlannedChange[] = [];
  const end = await planFeed(installation.setup, { db, log, signal }, (line) => {
    if (line.operation !== 'none') changes.push(line);
  });
  switch (end.kind) {
    case 'planned':
      return changes;
    case 'failed':
      throw new UserError(`the demo's feed could not be planned: ${textOf(end.message)}`);
    case 'busy':
      throw new UserError(`another process is pulling the feed of this demo, ${installation.configPath}`);
    default:
      return end satisfies never;
  }
}

async function mirror({ installation, signal }: DemoRun): Promise<PullReport> {
  const progress = startProgressLine();
  try {
    const report = await mirrorFeed(installation.app, async () => installation.engine, installation.setup, {
      signal,
      progress,
    });
    signal.throwIfAborted();
    if (exitStatusOf(report) === ExitStatus.failed) {
      throw new UserError(describePull(report, commandWriter(pathFromHere(installation.configPath))));
    }
    return report;
  } finally {
    progress.clear();
  }
}

const SIGN_STYLES = { create: 'green', update: 'yellow', delete: 'red' } as const;

/** A change on one line; an update also lists its fields. */
const nameChange =
  (page: PrintedPage) =>
  (change: PlannedChange): string => {
    const { operation, key, fields } = change;
    const sign = page.paint(SIGN_STYLES[operation], CHANGE_SIGNS[operation]);
    const head = `${sign} ${operation} ${key}`;
    // Replaces the first line, whose feed name says nothing in the demo.
    if (operation === 'update') return describeChange(change, String).replace(/^.*/, () => head);
    const text = (name: string): string => fields[name]?.to ?? fields[name]?.from ?? '';
    const place = `${text('location-city')}, ${text('location-state')}`;
    return `${head}  ${text('title')} (${place})`;
  };
