// The schemas of what pages and API are told about existing jobs, and of what the API answers.
import { z } from 'zod';
import { keyText, text } from '../../operations/scalars.ts';
import { postingKey, siteJobId } from '../../posting/identifiers.ts';
import { PROPOSAL_KINDS } from '../../store/mapping/adopt-proposals.ts';

export const proposalKindSchema = z.enum(PROPOSAL_KINDS, `must be one of ${PROPOSAL_KINDS.join(', ')}`).optional();

export const jobIdText = text(200).min(1);

export const postingAndJob = z
  .strictObject({ key: keyText, job_id: jobIdText })
  .transform(({ key, job_id }) => ({ key: postingKey(key), siteJobId: siteJobId(job_id) }));

const count = z.int().min(0);
const time = z.iso.datetime();

const candidate = z.looseObject({
  job_id: z.string(),
  url: z.string().nullable(),
  title: z.string().nullable(),
  score: z.number(),
  reasons: z.array(z.string()),
  differences: z.array(
    z.looseObject({
      field: z.string(),
      job: z.string().nullable().describe('What the job shows; `null`: no such field.'),
      posting: z.string().nullable(),
    }),
  ),
  more_fields: count.describe('Further fields that differ.'),
  owned: z.boolean().describe('A posting has the job by now, or it is about to be deleted.'),
});

export const adoptionAnswer = z
  .looseObject({
    feed: z.string(),
    state: z
      .enum(['none', 'running', 'done', 'failed', 'interrupted'])
      .describe('`none`: nobody has started to match the jobs.'),
    run: count.optional(),
    asked: z.enum(['match', 'sure', 'named']).optional(),
    actor: z.string().optional(),
    started_at: time.optional(),
    ended_at: time.nullable().optional(),
    progress: z.string().nullable().optional(),
    message: z.string().nullable().optional().describe('Why it failed.'),
    adopted: count.optional(),
    refused: count.optional().describe('How many of the accepted ones were not adopted.'),
    refusals: z
      .array(z.looseObject({ key: z.string(), job_id: z.string(), message: z.string() }))
      .optional()
      .describe('Some of them.'),
    matched_at: time.nullable().optional().describe('When the matches were found; `null`: there are none yet.'),
    notes: z.array(z.string()).optional(),
    sure: count.optional(),
    unsure: count.optional(),
    unmatched: count.optional(),
    other_jobs: count.optional().describe('Jobs of the site that no posting has or resembles.'),
    mark: z.string().nullable().optional().describe('Another one if other matches are sure.'),
    items: z.array(
      z.looseObject({
        key: z.string(),
        title: z.string().nullable(),
        verdict: z.enum(PROPOSAL_KINDS),
        reasons: z.array(z.string()),
        version: z.string(),
        own_job_id: z.string().nullable().describe('The job that the posting has got since.'),
        candidates: z.array(candidate).describe('The best one first.'),
      }),
    ),
    next_cursor: z.string().nullable().describe('`null`: nothing follows.'),
  })
  .meta({ title: 'Adoption' });

export const startedAdoptionAnswer = z.looseObject({ feed: z.string(), run: count }).meta({ title: 'StartedAdoption' });
