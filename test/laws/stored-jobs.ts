// Jobs that a site has had for long: stored by SQL, because sending each of many postings takes most of a test's time.
import type { Installation } from './installation.ts';

/** Stores jobs of the mirror's user with these fields. The database knows nothing of them. */
export async function storeJobs(
  installation: Installation,
  fields: readonly Readonly<Record<string, string>>[],
): Promise<void> {
  await installation.query(
    `insert into sandbox.job (sequence, id, owner_id, state, fields)
     select n, n, owner, 'MA', job from (select account.id as owner, job, nextval('sandbox.job_sequence') as n
       from sandbox.account, jsonb_array_elements($2) job where email = $1) made`,
    [installation.owner, JSON.stringify(fields)],
  );
  await installation.stopEngine();
}
