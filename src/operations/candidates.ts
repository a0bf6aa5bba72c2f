// A create in doubt beside the jobs of its site that it may have made.
import { z } from 'zod';
import type { SiteJobId } from '../posting/identifiers.ts';
import type { DoubtCandidate } from '../review/compare-doubt.ts';
import { compareDoubt, readDoubt, type ShownDoubt } from '../review/compare-doubt.ts';
import type { App } from '../runtime/app.ts';
import { type OpenCandidateSite, openCandidateSite } from '../runtime/open-site-client.ts';
import { findChange } from '../store/change/open-change.ts';
import { OperationRefused, operation } from './operation.ts';
import { count, idNumber, siteJobIdText, time } from './scalars.ts';
import { expectNotMoved } from './sites.ts';

const fields = z.record(z.string(), z.string());

export const comparedDoubtOutput = z
  .strictObject({
    entry: count,
    version: z.string().describe('Send it along with the decision.'),
    feed: z.string(),
    key: z.string(),
    site: z.string(),
    sent_at: time,
    sent_fields: fields,
    known_jobs: z.array(z.string()).describe('Jobs that it may have made, as far as the list of the site has shown.'),
    candidates: z.array(
      z.strictObject({
        site_job_id: z.string(),
        answer: z
          .enum(['shown', 'absent', 'unchecked'])
          .describe(
            '`absent`: the site says that it has no such job. `unchecked`: it did not tell, `message` says why.',
          ),
        message: z.string().nullable(),
        url: z.string().nullable(),
        created_at: time.nullable(),
        likeness: z
          .enum(['match', 'perhaps', 'resembles', 'other'])
          .nullable()
          .describe('It is what was sent, may be, is similar, or seems to be another job.'),
        owned: z.boolean().nullable().describe('It belongs to another posting, or is about to be deleted.'),
        fields: fields.nullable(),
        differing: z.array(z.string()).nullable(),
      }),
    ),
  })
  .meta({ title: 'ComparedDoubt' });

export const compareEntry = operation({
  id: 'compareEntry',
  path: '/review/{id}/candidates',
  summary: 'A create in doubt beside the jobs that it may have made, which are read from the site',
  scope: 'review',
  reads: true,
  input: z.strictObject({
    id: idNumber,
    job: siteJobIdText.optional().describe('The job to compare with; without it, up to 5 of `known_jobs` are.'),
  }),
  output: comparedDoubtOutput,
  async run({ id, job }, { app }) {
    const { doubt, candidates } = await compareWith(app, id, job === undefined ? [] : [job]);
    return comparedDoubtJson(doubt, candidates);
  },
});

/** @param named the jobs to compare with; none: those that it may have made. @throws {OperationRefused} */
export async function compareWith(
  app: App,
  id: number,
  named: readonly SiteJobId[],
): Promise<{ readonly doubt: ShownDoubt; readonly candidates: readonly DoubtCandidate[] }> {
  const doubt = await readDoubt(app.db, app.config, id);
  if (doubt === undefined) throw new OperationRefused('unknown', `entry ${id} is not, or no longer, a create in doubt`);
  const site = await openSiteOfEntry(app, id);
  try {
    return { doubt, candidates: await compareDoubt(app.db, doubt, named, site) };
  } finally {
    await site?.client.close();
  }
}

/**
 * Opens the site of a review entry, to check a job there; the caller closes its client. `undefined`: the site is no longer configured.
 * @throws {OperationRefused} if its jobs were made at another address: a check there would prove nothing
 */
export async function openSiteOfEntry(app: App, id: number): Promise<OpenCandidateSite | undefined> {
  const change = await findChange(app.db, id);
  const site = change === undefined ? undefined : app.config.sites.get(change.site);
  if (site === undefined) return undefined;
  await expectNotMoved(app, site);
  return openCandidateSite(app.db, site);
}

export function comparedDoubtJson(
  { change, version, sent, startedAt, candidateIds }: ShownDoubt,
  candidates: readonly DoubtCandidate[],
): z.output<typeof comparedDoubtOutput> {
  return {
    entry: change.id,
    version,
    feed: change.feed,
    key: change.key,
    site: change.site,
    sent_at: startedAt,
    sent_fields: { ...sent },
    known_jobs: [...candidateIds],
    candidates: candidates.map((candidate) => {
      const shown = candidate.kind === 'shown' ? candidate : undefined;
      return {
        site_job_id: candidate.siteJobId,
        answer: candidate.kind,
        message: candidate.kind === 'unchecked' ? candidate.message : null,
        url: shown?.url ?? null,
        created_at: shown?.createdAt ?? null,
        likeness: shown?.likeness ?? null,
        owned: shown?.owned ?? null,
        fields: shown === undefined ? null : { ...shown.fields },
        differing: shown === undefined ? null : [...shown.differing].sort(),
      };
    }),
  };
}
