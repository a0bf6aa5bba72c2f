// The schemas of answers. Members may be added, never removed; the texts come from the read model of src/review.
import { z } from 'zod';
import { noteOutput } from '../../operations/notes.ts';
import { ruleOutput } from '../../operations/rules.ts';
import { actionOutput } from '../../operations/scalars.ts';
import { ENTRY_KINDS } from '../../store/review/review-entries.ts';

const count = z.int().min(0);
const time = z.iso.datetime();
const name = z.string();
const fields = z.record(z.string(), z.string());

export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.looseObject({
    items: z.array(item),
    next_cursor: z.string().nullable().describe('`null`: nothing follows.'),
  });

const problem = z.looseObject({ field: z.string().optional(), message: z.string() });

const kind = z.enum(ENTRY_KINDS);

export const listedEntryAnswer = z
  .looseObject({
    id: count,
    feed: name,
    site: name.nullable(),
    key: z.string().nullable(),
    kind,
    operation: z.enum(['create', 'update', 'delete']).nullable(),
    since: time,
    age_seconds: count,
    escalated: z.boolean(),
    reason: z.string(),
  })
  .meta({ title: 'ListedEntry' });

export const entryAnswer = z
  .looseObject({
    id: count,
    version: z.string().describe('Send it along with an action to act on this version only.'),
    feed: name,
    key: z.string().nullable(),
    kind: z.enum([...ENTRY_KINDS, 'ready', 'sending', 'discarded']),
    since: time,
    age_seconds: count,
    problems: z.array(problem),
    desired_fields: fields.nullable().optional(),
    record: z
      .string()
      .nullable()
      .optional()
      .describe('The beginning of the record, as the feed has it; `null`: not kept.'),
    actions: z.array(actionOutput),
  })
  .meta({ title: 'Entry' });

export const actedAnswer = z
  .looseObject({
    action: z.string(),
    entry: count,
    feed: name,
    key: z.string().nullable(),
    result: z.literal('done'),
    message: z.string(),
  })
  .meta({ title: 'Acted' });

const frequency = <Name extends string>(of: Name) =>
  z.array(z.looseObject({ [of]: z.string(), count } as Record<Name, z.ZodString> & { count: typeof count }));

export const groupedAnswer = z
  .looseObject({
    group: z.string(),
    kind,
    field: z.string().nullable(),
    message: z.string(),
    count,
    first_seen: time,
    last_seen: time,
    trend: z.enum(['new', 'back', 'growing', 'shrinking', 'steady']),
    values: frequency('value'),
    value_count: count,
    feeds: frequency('feed'),
    sites: frequency('site'),
    example: z.looseObject({ id: count, feed: name, key: z.string().nullable(), reason: z.string() }),
    notes: z.array(noteOutput),
    rules: z.array(ruleOutput).describe('Those in force.'),
  })
  .meta({ title: 'Group' });

export const selectionAnswer = z
  .looseObject({
    count,
    mark: z.string().describe('Another one if other entries are selected, or one has changed.'),
    answer_first: z
      .string()
      .nullable()
      .describe('Why nothing can be decided about them before a question about changed keys is answered, and how.'),
    left_alone: count.describe('How many entries are selected as well, but not acted on.'),
    reasons: z.array(z.looseObject({ message: z.string(), count })).describe('Why.'),
  })
  .meta({ title: 'Selection' });

export const problemAnswer = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    errors: z.array(z.looseObject({ where: z.string(), message: z.string() })).optional(),
  })
  .meta({ title: 'Problem' });
