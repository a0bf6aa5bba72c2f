// Runs the demo's story: three pulls of a changing feed, each planned, mirrored and explained, then the proof.
import { textOf } from '../../plan/message.ts';
import { planFeed } from '../../pull/preview/dry-run.ts';
import type { PullReport } from '../../review/read-model/pull-report.ts';
import { exitStatusOf } from '../../runtime/conclude-pull.ts';
import { ExitStatus, UserError } from '../../runtime/exit-status.ts';
import { mirrorFeed } from '../../runtime/mirror-feed.ts';
import type { SiteClient } from '../../site/exchange.ts';
import { createSiteClient } from '../../site/http/client.ts';
import type { PlannedChange } from '../../store/backlog/planned-changes.ts';
import { ENTRY_KINDS, type ReviewEntry, reviewEntries } from '../../store/review/review-entries.ts';
import { startProgressLine } from '../../telemetry/progress-line.ts';
import { commandWriter, pathFromHere } from '../command-line.ts';
import { CHANGE_SIGNS, describeChange } from '../output/describe-change.ts';
import { describeCounts, describePull } from '../output/describe-pull.ts';
import { type ExpectedSite, expectSite, readVersion } from './feed-version.ts';
import { FIXABLE, fixGroup } from './fix-group.ts';
import type { DemoPage } from './page.ts';
import { type DemoEvidence, type ListedJobs, proveSite, readSiteJobs } from './proof.ts';
import type { Stage } from './stage.ts';

/** Everything the story needs. */
interface Telling {
  readonly stage: Stage;
  readonly page: DemoPage;
  readonly client: SiteClient;
  readonly signal: AbortSignal;
}

export interface Ending {
  /** Whether the site matches the feed. */
  readonly proven: boolean;
  readonly review: readonly ReviewEntry[];
}

/** Runs the whole story. @param fixes whether to fix the rejected group as well, instead of leaving it to whoever watches */
export async function tellStory(
  stage: Stage,
  page: DemoPage,
  { signal, fixes }: { readonly signal: AbortSignal; readonly fixes: boolean },
): Promise<Ending> {
  const client = createSiteClient(stage.site.options);
  try {
    const telling = { stage, page, client, signal };
    const first = await tellFirstPull(telling);
    const review = await tellSecondPull(telling);
    const surplusRequests = await tellThirdPull(telling);
    const proven = await tellProof(telling, first, { review, surplusRequests });
    return { proven: proven && (!fixes || (await tellFix(telling))), review };
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

async function tellFirstPull(telling: Telling): Promise<FirstState> {
  const { stage, page, client, signal } = telling;
  page.heading('1. The first pull: the site is empty, so everything is new');
  const changes = await plan(telling);
  page.say(`The plan, as \`jobmirror plan\` shows it, sends nothing yet: ${changes.length} postings to create.`);
  page.say(changes.slice(0, EXAMPLES).map(nameChange(page)).join('\n'), 4);
  page.say(`… and ${changes.length - EXAMPLES} more`, 4);
  page.say('\nThe sync, as `jobmirror sync` does it, sends one XML request for each:');
  page.say(describeCounts(await mirror(telling)), 4);
  return { expected: expectSite(await readVersion(stage.setup, signal)), jobs: await readSiteJobs(client, signal) };
}

async function tellSecondPull(telling: Telling): Promise<readonly ReviewEntry[]> {
  const { stage, page } = telling;
  stage.publish(2);
  page.heading('2. The second pull: the employer has changed the feed');
  page.say('The plan: only differences are sent, and for a changed posting only the fields that changed.');
  const changes = await plan(telling);
  page.say(changes.map(nameChange(page)).join('\n'), 4);
  const { count, percent } = stage.setup.guard;
  page.say(
    `\nThe sync (more than ${count} deletes would wait for approval if they were above ${percent} % of the jobs):`,
  );
  page.say(describeCounts(await mirror(telling)), 4);

  const { db } = stage.app;
  const review: ReviewEntry[] = [];
  const filter = { feed: stage.setup.feed, kinds: ENTRY_KINDS };
  for await (const entry of reviewEntries(db, filter, undefined)) review.push(entry);
  page.say('\nWhat could not be sent waits for a person, and did not hold up the rest:');
  for (const { id, kind, key = '', reason } of review) {
    page.say(`${id}  ${page.paint('yellow', kind)} ${key}: ${textOf(reason)}`, 4);
  }
  return review;
}

/** Returns how many requests the site received meanwhile. */
async function tellThirdPull(telling: Telling): Promise<number> {
  const { stage, page } = telling;
  page.heading('3. The third pull: nothing has changed, so nothing is sent');
  const before = stage.sandbox.requests.total();
  page.say(describeCounts(await mirror(telling)), 4);
  return stage.sandbox.requests.total() - before;
}

async function tellProof(
  telling: Telling,
  first: FirstState,
  found: Pick<DemoEvidence, 'review' | 'surplusRequests'>,
): Promise<boolean> {
  const { stage, page, client, signal } = telling;
  page.heading('The proof: the feed is read again and compared with the site, job by job, over its XML interface');
  const feed = await readVersion(stage.setup, signal);
  const expected = expectSite(feed, first.expected);
  const proof = await proveSite(client, { ...found, feed, expected, before: first.jobs }, signal);
  if (proof.differences.length === 0) {
    for (const line of proof.proven) page.say(`${page.paint('green', 'proven:')} ${line}`);
    return true;
  }
  for (const line of proof.differences) page.say(`${page.paint('red', 'not as it should be:')} ${line}`);
  return false;
}

async function tellFix({ stage, page, client, signal }: Telling): Promise<boolean> {
  page.heading('The review pages: one decision fixes a rejected group');
  page.say(`The page of the group gets ${FIXABLE.field} = ${FIXABLE.value} for all of its postings.`);
  const differences = await fixGroup(stage.pages, await readVersion(stage.setup, signal), client, signal);
  for (const line of differences) page.say(`${page.paint('red', 'not as it should be:')} ${line}`);
  if (differences.length > 0) return false;
  page.say(`${page.paint('green', 'proven:')} ${FIXABLE.keys.join(', ')} are live, each as one job with that state`);
  return true;
}

async function plan({ stage, signal }: Telling): Promise<readonly PlannedChange[]> {
  const { db, log } = stage.app;
  const changes: PlannedChange[] = [];
  const end = await planFeed(stage.setup, { db, log, signal }, (line) => {
    if (line.operation !== 'none') changes.push(line);
  });
  switch (end.kind) {
    case 'planned':
      return changes;
    case 'failed':
      throw new UserError(`the demo's feed could not be planned: ${textOf(end.message)}`);
    case 'busy':
      throw new UserError(`another process is pulling the feed of this demo, ${stage.configPath}`);
    default:
      return end satisfies never;
  }
}

async function mirror({ stage, signal }: Telling): Promise<PullReport> {
  const progress = startProgressLine();
  try {
    const report = await mirrorFeed(stage.app, async () => stage.engine, stage.setup, { signal, progress });
    signal.throwIfAborted();
    if (exitStatusOf(report) === ExitStatus.failed) {
      throw new UserError(describePull(report, commandWriter(pathFromHere(stage.configPath))));
    }
    return report;
  } finally {
    progress.clear();
  }
}

const SIGN_STYLES = { create: 'green', update: 'yellow', delete: 'red' } as const;

/** A change on one line; an update also lists its fields. */
const nameChange =
  (page: DemoPage) =>
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
