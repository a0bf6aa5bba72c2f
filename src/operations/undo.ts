// The undo of a pull: what it would do, and doing it.
import { z } from 'zod';
import { tell } from '../plan/message.ts';
import { commitUndoOf, type PlannedUndo, planUndoOf } from '../runtime/undo-feed-pull.ts';
import { type OperationContext, OperationRefused, operation } from './operation.ts';
import { planLineJson, plannedOutput, unsentOutput } from './plan.ts';
import { answerOf, count, feedNameOutput, idNumber, text, time } from './scalars.ts';

const SHOWN_LINES = 200;

const undoCounts = {
  restored: count.describe('Postings that get back what the site had, once requests in flight have ended.'),
  created_again: count.describe('Of the restored: how many have no job now, and get a new one.'),
  deleted: count.describe('Jobs to delete: the pull created them.'),
  withdrawn: count.describe('Changes that were not sent, and are not any more.'),
  left_out: count.describe('Postings that stay as they are.'),
  creates_wait: z.boolean().describe('Creates wait until somebody has decided about changed keys of the feed.'),
  held: z.string().nullable().describe('Why the deletes wait for approval; `null`: they do not.'),
};

const undoPlanOutput = z
  .strictObject({
    pull: count.describe('The pull to undo.'),
    feed: feedNameOutput,
    started_at: time.describe('When the pull began.'),
    ...undoCounts,
    seen: z.string().describe('Of what the undo would do: send it along to do exactly that.'),
    lines: z
      .array(z.union([plannedOutput, unsentOutput]))
      .describe(`Each change, then each posting that is left out: the first ${SHOWN_LINES}; the command prints all.`),
    more: count.describe('How many lines follow.'),
  })
  .meta({ title: 'UndoPlan' });

export type ShownUndoPlan = z.output<typeof undoPlanOutput>;

const ofPull = { pull: idNumber.describe('Number of the pull.') };

export const showUndo = operation({
  id: 'showUndo',
  path: '/pulls/{pull}/undo',
  summary: 'What undoing a pull would do',
  scope: 'review',
  reads: true,
  input: z.strictObject(ofPull),
  output: undoPlanOutput,
  async run({ pull }, { app }) {
    const lines: ShownUndoPlan['lines'] = [];
    let all = 0;
    const plan = await readUndo(app, pull, (line) => {
      all += 1;
      if (lines.length < SHOWN_LINES) lines.push(planLineJson(line, app.writeAction) as ShownUndoPlan['lines'][number]);
    });
    const { id, feed, startedAt } = plan.pull;
    const { seen } = plan;
    return { pull: id, feed, started_at: startedAt, ...countsOf(plan, app), seen, lines, more: all - lines.length };
  },
});

/** @throws {OperationRefused} if the pull can't be undone */
export async function readUndo(
  app: OperationContext['app'],
  pull: number,
  print: Parameters<typeof planUndoOf>[2],
): Promise<PlannedUndo> {
  const plan = await planUndoOf(app, pull, print);
  if (plan.kind === 'planned') return plan;
  throw new OperationRefused(plan.kind === 'unknown' ? 'unknown' : 'conflict', plan.message);
}

function countsOf({ findings }: Pick<PlannedUndo, 'findings'>, { writeAction }: OperationContext['app']) {
  const { deletes, holdReason } = findings;
  const held = holdReason === undefined ? null : tell(holdReason, writeAction);
  return answerOf(z.strictObject(undoCounts), findings, { deleted: deletes, held });
}

export const undoPulled = operation({
  id: 'undoPull',
  path: '/pulls/{pull}/undo',
  summary: 'Undo a pull: the site gets back what it had, and the feed is not pulled until somebody resumes it',
  scope: 'review',
  input: z.strictObject({
    ...ofPull,
    seen: text(100)
      .min(1, 'must not be empty')
      .describe('Of what was shown: nothing is done if the undo would do anything else.'),
  }),
  output: z
    .strictObject({
      pull: count.describe('The pull that the undo counts as.'),
      undoes: count.describe('The pull that it undoes.'),
      feed: feedNameOutput,
      ...undoCounts,
    })
    .meta({ title: 'UndonePull' }),
  locationOf: ({ pull }) => `/pulls/${pull}`,
  async run({ pull, seen }, { app, actor, control }) {
    const undone = await commitUndoOf(app, pull, { seen }, actor);
    if (undone.kind !== 'undone') {
      throw new OperationRefused(undone.kind === 'unknown' ? 'unknown' : 'conflict', undone.message);
    }
    control.undone(undone);
    const { end, setup } = undone;
    return { pull: end.pull, undoes: pull, feed: setup.feed, ...countsOf(end, app) };
  },
});
