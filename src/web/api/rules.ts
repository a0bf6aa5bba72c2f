// The API's operations on notes of groups, and on rules.
import { z } from 'zod';
import { LONGEST_NOTE, noteGroup, removeGroupNote } from '../../review/group-note.ts';
import { noteJson, ruleJson } from '../../review/read-model/rule.ts';
import { addRule, endRuleOf } from '../../review/rules/add-rule.ts';
import { listRules } from '../../store/review/rules.ts';
import { ProblemError } from '../problem.ts';
import { noteAnswer, pageOf, ruleAnswer } from './answers.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { editSchema, withoutAbsent } from './edit-values.ts';
import { notFound, requireFeed } from './known.ts';
import { operation } from './operation.ts';
import { cursorSchema, groupSchema, limitSchema, NOTHING, nameText, numberSchema, text } from './scalars.ts';

const SHOWN = 50;
const rulePlace = z.strictObject({ inForce: z.boolean(), id: z.int().min(1).max(1e15) });

export const listReviewRules = operation({
  id: 'listReviewRules',
  method: 'get',
  path: '/review/rules',
  summary: 'What is done with new entries of groups: the rules in force first, then the newest',
  scope: 'read',
  params: NOTHING,
  query: z.strictObject({ cursor: cursorSchema, limit: limitSchema }),
  response: pageOf(ruleAnswer),
  async run({ query }, { app }) {
    const limit = query.limit ?? SHOWN;
    const after = decodeCursor(query.cursor, rulePlace);
    const read = await listRules(app.db, limit + 1, after);
    const rules = read.slice(0, limit);
    const last = read.length > limit ? rules.at(-1) : undefined;
    const next = last && { inForce: last.endedAt === null, id: last.id };
    return { body: { items: rules.map(ruleJson), next_cursor: encodeCursor(next) } };
  },
});

const common = {
  group: groupSchema,
  feed: nameText.optional().describe('Only new entries of this feed.'),
};
const ruleSchema = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('retry'), ...common }),
  z.strictObject({ action: z.literal('discard'), ...common, reason: text(1_000).optional() }),
  z.strictObject({ action: z.literal('edit'), ...common, edit: editSchema }),
]);

export const addReviewRule = operation({
  id: 'addReviewRule',
  method: 'post',
  path: '/review/rules',
  summary: 'Decide new entries of a group without being asked: each of them once, and none that waits now',
  scope: 'review',
  params: NOTHING,
  query: NOTHING,
  body: ruleSchema,
  response: ruleAnswer,
  async run({ body }, { app, actor }) {
    const feed = body.feed === undefined ? undefined : await requireFeed(app, body.feed);
    const detail = {
      ...(body.action === 'edit' ? { edit: withoutAbsent(body.edit) } : {}),
      ...(body.action === 'discard' && body.reason !== undefined ? { reason: body.reason } : {}),
    };
    return { body: ruleJson(done(await addRule(app.db, { ...body, feed, detail, actor })).rule) };
  },
});

export const endReviewRule = operation({
  id: 'endReviewRule',
  method: 'post',
  path: '/review/rules/{id}/end',
  summary: 'End a rule; what it did stays',
  scope: 'review',
  params: z.strictObject({ id: numberSchema }),
  query: NOTHING,
  body: NOTHING.optional(),
  response: ruleAnswer,
  run: async ({ params: { id } }, { app, actor }) => ({
    body: ruleJson(done(await endRuleOf(app.db, id, actor)).rule),
  }),
});

export const noteReviewGroup = operation({
  id: 'noteReviewGroup',
  method: 'post',
  path: '/review/groups/{group}/notes',
  summary: 'Add a note to a group, for everybody who reviews',
  scope: 'review',
  params: z.strictObject({ group: groupSchema }),
  query: NOTHING,
  body: z.strictObject({ text: text(LONGEST_NOTE).min(1) }),
  response: noteAnswer,
  run: async ({ params: { group }, body }, { app, actor }) => ({
    body: noteJson(done(await noteGroup(app.db, group, body.text, actor)).note),
  }),
});

export const removeReviewNote = operation({
  id: 'removeReviewNote',
  method: 'post',
  path: '/review/notes/{id}/remove',
  summary: 'Remove a note of a group',
  scope: 'review',
  params: z.strictObject({ id: numberSchema }),
  query: NOTHING,
  body: NOTHING.optional(),
  response: noteAnswer,
  run: async ({ params: { id } }, { app, actor }) => ({
    body: noteJson(done(await removeGroupNote(app.db, id, actor)).note),
  }),
});

type Undone = { readonly kind: 'unknown' | 'refused'; readonly message: string };

/** @throws {ProblemError} if nothing was done */
function done<End extends { readonly kind: 'done' }>(end: End | Undone): End {
  if (end.kind === 'done') return end as End;
  if (end.kind === 'unknown') throw notFound((end as Undone).message);
  throw new ProblemError({ status: 409, detail: (end as Undone).message });
}
