// The API's operations on groups of review entries, and on many entries at once.
import { z } from 'zod';
import { bulkAction, bulkOutput } from '../../operations/bulk-actions.ts';
import { editInput, withoutAbsent } from '../../operations/edit-input.ts';
import { cursorSchema, groupSchema, limitSchema, NOTHING, text } from '../../operations/scalars.ts';
import { tell } from '../../plan/message.ts';
import { answerFirstAmong } from '../../review/answer-first.ts';
import { markOf, previewBulk, startBulk } from '../../review/bulk/start-bulk.ts';
import { listGroups } from '../../review/list-groups.ts';
import { groupJson } from '../../review/read-model/group.ts';
import { SELECTED_ACTIONS } from '../../store/review/bulk-actions.ts';
import { ProblemError } from '../problem.ts';
import { groupedAnswer, pageOf, selectionAnswer } from './answers.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { route } from './http-route.ts';
import { entryQuery, filterParameters, filterSchema, selectParameters } from './review-filter.ts';

const SHOWN = 50;
const SHOWN_VALUES = 10;

const groupPlace = z.strictObject({ count: z.int().min(0).max(1e15), id: groupSchema });

/** @param read one more than the page holds, if more follow */
function cursorAfter(read: readonly { readonly id: string; readonly count: number }[], limit: number): string | null {
  const last = read[limit - 1];
  return encodeCursor(read.length > limit && last !== undefined ? { count: last.count, id: last.id } : undefined);
}

export const listReviewGroups = route({
  id: 'listReviewGroups',
  method: 'get',
  path: '/review/groups',
  summary: 'What needs a person, grouped by kind, field and message: the largest group first',
  scope: 'read',
  params: NOTHING,
  query: z.strictObject({ ...filterParameters, cursor: cursorSchema, limit: limitSchema }),
  response: pageOf(groupedAnswer),
  async run({ query }, { app }) {
    const selected = {
      ...(await entryQuery(app, { ...query, kinds: query.kind })),
      discarded: query.discarded === 'true',
    };
    const limit = query.limit ?? SHOWN;
    const after = decodeCursor(query.cursor, groupPlace);
    const groups = await listGroups(app.db, selected, { groups: limit + 1, values: SHOWN_VALUES, after });
    const items = groups.slice(0, limit);
    return {
      body: { items: items.map((group) => groupJson(group, app.writeAction)), next_cursor: cursorAfter(groups, limit) },
    };
  },
});

export const previewActionOnReview = route({
  id: 'previewActionOnReview',
  method: 'get',
  path: '/review/selection',
  summary: 'What an action on many entries would act on now: of the selected ones, those of a kind that it is for',
  scope: 'read',
  params: NOTHING,
  query: z.strictObject({ ...selectParameters, action: z.enum(SELECTED_ACTIONS) }),
  response: selectionAnswer,
  async run({ query }, { app }) {
    const selected = await previewBulk(app.db, query.action, await entryQuery(app, { ...query, kinds: query.kind }));
    const first = await answerFirstAmong(app.db, query.action, selected);
    const offered = first === undefined ? selected : [];
    const count = offered.reduce((sum, { n }) => sum + n, 0);
    const answer_first = first === undefined ? null : tell(first, app.writeAction);
    return { body: { count, mark: markOf(offered), answer_first } };
  },
});

const common = {
  filter: filterSchema.describe('What is acted on. Only entries that are as they were when the action started.'),
  expected: z
    .int()
    .min(1)
    .describe(
      'How many entries you saw of the kinds that the action is for, the `count` of `GET /review/selection`: if it is another number now, nothing is done. With `ids`, how many these are.',
    ),
};
const mark = text(100).describe('The `mark` of `GET /review/selection`: with any other entries, nothing is done.');
const alsoNew = z
  .boolean()
  .optional()
  .describe('Also make a rule for new entries of the group, or of the group and the feed, that the filter names.');
const actSchema = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('retry'), ...common, mark: mark.optional(), also_new: alsoNew }),
  z.strictObject({ action: z.literal('reopen'), ...common, mark: mark.optional() }),
  // As many other deletes may be held by now, so the number alone does not show that somebody saw them.
  z.strictObject({ action: z.literal('approve'), ...common, mark }),
  z.strictObject({
    action: z
      .literal('missing')
      .describe(
        'The site has made the job of none of these creates in doubt: they are sent again. Those that a job on the site may belong to, or that its list still decides, are left alone.',
      ),
    ...common,
    mark,
  }),
  z.strictObject({
    action: z.literal('check').describe('The list of the site is read again for these creates in doubt.'),
    ...common,
    mark: mark.optional(),
  }),
  z.strictObject({
    action: z.literal('discard'),
    ...common,
    mark: mark.optional(),
    reason: text(1_000).optional(),
    also_new: alsoNew,
  }),
  z.strictObject({
    action: z.literal('edit'),
    ...common,
    mark: mark.optional(),
    edit: editInput,
    also_new: alsoNew,
  }),
]);

export const actOnReview = route({
  id: 'actOnReview',
  method: 'post',
  path: '/review/actions',
  summary: 'One decision for many entries, in batches',
  scope: 'review',
  params: NOTHING,
  query: NOTHING,
  body: actSchema,
  status: 202,
  response: bulkOutput,
  async run({ body }, { app, control, actor }) {
    const { action, filter, expected } = body;
    const detail = {
      query: await entryQuery(app, filter),
      unattended: true,
      ...(body.action === 'edit' ? { edit: withoutAbsent(body.edit) } : {}),
      ...(body.action === 'discard' && body.reason !== undefined ? { reason: body.reason } : {}),
    };
    const alsoNew = 'also_new' in body ? body.also_new : undefined;
    const start = await startBulk(app.db, { action, actor, expected, mark: body.mark, alsoNew, detail });
    if (start.kind === 'refused') throw new ProblemError({ status: 409, detail: tell(start.message, app.writeAction) });
    const { id } = start.bulk;
    control.bulk(id);
    return { status: 202, location: `/review/actions/${id}`, body: z.encode(bulkOutput, await bulkAction(app, id)) };
  },
});
