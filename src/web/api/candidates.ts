// The API's operation that compares a create in doubt with jobs of its site.
import { z } from 'zod';
import { numberSchema, text } from '../../operations/scalars.ts';
import { compareDoubt, readDoubt } from '../../review/compare-doubt.ts';
import { comparedDoubtJson } from '../../review/read-model/doubt.ts';
import { readJobId } from '../../site/http/job-address.ts';
import { openSiteOfEntry } from '../site-of-entry.ts';
import { comparedDoubtAnswer } from './answers.ts';
import { route } from './http-route.ts';
import { notFound } from './known.ts';

const LONGEST_ID = 200;

export const compareEntry = route({
  id: 'compareEntry',
  method: 'get',
  path: '/review/{id}/candidates',
  summary: 'A create in doubt beside the jobs that it may have made, which are read from the site',
  scope: 'review',
  params: z.strictObject({ id: numberSchema }),
  query: z.strictObject({
    job: text(LONGEST_ID)
      .refine((id) => readJobId(id) !== undefined, "can't be the ID of a job")
      .optional()
      .describe('The job to compare with; without it, up to 5 of `known_jobs` are.'),
  }),
  response: comparedDoubtAnswer,
  async run({ params: { id }, query }, { app }) {
    const doubt = await readDoubt(app.db, app.config, id);
    if (doubt === undefined) throw notFound(`entry ${id} is not, or no longer, a create in doubt`);
    const named = readJobId(query.job);
    const site = await openSiteOfEntry(app, id);
    try {
      const candidates = await compareDoubt(app.db, doubt, named === undefined ? [] : [named], site);
      return { body: comparedDoubtJson(doubt, candidates) };
    } finally {
      await site?.client.close();
    }
  },
});
