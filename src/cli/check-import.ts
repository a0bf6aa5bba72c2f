// Asks the sites whether the jobs of an import are there and are those of their postings, before anything is written.
import { describeMove } from '../apply/guard-address.ts';
import { learntRateLimiter } from '../apply/learnt-rate-limiter.ts';
import type { SiteConfig } from '../config/config.ts';
import { plural } from '../plan/plural.ts';
import { compareReferences, fieldOf, foldSpace } from '../plan/same-value.ts';
import type { MappingSpec } from '../posting/mapping.ts';
import type { App } from '../runtime/app.ts';
import { commandWriter, completeCommands } from '../runtime/command-line.ts';
import { tokenDigests } from '../runtime/token-digests.ts';
import { addressOf } from '../site/base-address.ts';
import { type SiteClient, type SiteJob, toCompare } from '../site/exchange.ts';
import { createSiteClient } from '../site/http/client.ts';
import { type RateLimiter, rateLimiterFor } from '../site/rate-limiter.ts';
import type { AskedLine, ImportedLines, ListedJob } from '../store/mapping/imported-lines.ts';
import type { LineProblem } from '../store/mapping/mapping-import.ts';
import { findMove, setAddress } from '../store/site/known-address.ts';
import { readSiteState, stateAt } from '../store/site/site-state.ts';
import type { Progress } from '../telemetry/progress.ts';
import { showJob } from './show-job.ts';

/** More jobs than this are looked for in the list, where there is one. */
const FEW_JOBS = 20;
/** More problems than are reported are not looked for. */
const MOST_PROBLEMS = 101;

const OR_UNCHECKED = 'to import without asking the site, add --unchecked';

interface Asking {
  readonly feeds: App['config']['feeds'];
  readonly lines: ImportedLines;
  readonly site: SiteConfig;
  readonly client: SiteClient;
  readonly rateLimiter: RateLimiter;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  readonly jobs: number;
}

/** Gives what speaks against the lines; each site is asked within its rate. */
export async function askSites(
  app: App,
  lines: ImportedLines,
  around: { readonly progress: Progress; readonly signal: AbortSignal; readonly config: string | undefined },
): Promise<LineProblem[]> {
  const problems: LineProblem[] = [];
  for (const { site: name, jobs, first } of await lines.sites()) {
    const site = app.config.sites.get(name);
    if (site === undefined) continue;
    const closed = await whyClosed(app, site);
    if (closed !== undefined) {
      problems.push({ line: first, message: completeCommands(closed, commandWriter(around.config)) });
      continue;
    }
    const client = createSiteClient(site.options);
    const { requestsPerSecond } = site;
    const local = rateLimiterFor(requestsPerSecond);
    const rateLimiter = learntRateLimiter(local, app.db, name, requestsPerSecond, () => around.signal.aborted);
    try {
      problems.push(...(await askSite({ feeds: app.config.feeds, lines, site, client, rateLimiter, jobs, ...around })));
      around.signal.throwIfAborted();
      // From now on the database knows jobs there: another address is another site.
      if (problems.length === 0) await setAddress(app.db, name, addressOf(site.options.baseUrl));
    } catch (error) {
      around.signal.throwIfAborted();
      if (!(error instanceof UnaskedError)) throw error;
      problems.push({ line: first, message: `site ${name} could not be asked: ${error.message}; ${OR_UNCHECKED}` });
    } finally {
      around.progress.clear();
      await client.close();
    }
  }
  return problems;
}

/** Whether there is such a job can't be told. */
class UnaskedError extends Error {}

async function whyClosed({ db, config }: App, { name, options }: SiteConfig): Promise<string | undefined> {
  const address = addressOf(options.baseUrl);
  const move = await findMove(db, name, address);
  if (move !== undefined) return describeMove(name, move);
  const token = (await tokenDigests(db, config)).get(name);
  const { pausedSince, pauseCause } = stateAt(address, await readSiteState(db, name, token));
  if (pausedSince === undefined) return undefined;
  const cause = pauseCause === undefined ? '' : ` (${pauseCause})`;
  return `site ${name} is paused${cause} and was not asked: resume it with: jobmirror resume ${name}; ${OR_UNCHECKED}`;
}

async function askSite(asking: Asking): Promise<LineProblem[]> {
  const { lines, site, jobs, progress } = asking;
  await lines.openList();
  const isListed = site.options.listPath !== undefined && jobs > FEW_JOBS;
  if (isListed) await readWhole(asking);
  const problems: LineProblem[] = [];
  let asked = 0;
  for await (const line of lines.lines(site.name)) {
    progress.show(`asking site ${site.name}: ${asked++} of ${plural(jobs, 'job')} checked, line ${line.line}`);
    const isEnough = line.listed && (site.options.referenceField === undefined || line.reference !== undefined);
    // A list may leave out jobs that are there, and fields that they have.
    const reference = isEnough ? openly(line.reference) : await showReference(asking, line);
    const message =
      reference === ABSENT
        ? `the site ${site.name} has no job ${line.siteJobId}`
        : await whyForeign(asking, line, reference);
    if (message !== undefined) problems.push({ line: line.line, message });
    if (problems.length >= MOST_PROBLEMS) break;
  }
  return problems;
}

/** @throws UnaskedError where the list is not whole */
async function readWhole({ lines, site, client, rateLimiter, progress, signal }: Asking): Promise<void> {
  let waiting: ListedJob[] = [];
  let read = 0;
  const keep = async () => {
    progress.show(`reading the list of site ${site.name}: ${plural(read, 'job')}`);
    await lines.keepListed(waiting);
    waiting = [];
  };
  const take = (siteJob: SiteJob): void => {
    read++;
    const { kept, compared } = referenceOf(siteJob, site);
    // One that holds the token is not written down, and asked for again.
    waiting.push({ siteJobId: siteJob.siteJobId, reference: kept === compared ? kept : undefined });
  };
  const listing = await client.list(take, signal, async (stop) => {
    await keep();
    await rateLimiter.take(stop);
  });
  if (listing.kind !== 'listed') throw new UnaskedError(listing.message);
  await keep();
}

/** A reference that a job shows, to be told to people, and to be compared. */
interface ShownReference {
  readonly kept: string | undefined;
  readonly compared: string | undefined;
}

const openly = (reference: string | undefined): ShownReference => ({ kept: reference, compared: reference });

function referenceOf(siteJob: SiteJob, { options }: SiteConfig): ShownReference {
  const read = ({ fields }: SiteJob): string | undefined =>
    options.referenceField === undefined ? undefined : fieldOf(fields, options.referenceField);
  return { kept: read(siteJob), compared: read(toCompare(siteJob)) };
}

const ABSENT = Symbol('the site has no such job');

/** @throws UnaskedError */
async function showReference(asking: Asking, { siteJobId }: AskedLine): Promise<ShownReference | typeof ABSENT> {
  try {
    const shown = await showJob(asking, siteJobId);
    return shown === undefined ? ABSENT : referenceOf(shown, asking.site);
  } catch (error) {
    asking.signal.throwIfAborted();
    throw new UnaskedError((error as Error).message);
  }
}

/** Why the job is another posting's; sites store references in other usual forms, which prove nothing. */
async function whyForeign(
  { feeds, lines, site }: Asking,
  line: AskedLine,
  shown: ShownReference,
): Promise<string | undefined> {
  const { referenceField } = site.options;
  const reference = foldSpace(shown.compared ?? '');
  if (referenceField === undefined || reference === '') return undefined;
  const known = await lines.referenceOf(line, referenceField);
  const likeness = [line.key, ...(known === undefined ? [] : [known])].map((own) => compareReferences(own, reference));
  if (likeness.includes('exact')) return undefined;
  const owner = await lines.otherOwner(line, referenceField, reference);
  const isTold = known !== undefined || isKey(feeds.get(line.feed)?.mapping, referenceField);
  if (owner === undefined && (!isTold || likeness.some((one) => one !== 'other'))) return undefined;
  const whose = owner === undefined ? `, not that of posting ${line.key}` : `, which is that of ${owner}`;
  return `the job ${line.siteJobId} shows the reference "${foldSpace(shown.kept ?? '').slice(0, 100)}"${whose}`;
}

/** Whether the reference is the posting's key, so that it is known of postings that were never read. */
function isKey(mapping: MappingSpec | undefined, referenceField: string): boolean {
  const source = mapping?.fields[referenceField]?.source;
  const paths = mapping?.key.paths ?? [];
  return source?.kind === 'paths' && source.join === undefined && paths.length === 1 && source.paths[0] === paths[0];
}
