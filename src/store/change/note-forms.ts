// Records what a site shows of a job that was just written.
import type { ShownForms } from '../../plan/shown-forms.ts';
import type { Queryable } from '../postgres/database.ts';
import type { Attempt } from './attempt.ts';

/** Writes nothing if another version of the posting was sent since, or is being sent. */
export async function noteForms(db: Queryable, attempt: Attempt, forms: ShownForms): Promise<void> {
  const { feed, key, request, accepted } = attempt;
  await db.query(
    `update document d set shown = $3 from mapping m
     where d.feed = $1 and d.key = $2 and m.feed = d.feed and m.key = d.key and m.site_job_id = $4 and m.content_hash = $5
       and not exists (select from change c where c.feed = d.feed and c.key = d.key and c.attempt_token is not null)`,
    [feed, key, forms ?? null, 'siteJobId' in request ? request.siteJobId : null, accepted?.contentHash ?? null],
  );
}
