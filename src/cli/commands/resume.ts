// `jobmirror resume`: resumes sending to a paused site, at once.
import { Command } from 'commander';
import type { SiteName } from '../../posting/identifiers.ts';
import { resumePausedSite } from '../../review/resume-paused-site.ts';
import { UserError } from '../../runtime/exit-status.ts';
import { tokenDigests } from '../../runtime/token-digests.ts';
import { addressOf } from '../../site/base-address.ts';
import { tokenHistory } from '../../store/site/refused-token.ts';
import { printJson, printLine } from '../../telemetry/print.ts';
import { actorName } from '../actor.ts';
import { confirmMoved } from '../confirm-moved.ts';
import { refuseMove } from '../refuse-move.ts';
import { withApp } from '../with-app.ts';

interface ResumeOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly as?: string;
  readonly emptied?: boolean;
  readonly moved?: boolean;
  readonly pausedSince?: string;
}

export function resumeCommand(): Command {
  return new Command('resume')
    .argument('<site>', 'name of the site')
    .option('--emptied', 'the site was really emptied: believe it for a day when it says that jobs are gone')
    .option('--moved', 'it is the same site, with the same jobs, at the address that base_url has now')
    .option(
      '--paused-since <time>',
      'resume only if this is still the pause with this paused_since (see status --json)',
    )
    .option('--as <name>', 'who acts, for the audit (default: the user of the operating system)')
    .option('--config <file>', 'configuration file (default: jobmirror.yaml)')
    .option('--json', 'print one JSON object')
    .action((name: string, options: ResumeOptions) =>
      withApp(options, async (app, signal) => {
        const { db, config } = app;
        const configured = config.sites.get(name as SiteName);
        if (configured === undefined) {
          throw new UserError(`there is no site ${name}; sites: ${[...config.sites.keys()].join(', ') || 'none'}`);
        }
        const site = configured.name;
        const address = addressOf(configured.options);
        const moved = options.moved === true;
        if (!moved) await refuseMove({ db }, configured, options.config);
        const compared = moved ? await confirmMoved(app, configured, { config: options.config, signal }) : undefined;
        const since = options.pausedSince;
        const token = (await tokenDigests(db, config)).get(site);
        const end = await resumePausedSite(db, site, {
          actor: actorName(options.as),
          seen: since === undefined ? undefined : { since, address, token },
          emptied: options.emptied === true,
          movedTo: moved ? address : undefined,
        });
        if (end.kind === 'refused') throw new UserError(end.message);
        const { wasPaused } = end;
        const note = compared?.note;
        const { refusedAt, acceptedAt } = await tokenHistory(db, site, token ?? '');
        const isUnproven = refusedAt !== undefined && acceptedAt === undefined;
        if (options.json === true) {
          const counts =
            compared === undefined ? {} : { compared: compared.jobs, ...(note === undefined ? {} : { note }) };
          return printJson({ site, was_paused: wasPaused, token_proven: !isUnproven, ...counts });
        }
        if (note !== undefined) await printLine(`${note[0]?.toUpperCase()}${note.slice(1)}.`);
        if (!wasPaused) return printLine(`Site ${site} was not paused.`);
        await printLine(`Site ${site} is resumed: a running worker, or the next sync, sends what is waiting.`);
        if (isUnproven) await printLine('That its token may write is not proven: the next change tells.');
      }),
    );
}
