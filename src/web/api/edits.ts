// The API's operations on what people set in a posting.
import { z } from 'zod';
import { postingOf, postingOutput } from '../../operations/postings.ts';
import { fieldsSchema, keyText, NOTHING, nameText, text } from '../../operations/scalars.ts';
import { tell } from '../../plan/message.ts';
import { postingKey } from '../../posting/identifiers.ts';
import { readHere } from '../../review/configured-policy.ts';
import { editedMessage, editPosting } from '../../review/edit-posting.ts';
import { findPosting } from '../../review/find-posting.ts';
import { actedJson } from '../../review/read-model/acted.ts';
import { ProblemError } from '../problem.ts';
import { actedAnswer } from './answers.ts';
import { route } from './http-route.ts';
import { requireFeed, unknownPosting } from './known.ts';

export const setFields = route({
  id: 'editPosting',
  method: 'post',
  path: '/feeds/{feed}/postings/{key}/edit',
  summary:
    'Set fields of a posting, until the source changes them, and send it: also of one that the site has accepted, or that waits to be sent',
  scope: 'review',
  params: z.strictObject({ feed: nameText, key: keyText.describe('Percent-encoded: `A%2F1` for `A/1`.') }),
  query: NOTHING,
  body: z.strictObject({
    fields: fieldsSchema.describe('An empty text removes the field.'),
    version: text(100).optional().describe('The `version` of the posting that was seen: another one is not edited.'),
  }),
  response: actedAnswer,
  async run({ params, body }, { app, control, actor }) {
    const feed = await requireFeed(app, params.feed);
    const key = postingKey(params.key.trim());
    if ((await findPosting(app.db, feed, key)) === undefined) throw unknownPosting(feed, key);
    const { fields, version } = body;
    const report = await editPosting(app.db, app.config, { feed, key }, fields, { actor, version });
    if (report.kind === 'edited') {
      if (report.remaining === undefined) control.wake();
      const { entry, remaining } = report;
      const message = editedMessage(remaining);
      return { body: actedJson('edit', { entry, feed, key, result: 'done', message }, undefined, app.writeAction) };
    }
    if (report.kind === 'invalid') {
      const problems = report.problems.map(({ field, message }) => ({ field: field ?? null, message }));
      const said = report.problems.map(({ message }) => message).join('; ');
      throw new ProblemError({ status: 422, detail: `the site would refuse the posting: ${said}`, more: { problems } });
    }
    const now = await findPosting(app.db, feed, key);
    const current =
      now === undefined ? null : z.encode(postingOutput, postingOf(now, app, await readHere(app.db, app.config)));
    const more = report.stale === true ? { yours: body, version: current?.version ?? null, current } : { current };
    throw new ProblemError({ status: 409, detail: `posting ${key}: ${tell(report.message, app.writeAction)}`, more });
  },
});
