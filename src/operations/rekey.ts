// Changed keys of a feed: which new posting may be which missing one, and what people decide about that.

import { z } from 'zod';
import { CERTAINTIES } from '../plan/match/whose-job.ts';
import { tell } from '../plan/message.ts';
import { decideRekey, rekeyPolicy, type ShownPair, suspectedPairs } from '../review/decide-rekey.ts';
import { PAIR_KINDS } from '../store/change/rekey/compare-rekey.ts';
import { namedFeed, OperationRefused, operation, pageOperation } from './operation.ts';
import { answerOf, count, feedNameOutput, feedNameText, keyText, postingKeyText, text } from './scalars.ts';

const pairOutput = z.strictObject({
  key: z.string().nullable().describe('Of the new posting; `null`: no new posting may be the missing one.'),
  old_key: z.string().nullable().describe('Of the missing posting; `null`: no missing posting may be the new one.'),
  job_id: z.string().nullable(),
  second_job_id: z.string().nullable().describe('That the new posting has already: deleted once the pair is bound.'),
  title: z.string().nullable(),
  verdict: z.enum(CERTAINTIES),
  reasons: z.array(z.string()),
  version: z.string(),
});

const kinds = z.enum(PAIR_KINDS, `must be one of ${PAIR_KINDS.join(', ')}`).optional();

export const showRekey = pageOperation({
  id: 'showRekey',
  path: '/feeds/{feed}/rekey',
  summary: 'If the keys of a feed seem to have changed: which new posting may be which missing one',
  scope: 'read',
  input: z.strictObject({ feed: feedNameText, show: kinds }),
  output: z
    .strictObject({
      feed: feedNameOutput,
      suspected: z.boolean().describe('`false`: the keys do not seem to have changed, and there is nothing to decide.'),
      message: z.string().optional(),
      current: z
        .boolean()
        .optional()
        .describe(
          '`false`: the postings have changed since they were compared, and the database is read-only or busy.',
        ),
      sure: count.optional(),
      unsure: count.optional(),
      new: count.optional().describe('New postings without a pair.'),
      missing: count.optional().describe('Missing postings without a pair.'),
      marks: z
        .strictObject({
          sure: z.string().describe('Of the sure pairs.'),
          all: z.string().describe('Of all postings, with and without a pair.'),
        })
        .optional(),
      items: z.array(pairOutput),
    })
    .meta({ title: 'Rekey' }),
  place: z.strictObject({ rank: z.int().min(0).max(9), length: z.int().min(0).max(1e6), named: keyText }),
  async run({ feed: name, show = 'sure' }, { limit, after }, { app }) {
    const feed = await namedFeed(app, name);
    const pairs = await suspectedPairs(app.db, feed, { show, after, limit });
    if (pairs === undefined) return { shown: { feed, suspected: false, items: [] }, next: undefined };
    const { note, current, counts, marks, items, next } = pairs;
    const message = tell(note, app.writeAction);
    return { shown: { feed, suspected: true, message, current, ...counts, marks, items: items.map(pairJson) }, next };
  },
});

const pairJson = (pair: ShownPair) => answerOf(pairOutput, pair, { job_id: pair.siteJobId ?? null });

const mark = (name: string) =>
  text(100).describe(`The mark \`${name}\` that was shown: with any others, nothing is done.`);

export const decideAboutRekey = operation({
  id: 'decideAboutRekey',
  path: '/feeds/{feed}/rekey',
  summary: 'Keep the jobs of postings whose keys have changed, or say that they are new postings',
  scope: 'review',
  input: z.discriminatedUnion(
    'decision',
    [
      z.strictObject({ feed: feedNameText, decision: z.literal('sure'), mark: mark('sure') }),
      z.strictObject({
        feed: feedNameText,
        decision: z.literal('pair'),
        key: postingKeyText.describe('Of the new posting.'),
        old_key: postingKeyText.describe('Of the missing posting, whose job the new one keeps.'),
        version: text(100).optional().describe('The `version` of the pair that was shown: another one is not bound.'),
      }),
      z.strictObject({ feed: feedNameText, decision: z.literal('not_rekey'), mark: mark('all') }),
    ],
    'must be sure, pair or not_rekey',
  ),
  output: z
    .strictObject({
      feed: feedNameOutput,
      not_rekey: z.boolean(),
      bound: count.optional().describe('How many new postings keep the job of a missing one.'),
      refused: z.array(z.strictObject({ key: z.string(), old_key: z.string(), message: z.string() })).optional(),
      left: count.optional().describe('Sure pairs that were too many for one request: repeat it with their new mark.'),
      creates: count.optional(),
      deletes: count.optional(),
      held: count.optional().describe('Deletes that wait for approval nevertheless.'),
    })
    .meta({ title: 'Rekeyed' }),
  async run({ feed: name, ...decision }, { app, actor, control }) {
    const feed = await namedFeed(app, name);
    const end = await decideRekey(app.db, { feed, actor, policy: rekeyPolicy(app.config, feed) }, decision);
    if (end.kind === 'refused') throw new OperationRefused('conflict', end.message);
    control.wake();
    if (end.kind === 'denied') {
      const { creates, deletes, held } = end;
      return { feed, not_rekey: true, creates, deletes, held };
    }
    const refused = end.refused.map(({ key = '', oldKey = '', message = '' }) => ({ key, old_key: oldKey, message }));
    return { feed, not_rekey: false, bound: end.bound, refused, left: end.left };
  },
});
