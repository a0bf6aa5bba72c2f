// What people do to single postings.
import { z } from 'zod';
import { createOnlyOf } from '../plan/create-only-fields.ts';
import { postingKey } from '../posting/identifiers.ts';
import { findPosting } from '../review/find-posting.ts';
import { editsVersion, undoEdits } from '../review/undo-edit.ts';
import { auditAction } from '../store/access/audit.ts';
import { editsOfPosting } from '../store/change/override.ts';
import { renewOfFeed } from './feeds.ts';
import { namedFeed, OperationRefused, operation } from './operation.ts';
import { count, feedNameOutput, feedNameText, fieldName, keyOutput, keyText, text } from './scalars.ts';

export const undoEdit = operation({
  id: 'undoEdit',
  path: '/feeds/{feed}/postings/{key}/undo-edit',
  summary: 'Undo what a person has set in a posting: the next pull brings back what the source has',
  scope: 'review',
  input: z.strictObject({
    feed: feedNameText,
    key: keyText.describe('Percent-encoded: `A%2F1` for `A/1`.'),
    fields: z.array(fieldName).min(1).max(1_000).optional().describe('Only these; all that were edited by default.'),
    version: text(100).optional().describe('The `edits_version` of the posting that was seen.'),
  }),
  output: z
    .strictObject({
      feed: z.string(),
      key: z.string(),
      undone: z.array(z.string()).describe('The fields.'),
      message: z.string().describe('What follows.'),
    })
    .meta({ title: 'UndoneEdit' }),
  async run({ feed: name, key: written, fields, version }, { app: { db, config }, actor }) {
    const feed = await namedFeed({ db, config }, name);
    const key = postingKey(written.trim());
    // An edit outlives its posting, and applies again when that comes back.
    const isKnown =
      (await findPosting(db, feed, key)) !== undefined || (await editsOfPosting(db, feed, key)).length > 0;
    if (!isKnown) {
      throw new OperationRefused('unknown', `no posting ${key} is recorded for feed ${feed}; keys must match exactly`);
    }
    const { mapping = {}, policy } = config.feeds.get(feed) ?? {};
    const report = await undoEdits(db, feed, key, {
      actor,
      fields,
      version,
      createOnly: createOnlyOf(mapping),
      policy,
    });
    if (report.kind === 'undone') return { feed, key, undone: [...report.fields], message: report.message };
    const edits = await editsOfPosting(db, feed, key);
    const now = report.stale === true ? { yours: { fields, version }, edits, edits_version: editsVersion(edits) } : {};
    throw new OperationRefused('conflict', report.message, now, { subject: `posting ${key}` });
  },
});

export const renewPosting = operation({
  id: 'renewPosting',
  path: '/feeds/{feed}/postings/{key}/renew',
  summary:
    'Start the days of a posting on the site anew (expire_after_days); if it has expired, the next pull creates its job again',
  scope: 'review',
  input: z.strictObject({ feed: feedNameText, key: keyText.describe('Percent-encoded: `A%2F1` for `A/1`.') }),
  output: z.strictObject({ feed: z.string(), key: z.string(), message: z.string() }).meta({ title: 'Renewed' }),
  async run({ feed: name, key: written }, context) {
    const { feed } = await renewOfFeed.run({ feed: name, keys: [written] }, context);
    const key = postingKey(written.trim());
    return { feed, key, message: `the days of posting ${key} begin anew` };
  },
});

export const syncPosting = operation({
  id: 'syncPosting',
  path: '/feeds/{feed}/postings/{key}/sync',
  summary: 'Bring one posting up to date: pulls its feed, which is read as a whole, and sends what differs',
  scope: 'pull',
  input: z.strictObject({
    feed: feedNameText,
    key: keyText.describe('Percent-encoded; also one that is new.'),
  }),
  output: z
    .strictObject({
      feed: feedNameOutput,
      key: keyOutput,
      pull: count.nullable().describe('`null`: another pull runs, and one more follows it.'),
    })
    .meta({ title: 'Synced' }),
  locationOf: ({ feed, key }) => `/feeds/${feed}/postings/${encodeURIComponent(key)}`,
  async run({ feed: name, key: written }, { app, actor, control }) {
    const feed = await namedFeed(app, name);
    const key = postingKey(written.trim());
    const start = await control.pullSoon(feed);
    if (start.kind === 'unusable') throw new OperationRefused('conflict', start.message);
    const pull = start.kind === 'started' ? start.pull : null;
    await auditAction(app.db, { actor, action: 'sync', feed, key, detail: { pull } });
    return { feed, key, pull };
  },
});
