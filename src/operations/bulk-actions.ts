// Actions on many review entries: those that ran or run in batches, with their progress.
import { z } from 'zod';
import { continueBulk, stopBulk } from '../review/bulk/run-bulk.ts';
import {
  BULK_KINDS,
  type BulkRow,
  findBulk,
  listBulk,
  type SkippedCount,
  skippedOfBulk,
  skippedOfBulks,
} from '../store/review/bulk-actions.ts';
import { listOperation, type OperationContext, OperationRefused, operation } from './operation.ts';
import { answerOf, count, editOutput, idNumber, time } from './scalars.ts';

export const bulkOutput = z
  .strictObject({
    bulk: count.describe('Its number.'),
    action: z.enum(BULK_KINDS).describe('What it does to each entry.'),
    actor: z.string().describe('Who started it.'),
    state: z.enum(['open', 'stopped', 'done']),
    started_at: time,
    touched_at: time.describe('When it last made progress.'),
    total: count.describe('How many entries were selected.'),
    done: count.describe('How many are done.'),
    still_rejected: count.describe('Of the done: how many are rejected again.'),
    left_alone: count.describe('How many were left as they are.'),
    to_do: count.describe('How many are left to do.'),
    reasons: z.array(z.strictObject({ message: z.string(), count })).describe('Why entries were left alone.'),
    edit: editOutput.nullable().describe('What an edit sets.'),
    reason: z.string().nullable().describe('The reason that was given for the audit.'),
    unattended: z.boolean().describe('Whether `start` carries it out; `false`: a command does, as long as it runs.'),
    waits_for: z
      .string()
      .nullable()
      .describe('Why it is making no progress, such as a paused site; `null`: it is not waiting.'),
    rule: count.nullable().describe('The rule that selected the entries; `null`: a person did.'),
  })
  .meta({ title: 'BulkAction' });

export const listReviewActions = listOperation({
  id: 'listReviewActions',
  path: '/review/actions',
  summary: 'Decisions for many entries with their progress, the newest first',
  scope: 'read',
  input: z.strictObject({}),
  item: bulkOutput,
  place: z.strictObject({ before: idNumber }),
  async run(_input, { limit, after }, { app: { db } }) {
    const bulks = await listBulk(db, limit, after?.before);
    const skipped = await skippedOfBulks(
      db,
      bulks.map(({ id }) => id),
    );
    return bulks.map((bulk) => bulkJson(bulk, skipped.get(bulk.id) ?? []));
  },
  placeOf: ({ bulk }) => ({ before: bulk }),
});

const ofAction = z.strictObject({ id: idNumber });

/** @throws {OperationRefused} if there is none with this number */
export async function bulkAction({ db }: Pick<OperationContext['app'], 'db'>, id: number) {
  const bulk = await findBulk(db, id);
  if (bulk === undefined) throw new OperationRefused('unknown', `there is no bulk action ${id}`);
  return bulkJson(bulk, await skippedOfBulk(db, id));
}

export const showReviewAction = operation({
  id: 'showReviewAction',
  path: '/review/actions/{id}',
  summary: 'One decision for many entries with its progress',
  scope: 'read',
  input: ofAction,
  output: bulkOutput,
  run: ({ id }, { app }) => bulkAction(app, id),
});

export const stopReviewAction = operation({
  id: 'stopReviewAction',
  path: '/review/actions/{id}/stop',
  summary: 'End it after its present batch; what it did stays',
  scope: 'review',
  input: ofAction,
  output: bulkOutput,
  async run({ id }, { app, actor }) {
    await bulkAction(app, id);
    if (!(await stopBulk(app.db, id, actor))) throw isDone(id);
    return bulkAction(app, id);
  },
});

export const continueReviewAction = operation({
  id: 'continueReviewAction',
  path: '/review/actions/{id}/continue',
  summary: 'Go on with what was stopped or interrupted',
  scope: 'review',
  input: ofAction,
  output: bulkOutput,
  async run({ id }, { app, actor, control }) {
    await bulkAction(app, id);
    if (!(await continueBulk(app.db, id, actor))) throw isDone(id);
    control.bulk(id);
    return bulkAction(app, id);
  },
});

const isDone = (id: number): OperationRefused => new OperationRefused('conflict', `bulk action ${id} is done`);

export function bulkJson(bulk: BulkRow, skipped: readonly SkippedCount[]) {
  const { id, total, done, remaining, detail } = bulk;
  return answerOf(bulkOutput, bulk, {
    bulk: id,
    still_rejected: remaining,
    left_alone: bulk.skipped,
    to_do: total - done - bulk.skipped,
    reasons: [...skipped],
    edit: detail.edit ?? null,
    reason: detail.reason ?? null,
    unattended: detail.unattended === true,
  });
}
