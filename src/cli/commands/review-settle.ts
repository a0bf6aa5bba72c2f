// `jobmirror review settle`: resolves one create in doubt or many, or adopts the jobs that a search of the site found for a feed.

import { Command } from 'commander';
import type { SiteConfig } from '../../config/config.ts';
import { placesOf } from '../../config/load-us-states.ts';
import { expectNotMoved } from '../../operations/sites.ts';
import type { PersonsVerdict } from '../../review/check-verdict.ts';
import { configuredPolicy } from '../../review/configured-policy.ts';
import { resolveEntry } from '../../review/resolve-entry.ts';
import type { App } from '../../runtime/app.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { openProvenClient } from '../../runtime/open-site-client.ts';
import { findChange } from '../../store/change/open-change.ts';
import type { Database } from '../../store/postgres/database.ts';
import { printNotice } from '../../telemetry/print.ts';
import { actorName } from '../actor.ts';
import { adoptFoundOf } from '../adopt-found.ts';
import { askToSendAgain } from '../ask-to-send-again.ts';
import { commandWriter } from '../command-line.ts';
import { knownFeed } from '../feed-name.ts';
import { type Narrowing, narrowing } from '../narrow-entries.ts';
import { refusalExplained } from '../operation-command.ts';
import { IF_VERSION, NOT_ONE, wholeNumber } from '../option-values.ts';
import { resolveMany } from '../resolve-many.ts';
import { sendAndTell } from '../send-and-tell.ts';
import { siteJobIdOf } from '../site-job-id.ts';
import { withApp } from '../with-app.ts';

interface ResolveOptions extends Narrowing {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
  readonly exists?: string;
  readonly missing?: boolean;
  readonly check?: boolean;
  readonly count?: number;
  readonly mark?: string;
  readonly anyway?: boolean;
  readonly ifVersion?: string;
  readonly found?: boolean;
  readonly yes?: boolean;
  readonly send: boolean;
}

export function reviewSettleCommand(): Command {
  return narrowing(new Command('settle'))
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
    .option(
      '--mark <mark>',
      'with --missing, of many: only if exactly those are selected that review show --group printed with this mark; does not ask',
    )
    .option('--if-version <version>', IF_VERSION)
    .option('--anyway', 'with --exists: adopt the job even if it seems to belong to another posting')
    .option('--found', 'adopt each job that shows exactly the reference of one posting of the feed; asks first')
    .option('--yes', 'with --found: do not ask')
    .option('--no-send', 'leave the sending to a running worker or to the next sync')
    .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object, with --found one for the feed and for each job that is left')
    .action((names: string[], options: ResolveOptions) => {
      const verdicts = [options.exists, options.missing, options.check, options.found];
      if (verdicts.filter((each) => each !== undefined).length !== 1) {
        throw new UserError('say one of --exists JOBID, --missing, --check or --found');
      }
      if (options.anyway === true && options.exists === undefined) throw new UserError('--anyway needs --exists JOBID');
      const single = names.length === 1 && NUMBER.test(names[0] ?? '') && !isNarrowed(options);
      if (options.ifVersion !== undefined && (!single || options.check === true)) {
        throw new UserError(NOT_ONE);
      }
      if (options.found === true) return adoptAllFound(names, options);
      if (options.exists !== undefined || (options.missing === true && single)) return resolveOne(names, options);
      return withApp(options, async (app, signal) => {
        process.exitCode = await resolveMany(app, names, options, signal);
      });
    });
}

const NUMBER = /^\d{1,15}$/;

const isNarrowed = ({ group, site, text, olderThan, newerThan, count, mark }: ResolveOptions): boolean =>
  [group, site, text, olderThan, newerThan, count, mark].some((each) => each !== undefined);

function resolveOne(names: readonly string[], options: ResolveOptions): Promise<void> {
  const [name = '', ...others] = names;
  if (!NUMBER.test(name) || others.length > 0 || isNarrowed(options)) {
    throw new UserError('--exists is for one entry: name its number, see: review list');
  }
  const verdict = verdictOf(options);
  return withApp(options, (app) => resolve(app, Number(name), verdict, options));
}

function adoptAllFound(names: readonly string[], options: ResolveOptions): Promise<void> {
  const [name = '', ...others] = names;
  if (name === '' || others.length > 0 || isNarrowed(options)) throw new UserError('--found is for one feed: name it');
  if (/^\d+$/.test(name)) throw new UserError('with --found, name a feed: it is for all jobs that were found for it');
  return withApp(options, async (app, signal) =>
    adoptFoundOf(app, await knownFeed(app.db, app.config, name), options, signal),
  );
}

function verdictOf({ exists, anyway = false }: ResolveOptions): PersonsVerdict {
  if (exists === undefined) return { kind: 'missing' };
  return { kind: 'exists', siteJobId: siteJobIdOf(exists), anyway };
}

async function resolve(app: App, id: number, verdict: PersonsVerdict, options: ResolveOptions): Promise<void> {
  const change = await findChange(app.db, id);
  const configured = change === undefined ? undefined : app.config.sites.get(change.site);
  // A check at a different address proves nothing.
  if (configured !== undefined) await refusalExplained(options, () => expectNotMoved(app, configured));
  const site = configured && (await openSite(app.db, configured));
  try {
    const { config, as, ifVersion } = options;
    const write = commandWriter(config);
    const version =
      ifVersion ?? (verdict.kind === 'missing' ? await askToSendAgain(app, id, { site, write }) : undefined);
    const seen = version === undefined ? {} : { version };
    const report = await resolveEntry(app.db, id, verdict, {
      actor: actorName(as),
      site,
      policyOf: configuredPolicy(app.config),
      ...seen,
    });
    if (report.kind === 'refused') {
      const insist = report.mayInsist === true ? '; if it is the right one nevertheless, add --anyway' : '';
      throw new UserError(`entry ${id}: ${report.message}${insist}`);
    }
    if (report.warning !== undefined) printNotice(`warning: ${report.warning}`);
    const { feed, key } = report;
    const message = verdict.kind === 'missing' ? 'to be sent again' : `job ${verdict.siteJobId} adopted`;
    const entries = [{ entry: id, feed, key, result: 'done', message }] as const;
    const act = { action: 'settle', entries, feeds: [], acted: [{ id, feed }] };
    process.exitCode = await sendAndTell(app, act, {
      json: options.json === true,
      send: options.send,
      write,
    });
  } finally {
    await site?.client.close();
  }
}

const openSite = async (db: Database, site: SiteConfig) => ({
  client: await openProvenClient(db, site),
  referenceField: site.options.referenceField,
  places: placesOf(site),
  resolveAfterMs: site.doubts.resolveAfterMs,
});
