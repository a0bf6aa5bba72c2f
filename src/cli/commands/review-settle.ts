// `jobmirror review settle`: resolves one create in doubt or many, or adopts the jobs that a search of the site found for a feed.
import { Command } from 'commander';
import { settleEntry } from '../../operations/decisions.ts';
import { namedFeed } from '../../operations/operation.ts';
import { STATE_WORDS } from '../../review/entry-facts.ts';
import type { App } from '../../runtime/app.ts';
import { type ExitStatus, UserError } from '../../runtime/stop-signal.ts';
import { findEntries } from '../../store/change/act-in-review.ts';
import {
  ACTOR,
  actorName,
  commandWriter,
  IF_VERSION_HELP,
  IF_VERSION_NEEDS_ONE_ENTRY,
  isEntryNumber,
  SEEN_HELP,
  wholeNumber,
} from '../adapter/command-line.ts';
import { printing, runWithin, withCommon } from '../adapter/operation-command.ts';
import { withApp } from '../adapter/with-app.ts';
import { adoptFoundOf } from '../adopt-mappings.ts';
import { askAboutSelected, askToSendAgain, siteJobIdOf } from '../ask-first.ts';
import {
  type DecisionOptions,
  type EntryFilter,
  filterOf,
  namedQueries,
  ofFeed,
  PRINTED_DECISIONS,
  startBulkCommand,
  withFilterOptions,
} from '../bulk-command.ts';
import { sendAndTell } from '../send-and-tell.ts';

interface ResolveOptions extends DecisionOptions {
  readonly exists?: string;
  readonly missing?: boolean;
  readonly check?: boolean;
  readonly mark?: string;
  readonly anyway?: boolean;
  readonly found?: boolean;
  readonly yes?: boolean;
  readonly send: boolean;
}

export function reviewSettleCommand(): Command {
  const command = printing(withFilterOptions(new Command('settle')), ...PRINTED_DECISIONS)
    .description(
      'resolve a create in doubt, after checking the site for its job; or many with --missing or --check; or with --found, adopt the jobs of a feed that a search of the site found',
    )
    .argument('[id or feed...]', 'numbers of entries, or name of a feed; with --found, name of the feed')
    .option('--exists <job id>', 'the site created the job, and this is its ID or URL')
    .option(
      '--missing',
      'the site did not create the job: send it again; of many, only those for which no job was found; asks first',
    )
    .option('--check', 'have the list of the site read again')
    .option('--count <n>', 'of many: only if exactly this many creates in doubt are selected', wholeNumber)
    .option('--seen <seen>', SEEN_HELP)
    .option('--mark <mark>', 'a former name of --seen, for a selection')
    .option('--if-version <version>', IF_VERSION_HELP)
    .option('--anyway', 'with --exists: adopt the job even if it seems to belong to another posting')
    .option('--found', 'adopt each job that shows exactly the reference of one posting of the feed; asks first')
    .option('--yes', 'with --found: do not ask')
    .option('--no-send', 'leave the sending to a running worker or to the next sync')
    .option(...ACTOR);
  const json = 'print one JSON object, with --found one for the feed and for each job that is left';
  return withCommon(command, json).action((names: string[], options: ResolveOptions) => {
    const verdicts = [options.exists, options.missing, options.check, options.found];
    if (verdicts.filter((each) => each !== undefined).length !== 1) {
      throw new UserError('say one of --exists JOBID, --missing, --check or --found');
    }
    if (options.anyway === true && options.exists === undefined) throw new UserError('--anyway needs --exists JOBID');
    const [name = ''] = names;
    const isOne = names.length === 1 && !isNarrowed(options);
    const isEntry = isOne && isEntryNumber(name);
    if (options.ifVersion !== undefined && (!isEntry || options.check === true))
      throw new UserError(IF_VERSION_NEEDS_ONE_ENTRY);
    if (options.found === true && !isOne) throw new UserError('--found is for one feed: name it');
    if (options.found === true && /^\d+$/.test(name))
      throw new UserError('with --found, name a feed: it is for all jobs that were found for it');
    if (options.exists !== undefined && !isEntry)
      throw new UserError('--exists is for one entry: name its number, see: review list');
    return withApp(options, async (app, signal) => {
      if (options.found === true) return adoptFoundOf(app, await namedFeed(app, name), options, signal);
      const isSingle = isEntry && options.check !== true;
      process.exitCode = isSingle
        ? await resolveOne(app, Number(name), options)
        : await resolveMany(app, names, options, signal);
    });
  });
}

/** About many, even if one entry is named. */
const isNarrowed = (options: ResolveOptions): boolean =>
  filterOf(options) !== undefined || options.count !== undefined || options.mark !== undefined;

async function resolveOne(app: App, id: number, options: ResolveOptions): Promise<ExitStatus> {
  const write = commandWriter(options.config);
  const { json = false, send, exists, seen, ifVersion: version } = options;
  const siteJobId = exists === undefined ? undefined : siteJobIdOf(exists);
  const isAsked = siteJobId === undefined && seen === undefined && version === undefined;
  const bound = isAsked ? await askToSendAgain(app, id, write) : seen;
  const decision =
    siteJobId === undefined
      ? ({ verdict: 'missing' } as const)
      : ({ verdict: 'exists', site_job_id: siteJobId, anyway: options.anyway } as const);
  const acted = await runWithin(settleEntry, { id, ...decision, seen: bound, version }, app, options);
  const { feed } = acted;
  return sendAndTell(
    app,
    { action: 'settle', entries: [acted], feeds: [], acted: [{ id, feed }] },
    { json, send, write },
  );
}

async function resolveMany(
  app: App,
  names: readonly string[],
  options: ResolveOptions,
  signal: AbortSignal,
): Promise<ExitStatus> {
  const action = options.missing === true ? 'missing' : 'check';
  const filter: EntryFilter = { ...(await selectionOf(app, names, options)), kinds: ['in_doubt'] };
  const { json = false, send, count, seen, mark } = options;
  const write = commandWriter(options.config);
  // As many other creates may be in doubt by now, so their number alone does not show that somebody saw them.
  const asks = action === 'missing' && mark === undefined && seen === undefined;
  const agreed = asks ? await askAboutSelected(app, action, filter, write) : undefined;
  if (count !== undefined && agreed !== undefined && agreed.total !== count)
    throw new UserError(`${agreed.total} creates in doubt are selected, not ${count}. Nothing was done.`);
  const expected = agreed === undefined ? (count ?? filter.ids?.length) : undefined;
  const request = { action, filter, expected, seen: agreed?.seen ?? seen, mark } as const;
  return startBulkCommand(app, request, { json, send, write, signal, actor: actorName(options.as) });
}

async function selectionOf(app: App, names: readonly string[], options: ResolveOptions): Promise<EntryFilter> {
  const filter = filterOf(options);
  if (filter !== undefined) return ofFeed(filter, names);
  if (names.length === 0) throw new UserError('name entries or a feed, or select a group: --group GROUP');
  if (!names.every(isEntryNumber)) return ofFeed({}, names);
  const ids = (await namedQueries(app, names)).flatMap(({ ids: own = [] }) => own);
  const other = (await findEntries(app.db, ids)).find(({ state }) => state !== 'in_doubt');
  if (other === undefined) return { ids };
  throw new UserError(`entry ${other.id} is not in doubt, but ${STATE_WORDS[other.state]}. Nothing was done.`);
}
