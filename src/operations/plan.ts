// What `plan` and `undo` print: each change that would be sent, and each posting or record that would not.
import { z } from 'zod';
import { tell, type WriteAction } from '../plan/message.ts';
import type { PlannedChange, UnsentPosting } from '../store/backlog/planned-changes.ts';
import { count, feedNameOutput, keyOutput, problemOutput } from './scalars.ts';

export const plannedOutput = z
  .strictObject({
    feed: feedNameOutput.describe('Name of the feed.'),
    key: keyOutput.describe('Key of the posting.'),
    operation: z.enum(['create', 'update', 'delete']),
    fields: z
      .record(z.string(), z.strictObject({ from: z.string().nullable(), to: z.string().nullable() }))
      .describe(
        'The fields that differ: `{name: {"from","to"}}`; `from` is `null` if the site does not have the field, `to` if it loses it.',
      ),
    held: z.literal(true).optional().describe('The delete would wait for approval; absent otherwise.'),
    reason: z
      .string()
      .optional()
      .describe('Why the posting is deleted or the delete is held; absent if the feed simply has changed.'),
  })
  .describe('One object per change:');

export const unsentOutput = z
  .strictObject({
    feed: feedNameOutput.describe('Name of the feed.'),
    key: keyOutput.nullable().describe('Key of the posting; `null`: the record has no usable key.'),
    operation: z.literal('none'),
    fields: z.strictObject({}).describe('Empty.'),
    kind: z
      .enum(['rejected', 'failed', 'discarded', 'unreadable', 'left_out'])
      .describe('`left_out`: an undo leaves it as it is.'),
    reason: z.string().describe('Why nothing is sent.'),
    problems: z.array(problemOutput).describe('Every problem: `[{"field","value","message"}]`.'),
    excerpt: z.string().optional().describe('Beginning of an unreadable record.'),
    records: count.optional().describe('How many records an unreadable one stands for.'),
  })
  .describe('One object per posting or record that is not sent:');

/** The line as JSON. */
export function planLineJson(line: PlannedChange | UnsentPosting, write: WriteAction): object {
  if (line.operation === 'none') {
    return z.encode(unsentOutput, { ...line, problems: [...line.problems], reason: tell(line.reason, write) });
  }
  const { reason, ...change } = line;
  return z.encode(plannedOutput, { ...change, ...(reason === undefined ? {} : { reason: tell(reason, write) }) });
}
