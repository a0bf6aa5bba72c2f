// The API's operations on a feed whose keys seem to have changed.
import { z } from 'zod';
import { cursorSchema, keyText, limitSchema, nameText, text } from '../../operations/scalars.ts';
import { tell } from '../../plan/message.ts';
import { decideRekey, type RekeyDecision } from '../../review/rekey/decide-rekey.ts';
import { rekeyPolicy } from '../../review/rekey/rekey-policy.ts';
import { type ShownPair, suspectedPairs } from '../../review/rekey/suspected-pairs.ts';
import { ProblemError } from '../problem.ts';
import { rekeyAnswer, rekeyedAnswer } from './answers.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { route } from './http-route.ts';
import { requireFeed } from './known.ts';
import { linePlaceSchema, oldAndNewKey, pairKindSchema } from './rekey-values.ts';

const ofFeed = z.strictObject({ feed: nameText });
const SHOWN = 50;

export const showRekey = route({
  id: 'showRekey',
  method: 'get',
  path: '/feeds/{feed}/rekey',
  summary: 'If the keys of a feed seem to have changed: which new posting may be which missing one',
  scope: 'read',
  params: ofFeed,
  query: z.strictObject({ show: pairKindSchema, cursor: cursorSchema, limit: limitSchema }),
  response: rekeyAnswer,
  async run({ params, query }, { app }) {
    const feed = await requireFeed(app, params.feed);
    const after = decodeCursor(query.cursor, linePlaceSchema);
    const page = { show: query.show ?? 'sure', after, limit: query.limit ?? SHOWN } as const;
    const pairs = await suspectedPairs(app.db, feed, page);
    if (pairs === undefined) return { body: { feed, suspected: false, items: [], next_cursor: null } };
    const { note, current, counts, marks, items, next } = pairs;
    return {
      body: {
        feed,
        suspected: true,
        message: tell(note, app.writeAction),
        current,
        ...counts,
        marks,
        items: items.map(pairJson),
        next_cursor: encodeCursor(next),
      },
    };
  },
});

const pairJson = ({ key, oldKey, siteJobId, secondJobId, title, verdict, reasons, version }: ShownPair) => ({
  key: key ?? null,
  old_key: oldKey ?? null,
  job_id: siteJobId ?? null,
  second_job_id: secondJobId ?? null,
  title: title ?? null,
  verdict,
  reasons,
  version,
});

const mark = (name: string) =>
  text(100).describe(`The mark \`${name}\` that was shown: with any others, nothing is done.`);
const decisionSchema = z.discriminatedUnion('decision', [
  z.strictObject({ decision: z.literal('sure'), mark: mark('sure') }),
  z.strictObject({
    decision: z.literal('pair'),
    key: keyText.describe('Of the new posting.'),
    old_key: keyText.describe('Of the missing posting, whose job the new one keeps.'),
    version: text(100).optional().describe('The `version` of the pair that was shown: another one is not bound.'),
  }),
  z.strictObject({ decision: z.literal('not_rekey'), mark: mark('all') }),
]);

export const decideAboutRekey = route({
  id: 'decideAboutRekey',
  method: 'post',
  path: '/feeds/{feed}/rekey',
  summary: 'Keep the jobs of postings whose keys have changed, or say that they are new postings',
  scope: 'review',
  params: ofFeed,
  query: z.strictObject({}),
  body: decisionSchema,
  response: rekeyedAnswer,
  async run({ params, body }, { app, control, actor }) {
    const feed = await requireFeed(app, params.feed);
    const end = await decideRekey(app.db, { feed, actor, policy: rekeyPolicy(app.config, feed) }, decisionOf(body));
    if (end.kind === 'refused') throw new ProblemError({ status: 409, detail: end.message });
    control.wake();
    const { kind: _, ...counts } = end;
    if (end.kind === 'denied') return { body: { feed, not_rekey: true, ...counts } };
    const refused = end.refused.map(({ key, oldKey, message }) => ({ key, old_key: oldKey, message }));
    return { body: { feed, not_rekey: false, bound: end.bound, refused, left: end.left } };
  },
});

function decisionOf(body: z.output<typeof decisionSchema>): RekeyDecision {
  switch (body.decision) {
    case 'sure':
      return { kind: 'sure', mark: body.mark };
    case 'pair': {
      const keys = oldAndNewKey.parse({ key: body.key, old_key: body.old_key });
      return { kind: 'pair', ...keys, version: body.version };
    }
    case 'not_rekey':
      return { kind: 'not_rekey', mark: body.mark };
    default:
      return body satisfies never;
  }
}
