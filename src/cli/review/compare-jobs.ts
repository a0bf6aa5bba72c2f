// Shows a create in doubt beside jobs of its site, which are read within the site's rate.
import { z } from 'zod';
import { comparedDoubtJson, comparedDoubtOutput, compareWith } from '../../operations/candidates.ts';
import { MOST_COMPARED } from '../../review/compare-doubt.ts';
import type { App } from '../../runtime/app.ts';
import { ExitStatus, UserError } from '../../runtime/exit-status.ts';
import { printJson, printLines } from '../../telemetry/print.ts';
import { commandWriter } from '../adapter/command-line.ts';
import { describeComparedDoubt } from '../output/describe-compared-doubt.ts';
import { siteJobIdOf } from './site-job-id.ts';

export interface CompareOptions {
  readonly config?: string;
  readonly json?: boolean;
  /** The jobs to compare with; none: those that it may have made. */
  readonly job?: readonly string[];
}

/** Returns the exit status: the site has to tell about each job. */
export async function compareJobs(app: App, id: number, options: CompareOptions): Promise<ExitStatus> {
  const named = [...new Set((options.job ?? []).map(siteJobIdOf))];
  if (named.length > MOST_COMPARED) throw new UserError(`at most ${MOST_COMPARED} jobs can be compared at once`);
  const { doubt, candidates } = await compareWith(app, id, named);
  if (options.json === true) await printJson(z.encode(comparedDoubtOutput, comparedDoubtJson(doubt, candidates)));
  else await printLines(describeComparedDoubt(doubt, candidates, commandWriter(options.config)));
  return candidates.some(({ kind }) => kind === 'unchecked') ? ExitStatus.failed : ExitStatus.done;
}
