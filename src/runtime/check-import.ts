// Checks with the sites, before an import writes anything, that its jobs exist and belong to their postings.
import { learntRateLimiter } from '../apply/learnt-rate-limiter.ts';
import { askForJob } from '../apply/show-job.ts';
import type { SiteConfig } from '../config/config.ts';
import type { RateLimiter } from '../flow/rate-limiter.ts';
import { plural, tell } from '../plan/message.ts';
import { compareReferences, fieldOf, foldSpace } from '../plan/same-meaning.ts';
import type { FieldMapping } from '../posting/field-mapping.ts';
import { type SiteClient, type SiteJob, withRevealedFields } from '../site/exchange.ts';
import { describeIdInstead, idInPlaceOfSlug } from '../site/facts.ts';
import type { ImportedLines, JobReference, LineProblem, LineWithoutMapping } from '../store/mapping/mapping-import.ts';
import type { ProgressLine } from '../telemetry/print.ts';
import type { App } from './app.ts';
import { openProvenClient, whyClosed } from './open-site-client.ts';

/** Above this many jobs, the site's list is read instead of single jobs, if it has one. */
const FEW_JOBS = 20;
/** The check stops at this many problems: one more than the report shows. */
const MOST_PROBLEMS = 101;

const OR_UNCHECKED = 'to import without asking the site, add --unchecked';

interface Asking {
  readonly feeds: App['config']['feeds'];
  readonly lines: ImportedLines;
  readonly site: SiteConfig;
  readonly client: SiteClient;
  readonly rateLimiter: RateLimiter;
  readonly progress: Pick<ProgressLine, 'show' | 'clear'>;
  readonly signal: AbortSignal;
  readonly jobs: number;
}

/** Returns the problems of the lines. Queries each site within its rate limit. */
export async function askSites(
  app: App,
  lines: ImportedLines,
  around: { readonly progress: Pick<ProgressLine, 'show' | 'clear'>; readonly signal: AbortSignal },
): Promise<LineProblem[]> {
  const problems: LineProblem[] = [];
  for (const { site: name, jobs, first } of await lines.sites()) {
    const site = app.config.sites.get(name);
    if (site === undefined) continue;
    const closed = await whyClosed(app, site, OR_UNCHECKED);
    if (closed !== undefined) {
      problems.push({ line: first, message: tell(closed, app.writeAction) });
      continue;
    }
    const client = await openProvenClient(app.db, site);
    const rateLimiter = learntRateLimiter(app.db, site, () => around.signal.aborted);
    try {
      problems.push(...(await askSite({ feeds: app.config.feeds, lines, site, client, rateLimiter, jobs, ...around })));
      around.signal.throwIfAborted();
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

/** The site could not be asked whether it has the job. */
class UnaskedError extends Error {}

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
    // A list may omit existing jobs, and fields of the jobs that it shows.
    const shown = isEnough ? openly(line.reference) : await showReference(asking, line);
    const message = 'refusal' in shown ? shown.refusal : await whyForeign(asking, line, shown);
    if (message !== undefined) problems.push({ line: line.line, message });
    if (problems.length >= MOST_PROBLEMS) break;
  }
  return problems;
}

/** @throws UnaskedError if the list is incomplete */
async function readWhole({ lines, site, client, rateLimiter, progress, signal }: Asking): Promise<void> {
  let waiting: JobReference[] = [];
  let read = 0;
  const keep = async () => {
    progress.show(`reading the list of site ${site.name}: ${plural(read, 'job')}`);
    await lines.keepListed(waiting);
    waiting = [];
  };
  const take = (siteJob: SiteJob): void => {
    read++;
    const { kept, compared } = referenceOf(siteJob, site);
    // A reference that contains the token is not stored; its job is requested again when it is compared.
    waiting.push({ siteJobId: siteJob.siteJobId, reference: kept === compared ? kept : undefined });
  };
  const listing = await client.list(take, signal, async (stop) => {
    await keep();
    await rateLimiter.take(stop);
  });
  if (listing.kind !== 'listed') throw new UnaskedError(listing.message);
  await keep();
}

/** The reference that a site job shows: as printed in messages, and as compared. */
interface ShownReference {
  readonly kept: string | undefined;
  readonly compared: string | undefined;
}

const openly = (reference: string | undefined): ShownReference => ({ kept: reference, compared: reference });

function referenceOf(siteJob: SiteJob, { options }: SiteConfig): ShownReference {
  const read = ({ fields }: SiteJob): string | undefined =>
    options.referenceField === undefined ? undefined : fieldOf(fields, options.referenceField);
  return { kept: read(siteJob), compared: read(withRevealedFields(siteJob)) };
}

/** @throws UnaskedError */
async function showReference(
  asking: Asking,
  { siteJobId }: LineWithoutMapping,
): Promise<ShownReference | { readonly refusal: string }> {
  try {
    const shown = await askForJob(asking, siteJobId);
    if (shown === undefined) return { refusal: `the site ${asking.site.name} has no job ${siteJobId}` };
    const instead = await idInPlaceOfSlug(siteJobId, shown, (id) => askForJob(asking, id));
    if (instead !== undefined) return { refusal: describeIdInstead(siteJobId, instead) };
    return referenceOf(shown, asking.site);
  } catch (error) {
    asking.signal.throwIfAborted();
    throw new UnaskedError((error as Error).message);
  }
}

/** Why the job belongs to another posting. A reference in another common notation proves nothing: sites rewrite them. */
async function whyForeign(
  { feeds, lines, site }: Asking,
  line: LineWithoutMapping,
  shown: ShownReference,
): Promise<string | undefined> {
  const { referenceField } = site.options;
  const reference = foldSpace(shown.compared ?? '');
  if (referenceField === undefined || reference === '') return undefined;
  const known = await lines.referenceOf(line, referenceField);
  const likeness = [line.key, ...(known === undefined ? [] : [known])].map((own) => compareReferences(own, reference));
  if (likeness.includes('exact')) return undefined;
  const owner = await lines.otherOwner(line, referenceField, reference);
  const isReferenceKnown = known !== undefined || isKey(feeds.get(line.feed)?.mapping, referenceField);
  if (owner === undefined && (!isReferenceKnown || likeness.some((one) => one !== 'other'))) return undefined;
  const whose = owner === undefined ? `, not that of posting ${line.key}` : `, which is that of ${owner}`;
  return `the job ${line.siteJobId} shows the reference "${foldSpace(shown.kept ?? '').slice(0, 100)}"${whose}`;
}

/** Whether the reference field carries the posting's key: then even the reference of a posting never read is known. */
function isKey(mapping: FieldMapping | undefined, referenceField: string): boolean {
  const rule = mapping?.fields[referenceField];
  const paths = mapping?.key.paths ?? [];
  if (rule === undefined || !('source' in rule) || rule.when !== undefined || paths.length !== 1) return false;
  const { source, as } = rule;
  if (source.kind !== 'paths' || source.join !== undefined || source.paths[0] !== paths[0]) return false;
  return as.every((step) => typeof step === 'string');
}
