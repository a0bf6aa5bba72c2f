// Shows a create in doubt beside jobs of its site, which are read within the site's rate.
import { compareDoubt, MOST_COMPARED, readDoubt } from '../review/compare-doubt.ts';
import { comparedDoubtJson } from '../review/read-model/doubt.ts';
import type { App } from '../runtime/app.ts';
import { ExitStatus, UserError } from '../runtime/exit-status.ts';
import { openCandidateSite } from '../runtime/open-site-client.ts';
import { printJson, printLines } from '../telemetry/print.ts';
import { commandWriter } from './command-line.ts';
import { describeComparedDoubt } from './output/describe-compared-doubt.ts';
import { refuseMove } from './refuse-move.ts';
import { siteJobIdOf } from './site-job-id.ts';

export interface CompareOptions {
  readonly config?: string;
  readonly json?: boolean;
  /** The jobs to compare with; none: those that it may have made. */
  readonly job?: readonly string[];
}

/** Returns the exit status: the site has to tell about each job. */
export async function compareJobs({ db, config }: App, id: number, options: CompareOptions): Promise<ExitStatus> {
  const named = [...new Set((options.job ?? []).map(siteJobIdOf))];
  if (named.length > MOST_COMPARED) throw new UserError(`at most ${MOST_COMPARED} jobs can be compared at once`);
  const doubt = await readDoubt(db, config, id);
  if (doubt === undefined) throw new UserError(`entry ${id} is not, or no longer, a create in doubt`);
  const configured = config.sites.get(doubt.change.site);
  // What a site at a different address shows proves nothing.
  if (configured !== undefined) await refuseMove({ db }, configured, options.config);
  const site = configured && (await openCandidateSite(db, configured));
  try {
    const candidates = await compareDoubt(db, doubt, named, site);
    if (options.json === true) await printJson(comparedDoubtJson(doubt, candidates));
    else await printLines(describeComparedDoubt(doubt, candidates, commandWriter(options.config)));
    return candidates.some(({ kind }) => kind === 'unchecked') ? ExitStatus.failed : ExitStatus.done;
  } finally {
    await site?.client.close();
  }
}
