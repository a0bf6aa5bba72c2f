// Rules: what is done with new entries of a group without asking a person again. Notes: what people write about a group.
import { z } from 'zod';
import { LONGEST_NOTE, type NoteEnd, noteGroup, removeGroupNote } from '../review/list-groups.ts';
import { addRule, endRuleOf, type RuleEnd } from '../review/rules.ts';
import { ENTRY_KINDS } from '../store/backlog/open-counts.ts';
import type { BulkEdit } from '../store/review/bulk-actions.ts';
import type { GroupNote } from '../store/review/review-groups.ts';
import { type ListedRule, listRules, RULE_ACTIONS } from '../store/review/rules.ts';
import { listOperation, namedFeed, OperationRefused, operation } from './operation.ts';
import {
  answerOf,
  count,
  editInput,
  editOutput,
  feedNameText,
  groupSchema,
  idNumber,
  text,
  time,
  whyNoEdit,
  withoutAbsent,
} from './scalars.ts';

export const ruleOutput = z
  .strictObject({
    rule: count,
    group: z.string(),
    kind: z.enum(ENTRY_KINDS),
    field: z.string().nullable(),
    message: z.string(),
    feed: z.string().nullable().describe('`null`: new entries of all feeds.'),
    action: z.enum(RULE_ACTIONS),
    edit: editOutput.nullable(),
    reason: z.string().nullable(),
    actor: z.string(),
    made_at: time,
    ended_at: time.nullable(),
    ended_by: z.string().nullable(),
    done: count,
    left_alone: count,
  })
  .meta({ title: 'Rule' });

export const listReviewRules = listOperation({
  id: 'listReviewRules',
  path: '/review/rules',
  summary: 'What is done with new entries of groups: the rules in force first, then the newest',
  scope: 'read',
  input: z.strictObject({}),
  item: ruleOutput,
  place: z.strictObject({ inForce: z.boolean(), id: idNumber }),
  run: async (_input, { limit, after }, { app }) => (await listRules(app.db, limit, after)).map(ruleJson),
  placeOf: ({ rule, ended_at }) => ({ inForce: ended_at === null, id: rule }),
});

const common = {
  group: groupSchema,
  feed: feedNameText.optional().describe('Only new entries of this feed.'),
};

export const addReviewRule = operation({
  id: 'addReviewRule',
  path: '/review/rules',
  summary: 'Decide new entries of a group without being asked: each of them once, and none that waits now',
  scope: 'review',
  input: z.discriminatedUnion('action', [
    z.strictObject({ action: z.literal('retry'), ...common }),
    z.strictObject({ action: z.literal('discard'), ...common, reason: text(1_000).optional() }),
    z.strictObject({
      action: z.literal('edit'),
      ...common,
      edit: editInput,
      anyway: z
        .boolean()
        .optional()
        .describe(
          'Add it even if waiting entries of the group would still be rejected; otherwise nothing is done then.',
        ),
      all_feeds: z
        .boolean()
        .optional()
        .describe('New entries of all feeds; otherwise of the only feed that the group has entries of.'),
    }),
  ]),
  output: ruleOutput,
  async run(input, { app, actor }) {
    const feed = input.feed === undefined ? undefined : await namedFeed(app, input.feed);
    const detail = {
      ...(input.action === 'edit' ? { edit: withoutAbsent(input.edit) } : {}),
      ...(input.action === 'discard' && input.reason !== undefined ? { reason: input.reason } : {}),
    };
    const { group, action } = input;
    const insists = input.action === 'edit' ? input : undefined;
    const check = {
      config: app.config,
      onlyIfValid: insists?.anyway !== true,
      onlyOneFeed: insists?.all_feeds !== true,
    };
    return ruleOf(await addRule(app.db, { group, action, feed, detail, actor }, check));
  },
});

export const endReviewRule = operation({
  id: 'endReviewRule',
  path: '/review/rules/{id}/end',
  summary: 'End a rule; what it did stays',
  scope: 'review',
  input: z.strictObject({ id: idNumber.describe('Number of the rule.') }),
  output: ruleOutput,
  run: async ({ id }, { app, actor }) => ruleOf(await endRuleOf(app.db, id, actor)),
});

function ruleOf(end: RuleEnd) {
  if (end.kind === 'done') return ruleJson(end.rule);
  const kind = end.edit === undefined ? 'conflict' : 'invalid';
  throw new OperationRefused(end.kind === 'unknown' ? 'unknown' : kind, end.message, whyNoEdit(end.edit));
}

export const ruleJson = ({ id, detail, ...rule }: ListedRule) =>
  answerOf(ruleOutput, rule, { rule: id, edit: detail.edit ?? null, reason: detail.reason ?? null });

/** What a rule or a person does. */
export interface Decision {
  readonly action: string;
  readonly edit: BulkEdit | null | undefined;
  readonly reason: string | null | undefined;
}

/** `edit: sets location-state to "Texas"` without the number of entries. */
export function describeDecision({ action, edit, reason }: Decision): string {
  const set = Object.entries(edit?.set ?? {}).map(([field, value]) =>
    value === '' ? `removes ${field}` : `sets ${field} to ${quoted(value)}`,
  );
  const map = edit?.map === undefined ? [] : [`replaces values of ${edit.map.field}: ${pairsOf(edit.map.values)}`];
  const parts = [...set, ...map, ...(reason == null ? [] : [quoted(reason)])];
  return parts.length === 0 ? action : `${action}: ${parts.join(', ')}`;
}

const SHOWN = 3;

function pairsOf(values: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(values).map(([from, to]) => `${quoted(from)} → ${quoted(to)}`);
  const more = pairs.length > SHOWN ? ` and ${pairs.length - SHOWN} more` : '';
  return `${pairs.slice(0, SHOWN).join(', ')}${more}`;
}

const quoted = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

// Notes of groups of review entries, for everybody who reviews.

export const noteOutput = z
  .strictObject({ note: count, group: z.string(), text: z.string(), actor: z.string(), at: time })
  .meta({ title: 'Note' });

export const noteReviewGroup = operation({
  id: 'noteReviewGroup',
  path: '/review/groups/{group}/notes',
  summary: 'Add a note to a group, for everybody who reviews',
  scope: 'review',
  input: z.strictObject({ group: groupSchema, text: text(LONGEST_NOTE).min(1, 'must not be empty') }),
  output: noteOutput,
  run: async ({ group, text: written }, { app, actor }) => noteOf(await noteGroup(app.db, group, written, actor)),
});

export const removeReviewNote = operation({
  id: 'removeReviewNote',
  path: '/review/notes/{id}/remove',
  summary: 'Remove a note of a group',
  scope: 'review',
  input: z.strictObject({ id: idNumber }),
  output: noteOutput,
  run: async ({ id }, { app, actor }) => noteOf(await removeGroupNote(app.db, id, actor)),
});

function noteOf(end: NoteEnd) {
  if (end.kind === 'done') return noteJson(end.note);
  throw new OperationRefused(end.kind === 'unknown' ? 'unknown' : 'conflict', end.message);
}

export const noteJson = ({ id, group, text, actor, at }: GroupNote) => ({ note: id, group, text, actor, at });
