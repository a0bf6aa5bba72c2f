// What an edit of many entries sets: in requests, and in answers.
import { z } from 'zod';
import type { Refused } from '../review/act-on-entries.ts';
import type { BulkEdit } from '../store/review/bulk-actions.ts';
import type { OperationRefused } from './operation.ts';
import { fieldName, fieldsSchema, text } from './scalars.ts';

/** More different values than a person would replace. */
const MOST_VALUES = 10_000;

const map = z.strictObject({
  field: fieldName,
  values: z
    .record(text(10_000), text(200_000))
    .refine((values) => Object.keys(values).length <= MOST_VALUES, `must hold at most ${MOST_VALUES} values`)
    .describe('From the value that an entry has to its new one.'),
});

export const editInput = z
  .strictObject({ set: fieldsSchema.optional(), map: map.optional() })
  .refine(({ set, map: by }) => set !== undefined || by !== undefined, 'must hold set or map');

/** Members that were not sent. */
export const withoutAbsent = ({ set, map: by }: z.output<typeof editInput>): BulkEdit => ({
  ...(set === undefined ? {} : { set }),
  ...(by === undefined ? {} : { map: by }),
});

const fields = z.record(z.string(), z.string());

/** As it was stored. */
export const editOutput = z.strictObject({
  set: fields.optional(),
  map: z.strictObject({ field: z.string(), values: fields }).optional(),
});

/** Members of the problem that says why an edit was not made. */
export function whyNoEdit(edit: Refused['edit']): OperationRefused['now'] {
  if (edit === undefined) return {};
  if (edit.kind === 'feeds') return { feeds: edit.feeds };
  const { tried, ready, rejected, leftAlone, reasons, meant } = edit;
  return {
    may_insist: true,
    preview: { tried, ready, still_rejected: rejected, left_alone: leftAlone, reasons, meant },
  };
}
