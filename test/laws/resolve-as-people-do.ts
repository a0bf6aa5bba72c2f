// Resolves doubts as a person does: checks the site, and names the job or says that it is missing.
import type { InspectedJob } from '../../src/sandbox/sandbox.ts';
import { runProgram } from '../cli/run-program.ts';
import { ageDoubts } from '../support/age-doubts.ts';
import type { Installation } from './installation.ts';

/**
 * Resolves the creates of a feed whose outcome is unknown. Returns their number, and the result for each.
 * @param isJobOf whether a job of the site belongs to the posting with this key.
 */
export async function resolveAsPeopleDo(
  installation: Installation,
  feed: string,
  isJobOf: (job: InspectedJob, key: string) => boolean,
): Promise<{ readonly resolved: number; readonly story: readonly string[] }> {
  const { db } = await installation.app();
  await installation.sandbox.requests.idle();
  const open = await db.query<{ id: number; key: string; state: string; found: string | null }>(
    `select id, key, state, found_job_id as found from change where feed = $1 and (state = 'in_doubt' or (state = 'held' and desired = 'present'))
     order by id`,
    [feed],
  );
  const story: string[] = [];
  let resolved = 0;
  for (const { id, key, state, found } of open) {
    const mappings = await db.query<{ id: string; key: string }>('select site_job_id as id, key from mapping');
    const mapped = new Map(mappings.map((row) => [row.id, row.key]));
    const jobs = (await installation.sandbox.inspect.jobs()).filter(({ owner }) => owner === installation.owner);
    // The site may have reused the ID of another posting's job: then the job is mapped, but belongs to this posting.
    const alike = jobs.filter((candidate) => isJobOf(candidate, key));
    const job =
      alike.find((candidate) => candidate.id === found) ??
      alike.find((candidate) => !mapped.has(candidate.id)) ??
      alike.find((candidate) => mapped.get(candidate.id) !== key);
    // Nothing is left that may still arrive: a person need not wait.
    if (job === undefined) await ageDoubts(db, id);
    const verdict = job === undefined ? ['--missing'] : ['--exists', job.id];
    const say = (more: readonly string[]) =>
      runProgram(installation, 'review', 'settle', String(id), ...verdict, ...more);
    let { status, errors } = await say([]);
    // The command asks for confirmation; a person who has checked the site confirms.
    if (status !== 0 && errors.includes('--anyway')) ({ status, errors } = await say(['--anyway']));
    story.push(`  a person: ${state} ${key} ${verdict.join(' ')}: ${status} ${status === 0 ? '' : errors.trim()}`);
    if (status === 0) resolved++;
  }
  return { resolved, story };
}
